"""Questions that were answered before, looked up before what computes answers is loaded.

An id is the digest of the question, so a question need only be put into its canonical form.
Nothing is decided here: what is not found, or not told from its text alone, goes to the
service functions, which look again.
"""

from typing import TYPE_CHECKING, Any

from topoloom.app.config import Settings
from topoloom.app.store.artifacts import Artefact, key
from topoloom.app.store.embedded_reader import Embedded, opened

if TYPE_CHECKING:
    from topoloom.app.cli.shared_options import Reading

__all__ = ["about_topology", "answer"]


def answer(kind: str, asked: dict[str, Any]) -> Artefact | None:
    """Return the stored answer to a question, None if the services are to be asked."""
    with opened(Settings().database_url) as stored:
        return None if stored is None else stored.get(kind, key(kind, asked))


def about_topology(
    kind: str, source: str, reading: "Reading", asked: dict[str, Any] | None = None
) -> Artefact | None:
    """Return what is stored about a topology that a canonical recipe, a fabric or an id names."""
    from topoloom.app.cli.common import is_file
    from topoloom.app.cli.shared_options import Reading

    # Whatever is a file is read anew: it may have changed.
    if reading != Reading() or is_file(source):
        return None
    with opened(Settings().database_url) as stored:
        if stored is None:
            return None
        topology = _topology(stored, source)
        # The services say what was assumed.
        if topology is None or "assumed" in topology.summary:
            return None
        if kind == "topology":
            return topology
        return stored.get(kind, key(kind, {"topology_id": topology.id} | (asked or {})))


def _topology(stored: Embedded, source: str) -> Artefact | None:
    # Topologies are stored under the canonical text of their recipe only.
    asked = {"recipe" if "(" in source else "fabric": source}
    return stored.get("topology", key("topology", asked)) or stored.get("topology", source)
