"""Detect the dialect of MSCCL XML that a file is written in.

The dialects differ in the name of a reduce-scatter, in required members, and in the limits of
their runtimes.  Every dialect reads the file; the first that accepts it counts.  A note names
dialects that reject the file, and a detected dialect that differs from the requested one.
"""

from dataclasses import dataclass
from functools import lru_cache

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.program import Dialect
from topoloom.schedules.formats.msccl.read import parse


@dataclass(frozen=True, slots=True)
class Reading:
    """The verdict of a dialect on a file: None, or the first rule that the file breaks."""

    dialect: str
    problem: str | None


@lru_cache(maxsize=1)
def readings_of(text: str) -> tuple[Reading, ...]:
    """Return the verdict of each dialect on a file, accepting dialects first.

    >>> from topoloom.schedules.formats.msccl.program import Block, Gpu, Program
    >>> from topoloom.schedules.formats.msccl.write import text as written
    >>> from topoloom.schedules.model.schedule import Collective
    >>> gpus = (Gpu({"i": 2, "o": 1, "s": 0}, ()),) * 2
    >>> half = Program("half", "LL", Collective.REDUCE_SCATTER, (False,), 1, 2, gpus)
    >>> [(one.dialect, one.problem) for one in readings_of(written(half, "azure"))]
    ... # doctest: +ELLIPSIS
    [('azure', None), ('rccl', None), ('msccl', '/algo/coll: must be one of ...')]
    """
    found = [Reading(dialect.value, _problem(text, dialect)) for dialect in Dialect]
    return tuple(sorted(found, key=lambda reading: reading.problem is not None))


def dialect_note(text: str, asked: str | None = None, option: str = "dialect") -> str | None:
    """Return a sentence if the dialects disagree on a file; None if all agree.

    ``asked`` is the requested dialect, if any, and ``option`` the option's name for users.
    """
    readings = readings_of(text)
    taken = [one.dialect for one in readings if one.problem is None]
    if asked is not None:
        wrong = bool(taken) and asked not in taken
        return f"{option} {' or '.join(taken)} takes the file, not {asked}" if wrong else None
    first, *others = taken or [readings[0].dialect]
    refusal = next((one for one in readings if one.problem is not None), None)
    if refusal is None:
        return None
    if not taken:
        names = ", ".join(one.dialect for one in readings)
        return f"no dialect takes the file, which is read as {first}; {option} is one of {names}"
    also = f", as {' and '.join(others)} would" if others else ""
    return f"read as {option} {first}{also}; {refusal.dialect} refuses it: {refusal.problem}"


def _problem(text: str, dialect: Dialect) -> str | None:
    try:
        parse(text, dialect.value)
    except InvalidProgram as error:
        return str(error)
    return None
