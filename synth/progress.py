"""How far long work is: said to whoever listens, who may end it by raising.

Generators call `tell` between pieces of work, each much shorter than the whole.  Who runs
them listens with `listened`; nobody has to.  A listener that raises ends the work: nothing
of it is kept, and the exception reaches whoever asked for the work.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

T = TypeVar("T")

TOLD_EVERY = 0.2
"""Seconds between two words on a piece of work that says nothing itself."""

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
def as_one(stage: str, done: int, total: int) -> Iterator[None]:
    """Say this instead of whatever the work in this block says of its own stages.

    >>> heard = []
    >>> with listened(lambda *words: heard.append(words)), as_one("other orders", 1, 3):
    ...     tell("packing trees", 2, 8)
    >>> heard
    [('other orders', 1, 3)]
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    with listened(lambda *_: listener(stage, done, total)):
        yield


def attended(stage: str, call: Callable[[], T]) -> T:
    """Return what a call gives that may take long outside of Python, and say so meanwhile.

    It runs in a thread of its own and should release the lock of the interpreter: so whoever
    listens, or interrupts the program, is heard at once.  What then is left of it comes to
    nothing.

    >>> attended("adding", lambda: 1 + 1)
    2
    """
    given: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            given.append(call())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name=stage, daemon=True)
    thread.start()
    tell(stage, 0, 1)
    while thread.is_alive():
        thread.join(TOLD_EVERY)
        tell(stage, 0, 1)
    if raised:
        raise raised[0]
    return given[0]
