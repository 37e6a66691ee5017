"""Fair queue (Nagle, RFC 970): callbacks of many addresses, a few in each loop iteration."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable

BATCH = 2
"""Callbacks in an iteration of the event loop, half a millisecond of first requests.

The loop accepts connections once in an iteration, and serves open connections once."""


class FairQueue:
    """Callbacks by address; the addresses take turns.

    A flood from some addresses delays neither the requests of open connections, which the event
    loop serves between two batches, nor the callbacks of other addresses.

    >>> async def served():
    ...     queue, order = FairQueue(), []
    ...     for number in range(20):
    ...         queue.add("flood", lambda: order.append("flood"))
    ...     queue.add("other", lambda: order.append("other"))
    ...     await asyncio.sleep(0.1)
    ...     return order.index("other"), len(order)
    >>> asyncio.run(served())
    (1, 21)
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()

    def add(self, address: str, callback: Callable[[], None]) -> None:
        """Add a callback, to be called in an iteration of the running event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._serve)
        self._waiting.setdefault(address, deque()).append(callback)

    def _serve(self) -> None:
        for _ in range(BATCH):
            if not self._waiting:
                return
            address, callbacks = self._waiting.popitem(last=False)
            callback = callbacks.popleft()
            if callbacks:
                self._waiting[address] = callbacks
            callback()
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._serve)
