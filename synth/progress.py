"""Progress of long computations, reported to a listener that can cancel by raising.

Generators call `report_progress` between short pieces of work.  The caller may install a listener
with `progress_listener`.  An exception in the listener cancels the computation and reaches its
caller; partial results are discarded.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

T = TypeVar("T")

REPORT_SECONDS = 0.2
"""Seconds between two reports on a computation without reports of its own."""

Listener: TypeAlias = Callable[[str, int, int], object]
"""Takes the name of the stage, the pieces done, and the number of pieces."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_progress(stage: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` pieces of a stage are done."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Report all progress within this block, in this thread, to ``listener``.

    >>> reports = []
    >>> with progress_listener(lambda *report: reports.append(report)):
    ...     report_progress("packing trees", 1, 8)
    >>> report_progress("packing trees", 2, 8)
    >>> reports
    [('packing trees', 1, 8)]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def single_stage(stage: str, done: int, total: int) -> Iterator[None]:
    """Report this instead of the stages of the computation in this block.

    >>> reports = []
    >>> with progress_listener(lambda *report: reports.append(report)):
    ...     with single_stage("other orders", 1, 3):
    ...         report_progress("packing trees", 2, 8)
    >>> reports
    [('other orders', 1, 3)]
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    with progress_listener(lambda *_: listener(stage, done, total)):
        yield


def run_in_thread(stage: str, call: Callable[[], T]) -> T:
    """Return the result of a long call outside of Python, and report progress meanwhile.

    The call runs in its own thread and should release the global interpreter lock, so that
    listeners and interrupts take effect at once.  The result of a canceled call is discarded.

    >>> run_in_thread("adding", lambda: 1 + 1)
    2
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name=stage, daemon=True)
    thread.start()
    report_progress(stage, 0, 1)
    while thread.is_alive():
        thread.join(REPORT_SECONDS)
        report_progress(stage, 0, 1)
    if errors:
        raise errors[0]
    return results[0]
