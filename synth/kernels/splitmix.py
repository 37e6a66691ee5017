"""Random numbers that are the same on every machine and in every library version.

SplitMix64 in kernels.  The state is an array of one unsigned integer, one for each search.
"""

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _33 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(33)


def seeded(*seeds: int) -> NDArray[np.uint64]:
    """Return the state for some non-negative integers; every list gives a different state.

    >>> int(draw(seeded(0)))
    16294208416658607535
    >>> int(draw(seeded(3, 1))) == int(draw(seeded(1, 3)))
    False
    """
    state = np.zeros(1, np.uint64)
    for index, seed in enumerate(seeds):
        state[0] ^= np.uint64(seed) if index == 0 else np.uint64(draw(state)) ^ np.uint64(seed)
    return state


@register_jitable
def mixed(z: Any) -> Any:
    """Return the SplitMix64 finalizer of a word (in kernels) or of an array of words.

    >>> mixed(np.array([1], np.uint64)).tolist()
    [6238072747940578789]
    """
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@njit(cache=True, nogil=True)
def draw(state: Any) -> Any:
    """Return the next 64 random bits."""
    state[0] += _GOLDEN
    return mixed(state[0])


@njit(cache=True, nogil=True)
def below(state: Any, bound: int) -> Any:
    """Return a random integer 0 .. bound - 1, for bounds up to 2**31.

    The remainder of 31 bits: below 2**20 no value is more likely by more than 1/2000.
    """
    return np.int64(draw(state) >> _33) % bound


@njit(cache=True, nogil=True)
def shuffled(state: Any, count: int) -> Any:
    """Return 0 .. count - 1 in random order (Fisher and Yates), int64."""
    order = np.arange(count)
    for last in range(count - 1, 0, -1):
        other = below(state, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


# Plans of wiring depend on the numbers of two other generators.


@register_jitable
def xorshift(state: Any) -> Any:
    """Return the next state of xorshift64 (Marsaglia 2003, shifts 13, 7, 17): 64 random bits."""
    state ^= (state << np.uint64(13)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    state ^= state >> np.uint64(7)
    state ^= (state << np.uint64(17)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    return state


@register_jitable
def lcg(state: Any) -> Any:
    """Return the next state of a linear congruential generator (Knuth's MMIX); use high bits."""
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
