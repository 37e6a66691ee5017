"""How far long work is: said to whoever listens, who may end it by raising.

Generators call `tell` between pieces of work, each much shorter than the whole.  Who runs
them listens with `listened`; nobody has to.  A listener that raises ends the work: nothing
of it is kept, and the exception reaches whoever asked for the work.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from schedules.errors import TookTooLong

__all__ = ["Listener", "at_most", "listened", "tell"]

Listener: TypeAlias = Callable[[str, int, int], object]
"""Takes what is being done, how many pieces of it are done, and how many there are."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(stage: str, done: int, total: int) -> None:
    """Say that ``done`` of ``total`` pieces of a stage are done; nothing if nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


@contextmanager
def listened(listener: Listener) -> Iterator[None]:
    """Let ``listener`` hear of all work in this block, in this thread.

    >>> heard = []
    >>> with listened(lambda *words: heard.append(words)):
    ...     tell("packing trees", 1, 8)
    >>> tell("packing trees", 2, 8)
    >>> heard
    [('packing trees', 1, 8)]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the work in this block at the first word of it after so many seconds.

    Raises
    ------
    TookTooLong
        By the work that was ended.

    Examples
    --------
    >>> with at_most(0):
    ...     tell("packing trees", 1, 8)
    Traceback (most recent call last):
    ...
    schedules.errors.TookTooLong: : must be done within 0 seconds; was packing trees, 1 of 8 done
    """
    end = time.monotonic() + seconds

    def listener(stage: str, done: int, total: int) -> None:
        if time.monotonic() >= end:
            rule = f"must be done within {seconds:g} seconds; was {stage}, {done} of {total} done"
            raise TookTooLong("", rule)

    with listened(listener):
        yield
