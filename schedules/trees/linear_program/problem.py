"""What is asked of the linear program over flows, and what it answers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """What a division of links is sought for.

    ``receivers`` must get all data: the ranks, and switches that shall copy; ``forwarding``
    nodes let out no more than they take in.  ``passes`` is 2 for an allreduce, where the second
    adds up, else 1.  With ``free`` the shares of the roots may be anything, else they are in
    the ratio of the network's sizes.
    """

    network: Network
    receivers: tuple[int, ...]
    forwarding: tuple[int, ...]
    passes: int
    free: bool


@dataclass(frozen=True, eq=False, slots=True)
class Potential:
    """The dual of one flow: a number from 0 per node, 0 at the receiver.

    It stands for all ``count`` receivers of the orbit of ``receiver``, alike.
    """

    receiver: int
    count: int
    inward: bool
    values: tuple[Fraction, ...]


class Prices(NamedTuple):
    """Dual weights from 0: of forwarding nodes, spreading and adding up, and of shared limits."""

    copying: dict[int, Fraction]
    adding: dict[int, Fraction]
    sharing: dict[int, Fraction]


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """``shares`` by node, ``capacities`` by pass and arc; in the network's unit, in floats."""

    rate: float
    shares: NDArray[np.float64]
    capacities: tuple[NDArray[np.float64], ...]
