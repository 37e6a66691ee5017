"""Token buckets: a limit on bursts and on requests per second.

A bucket is the time at which it is full again (the generic cell rate algorithm of ATM, ITU-T
I.371, annex A): one integer, in nanoseconds.  So nothing is rounded, and no timer fills buckets.
The package ``limits`` counts in windows and has no token bucket.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of taking a token: the seconds to ``wait``, 0 if a token was taken.

    ``left`` tokens remain; the bucket is full again in ``full`` seconds.
    """

    wait: int
    left: int
    full: int


class Buckets:
    """Buckets by name, all of the same size and rate.

    Args:
        per_second: Tokens that a bucket gains each second; at least one a day.
        burst: Tokens that a bucket holds; a new bucket is full.
        most: Most buckets in memory.  A forgotten bucket counts as full.  Beyond the limit the
            least recently used bucket is forgotten, to the advantage of its owner.
        clock: Returns monotonic nanoseconds.

    >>> now = 0
    >>> buckets = Buckets(per_second=2, burst=2, clock=lambda: now)
    >>> [buckets.take("ann").left for _ in range(2)]
    [1, 0]
    >>> buckets.take("ann")
    Taken(wait=1, left=0, full=1)
    >>> buckets.look("ann").wait, buckets.look("bob").wait
    (1, 0)
    >>> buckets.take("bob").wait
    0
    >>> now = 500_000_000
    >>> buckets.take("ann").wait
    0
    """

    def __init__(
        self,
        per_second: float,
        burst: int,
        most: int = 10_000,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        if not (per_second > 0 and burst > 0 and most > 0):
            raise ValueError("per_second, burst, most: must be positive")
        self.per_second, self.burst = per_second, burst
        self._gain = max(1, round(_SECOND / per_second))
        self._most, self._clock = most, clock
        self._full_at: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of buckets in memory."""
        return len(self._full_at)

    def take(self, name: str) -> Taken:
        """Take a token from a bucket, unless the bucket is empty.  O(1); not thread-safe."""
        taken, full_at = self._taken(name)
        if not taken.wait:
            self._full_at[name] = full_at
            self._full_at.move_to_end(name)
            if len(self._full_at) > self._most:
                self._full_at.popitem(last=False)
        return taken

    def look(self, name: str) -> Taken:
        """Return what `take` would return now, and take nothing."""
        return self._taken(name)[0]

    def _taken(self, name: str) -> tuple[Taken, int]:
        """Return the result of taking a token, and when the bucket is full again after that."""
        now = self._clock()
        full_at = max(self._full_at.get(name, 0), now) + self._gain
        excess = full_at - now - self.burst * self._gain
        if excess > 0:
            return Taken(_seconds(excess), 0, _seconds(full_at - self._gain - now)), full_at
        return Taken(0, -excess // self._gain, _seconds(full_at - now)), full_at

    def is_full(self, name: str) -> bool:
        """Return whether no token was taken from a bucket, or all are back.

        >>> buckets = Buckets(per_second=1, burst=2, clock=lambda: 0)
        >>> buckets.is_full("ann"), buckets.take("ann").wait, buckets.is_full("ann")
        (True, 0, False)
        """
        return self._full_at.get(name, 0) <= self._clock()

    def headers(self, taken: Taken) -> Mapping[str, str]:
        """Return the headers of an answer (draft-ietf-httpapi-ratelimit-headers-10).

        >>> buckets = Buckets(per_second=2, burst=4, clock=lambda: 0)
        >>> for name, value in buckets.headers(buckets.take("ann")).items():
        ...     print(name, value)
        RateLimit-Policy "requests";q=4;w=2
        RateLimit "requests";r=3;t=1
        """
        return {
            "RateLimit-Policy": self._policy(),
            "RateLimit": f'"requests";r={taken.left};t={taken.full}',
        }

    def _policy(self) -> str:
        """Return the quota, and the seconds in which an empty bucket fills."""
        return f'"requests";q={self.burst};w={_seconds(self.burst * self._gain)}'


def _seconds(nanoseconds: int) -> int:
    """Return whole seconds, rounded up: a client never comes back too early."""
    return -(-nanoseconds // _SECOND)
