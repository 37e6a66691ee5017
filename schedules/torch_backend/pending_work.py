"""Asynchronous calls of a process group: a queue that one thread works off, and its works."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
distributed: Any = import_module("torch.distributed")


class PendingWork(distributed.Work):
    """A collective under way; ``result`` are the tensors that it fills."""

    def __init__(self, result: Sequence[Any]) -> None:
        super().__init__()
        self._result, self._error = list(result), None
        self._done, self._future = threading.Event(), torch.futures.Future()

    def finish(self, error: BaseException | None = None) -> None:
        """Mark the collective as complete, or as failed by an error."""
        self._error = error
        self._done.set()
        if error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(error)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Wait for the end, at most ``timeout`` (zero: without limit); raise the error, if any."""
        seconds = timeout.total_seconds() or None
        if not self._done.wait(seconds):
            raise RuntimeError(f"Operation timed out! It did not end within {seconds:g} s")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """Wait for the end."""
        self.wait()

    def is_completed(self) -> bool:
        """Return whether the collective has ended."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Return whether the collective has ended without an error."""
        return self._done.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error of the collective, if any."""
        return self._error

    def result(self) -> list[Any]:
        """Return the tensors that the collective fills."""
        return self._result

    def get_future(self) -> Any:
        """Return a `torch.futures.Future` of the tensors."""
        return self._future


class CallQueue:
    """Runs calls in the order of their arrival, in one thread.

    A synchronous call runs in the thread of its caller if no other call is pending.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="topoloom-collectives")
        self._last: PendingWork | None = None

    def run(
        self, call: Callable[[], None], result: Sequence[Any], *, in_background: bool
    ) -> PendingWork:
        """Run a call; return its work, which is complete unless the call runs in background."""
        work, last = PendingWork(result), self._last
        if in_background or (last is not None and not last.is_completed()):
            self._last = work
            self._pool.submit(_complete, work, call)
        else:
            _complete(work, call)
        return work

    def close(self) -> None:
        """Wait for all calls; take no more."""
        self._pool.shutdown()


def _complete(work: PendingWork, call: Callable[[], None]) -> None:
    try:
        # The memory of a plan serves tensors of inference and of training alike.
        with torch.inference_mode():
            call()
    except Exception as error:
        work.finish(error)
    else:
        work.finish()
