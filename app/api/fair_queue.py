"""Fair queue (Nagle, RFC 970): callbacks of many addresses, a few in each loop iteration."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf

BATCH = 2
"""Callbacks in an iteration of the event loop, half a millisecond of first requests.

The loop accepts connections once in an iteration, and serves open connections once."""


RECENT = 0.1
"""Seconds in which a turn counts: an address that had one before waits less."""

MOST = 4096
"""Most addresses whose last turn is remembered."""


class FairQueue:
    """Callbacks by address; the address whose last turn is the longest ago is next.

    A flood from some addresses delays neither the requests of open connections, which the event
    loop serves between two batches, nor the callbacks of other addresses.  Turns before `RECENT`
    are alike: no address waits longer because others are new.

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

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._turns: list[tuple[float, int, str]] = []
        self._number = count()
        self._last: OrderedDict[str, float] = OrderedDict()

    def add(self, address: str, callback: Callable[[], None]) -> None:
        """Add a callback, to be called in an iteration of the running event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._serve)
        if address not in self._waiting:
            self._waiting[address] = deque()
            self._line_up(address)
        self._waiting[address].append(callback)

    def _line_up(self, address: str) -> None:
        last = max(self._last.get(address, -inf), self._clock() - RECENT)
        heappush(self._turns, (last, next(self._number), address))

    def _serve(self) -> None:
        for _ in range(BATCH):
            if not self._waiting:
                return
            address = heappop(self._turns)[2]
            self._last[address] = self._clock()
            self._last.move_to_end(address)
            if len(self._last) > MOST:
                self._last.popitem(last=False)
            callback = self._waiting[address].popleft()
            if self._waiting[address]:
                self._line_up(address)
            else:
                del self._waiting[address]
            callback()
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._serve)
