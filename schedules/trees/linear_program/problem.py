"""The problem of the linear program over flows, and its solution."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network


@dataclass(frozen=True, eq=False, slots=True)
class DivisionProblem:
    """A division problem.

    ``receivers`` must receive all data: the ranks, and copying switches.  ``forwarding`` nodes
    send no more than they receive.  ``passes`` is 2 for an allreduce, whose second pass reduces,
    else 1.  With ``free`` the shares of the roots are variables, else they are in the ratio of the
    network's sizes.
    """

    network: Network
    receivers: tuple[int, ...]
    forwarding: tuple[int, ...]
    passes: int
    free: bool


@dataclass(frozen=True, eq=False, slots=True)
class Potential:
    """The dual of one flow: a nonnegative number per node, 0 at the receiver.

    It represents all ``count`` receivers of the orbit of ``receiver``.
    """

    receiver: int
    count: int
    inward: bool
    values: tuple[Fraction, ...]


class Prices(NamedTuple):
    """Nonnegative duals: of forwarding nodes in each pass, and of shared limits."""

    copying: dict[int, Fraction]
    adding: dict[int, Fraction]
    sharing: dict[int, Fraction]


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """``shares`` by node, ``capacities`` by pass and arc; in the network's unit, in floats."""

    rate: float
    shares: NDArray[np.float64]
    capacities: tuple[NDArray[np.float64], ...]
