"""Fair queue of callbacks of many addresses, a few in each iteration of the event loop.

Addresses take turns (Nagle, RFC 970).  New addresses and those with a backlog have a line each
(RFC 8290, section 4.2), and the lines take turns: a new address does not wait for all floods.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable

BATCH = 2
"""Callbacks in an iteration of the event loop, half a millisecond of first requests.

The loop accepts connections once in an iteration, and serves open connections once."""


class FairQueue:
    """Callbacks by address; the addresses take turns.

    A flood from some addresses delays neither the requests of open connections, which the event
    loop serves between two batches, nor the callbacks of other addresses.  A callback that fails
    delays no other.

    >>> async def served():
    ...     queue, order = FairQueue(), []
    ...     for number in range(20):
    ...         queue.add("flood", lambda: order.append("flood"))
    ...     queue.add("other", lambda: order.append("other"))
    ...     await asyncio.sleep(0.1)
    ...     return order.index("other"), len(order)
    >>> asyncio.run(served())
    (2, 21)
    """

    def __init__(self) -> None:
        # An address that was served stays in the backlog for a round, perhaps without callbacks.
        self._new: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._backlog: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()

    def add(self, address: str, callback: Callable[[], None]) -> None:
        """Add a callback, to be called in an iteration of the running event loop."""
        if not self._new and not self._backlog:
            asyncio.get_running_loop().call_soon(self._serve)
        waiting = self._backlog if address in self._backlog else self._new
        waiting.setdefault(address, deque()).append(callback)

    def _serve(self) -> None:
        try:
            for number in range(BATCH):
                lines = (self._new, self._backlog)
                if (callback := self._next(lines[number % 2], lines[1 - number % 2])) is not None:
                    callback()
        finally:
            if self._new or self._backlog:
                asyncio.get_running_loop().call_soon(self._serve)

    def _next(
        self, *lines: OrderedDict[str, deque[Callable[[], None]]]
    ) -> Callable[[], None] | None:
        """Return the next callback of the first line that has one."""
        for line in lines:
            while line:
                address, callbacks = line.popitem(last=False)
                if callbacks:
                    self._backlog[address] = callbacks
                    return callbacks.popleft()
        return None
