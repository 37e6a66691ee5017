"""How far long work is: said to whoever listens, who may end it by raising.

Generators call `tell` between pieces of work, each much shorter than the whole.  Who runs
them listens with `listened`; nobody has to.  A listener that raises ends the work: nothing
of it is kept, and the exception reaches whoever asked for the work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Listener", "listened", "tell"]

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
