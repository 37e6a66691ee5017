"""Kinds of files that are recognized but not read as a topology: a row of a table for each.

The tables are `foreign_kinds.tsv` and `loose_kinds.tsv`.  ``JSON:a|b`` in the column of signs is a
JSON text with one of these keys.  The last column is a name of `_INSTEAD`, or a text of its own.
"""

from pathlib import Path

from topoloom.synth.formats.unsupported import Foreign

_INSTEAD = {
    "DUMP": "set NCCL_TOPO_DUMP_FILE=FILE for one run and give that file",
    "NVIDIA": "give the output of nvidia-smi topo -m",
    "AMD": "give the output of rocm-smi --showtopo --shownodesbw, or of amd-smi topology",
    "MACHINE": "give the output of nvidia-smi topo -m or the file of NCCL_TOPO_DUMP_FILE",
    "LINKS": "give an edge list, a line 'source target capacity' for each link",
    "NETWORKX": "write GraphML or node-link JSON, for example with networkx",
    "VERIFY": "check it by topoloom verify FILE --topology TOPOLOGY",
    "SCHEDULE": "write MSCCL XML or MSCCL++ JSON from it and check that by topoloom verify",
    "PLANT": "give it as the plant: topoloom patch TOPOLOGY --plant FILE",
}


def _kinds(name: str) -> tuple[Foreign, ...]:
    """Return the rows of a table, in order."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return tuple(_kind(*line.split("\t")) for line in lines if not line.startswith("#"))


def _kind(name: str, sign: str, what: str, instead: str) -> Foreign:
    if sign.startswith("JSON:"):
        sign = rf'(?s)\A[{{\[].*?"(?:{sign.removeprefix("JSON:")})"\s*:'
    return Foreign(name, sign, what, _INSTEAD.get(instead, instead))


FOREIGN = _kinds("foreign_kinds.tsv")
"""Kinds of files with a sign of their own; the first that matches counts."""

LOOSE = _kinds("loose_kinds.tsv")
"""Kinds of files that are detected only where no other kind fits."""

BINARY = next(kind.what for kind in FOREIGN if kind.name == "binary")
"""Description of a file that is no text."""
