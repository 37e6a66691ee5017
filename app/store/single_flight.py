"""One computation for all who ask the same at the same time; the others wait for it."""

from collections.abc import Callable
from threading import Event, Lock
from typing import Generic, TypeVar

__all__ = ["Flights"]

T = TypeVar("T")


class _Flight(Generic[T]):
    """A computation under way; ``results`` or ``error`` once it has landed."""

    def __init__(self) -> None:
        self.landed = Event()
        self.results: list[T] = []
        self.error: Exception | None = None


class Flights(Generic[T]):
    """The computations of one process that are under way, by what they compute.

    Whoever waits must not be waited for: what an answer is computed from never asks for
    that answer again, since ids are digests.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}
        self._lock = Lock()

    def share(self, identity: str, work: Callable[[], T]) -> tuple[T, bool]:
        """Return the result of ``work``, and whether it was run by this very call.

        Another call for the same waits for the first, and gets its result or its error.  If
        the first is ended from outside (Ctrl-C), one of the others does the work.

        >>> Flights().share("a", lambda: 7)
        (7, True)
        """
        while True:
            with self._lock:
                flight = self._flights.get(identity)
                leads = flight is None
                if flight is None:
                    flight = self._flights[identity] = _Flight()
            if leads:
                return self._lead(identity, flight, work), True
            flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            if flight.results:
                return flight.results[0], False

    def _lead(self, identity: str, flight: _Flight[T], work: Callable[[], T]) -> T:
        try:
            result = work()
            flight.results.append(result)
            return result
        except Exception as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                del self._flights[identity]
            flight.landed.set()
