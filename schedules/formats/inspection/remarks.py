"""Remarks on a program beside its verdict: its dialect, and elements that no runtime reads."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.inspection.dialects import dialect_note
from topoloom.schedules.formats.msccl.read import ignored_parts as ignored_by_msccl
from topoloom.schedules.formats.mscclpp.read import ignored_members as ignored_by_mscclpp
from topoloom.schedules.formats.targets.runtimes import MSCCL_XML, MSCCLPP_JSON

_IGNORED: Mapping[str, Callable[[str], Counter[str]]] = MappingProxyType(
    {MSCCL_XML: ignored_by_msccl, MSCCLPP_JSON: ignored_by_mscclpp}
)
MAX_NAMED = 8
"""Names of ignored elements in one sentence."""


def remarks(
    form: str, files: Sequence[bytes], asked: str | None = None, option: str = "dialect"
) -> list[str]:
    """Return remarks on the file of a program; no remark makes the program invalid.

    Args:
        asked: The requested dialect of MSCCL XML, or the runtime's dialect.
        option: The name of the dialect option for users.

    >>> remarks("mscclpp-json", [b'{"name": "a", "author": "b"}'])
    ['the run-times skip, and so does Topoloom: member author']
    >>> remarks("chakra-et", [b"", b""])
    []
    """
    if form not in _IGNORED:
        return []
    try:
        text = b"".join(files).decode()
        found = _IGNORED[form](text)
    except (InvalidProgram, ValueError, RecursionError):
        # The reader reports the error.
        return []
    notes = []
    if form == MSCCL_XML and (note := dialect_note(text, asked, option)):
        notes.append(note)
    if found:
        told = [name if count == 1 else f"{name} ({count})" for name, count in found.items()]
        more = ["..."] if len(told) > MAX_NAMED else []
        notes.append(
            f"the run-times skip, and so does Topoloom: {', '.join(told[:MAX_NAMED] + more)}"
        )
    return notes
