"""Initial lift of annealing: a circulant voltage graph with random voltages."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topoloom.synth.discovery.selected_elements import Selection

_ATTEMPTS = 50
Integers = NDArray[np.int64]


def start(
    vertices: int, degree: int, two_way: bool, selection: Selection, rng: Generator
) -> tuple[Integers, Integers, Integers] | None:
    """Return heads, voltages and partners of arcs without loops or parallel links.

    Voltages are indices into the selection.  None if all attempts fail.
    """
    for _ in range(_ATTEMPTS):
        head, partner = _two_way(vertices, degree) if two_way else _one_way(vertices, degree)
        shift = np.zeros(len(head), np.int64)
        if all(
            _choose(arc, head, shift, partner, selection, degree, rng)
            for arc in range(len(head))
            if partner[arc] < 0 or arc <= partner[arc]
        ):
            return head, shift, partner
    return None


def _one_way(vertices: int, degree: int) -> tuple[Integers, Integers]:
    arcs = np.arange(vertices * degree)
    head = (arcs // degree + 1 + arcs % degree) % vertices
    return head, np.full(len(arcs), -1)


def _two_way(vertices: int, degree: int) -> tuple[Integers, Integers]:
    """Pair the arcs at offsets o and -o; for odd degree add the antipode or the arc itself."""
    arcs = np.arange(vertices * degree).reshape(vertices, degree)
    head = np.zeros((vertices, degree), np.int64)
    partner = np.zeros((vertices, degree), np.int64)
    vertex = np.arange(vertices)
    for pair in range(degree // 2):
        offset = pair % max(1, vertices // 2) + 1
        there, back = (vertex + offset) % vertices, (vertex - offset) % vertices
        head[:, 2 * pair], head[:, 2 * pair + 1] = there, back
        partner[:, 2 * pair], partner[:, 2 * pair + 1] = (
            arcs[there, 2 * pair + 1],
            arcs[back, 2 * pair],
        )
    if degree % 2:
        half = (vertex + vertices // 2) % vertices if vertices % 2 == 0 else vertex
        head[:, -1], partner[:, -1] = half, arcs[half, -1]
    return head.ravel(), partner.ravel()


def _choose(
    arc: int,
    head: Integers,
    shift: Integers,
    partner: Integers,
    selection: Selection,
    degree: int,
    rng: Generator,
) -> bool:
    """Choose random voltages for an arc and its partner; return whether one fits."""
    tail, mate, inverse = arc // degree, partner[arc], selection.inverse
    offered = selection.involutions if mate == arc else np.arange(len(inverse))
    for _ in range(_ATTEMPTS if len(offered) else 0):
        voltage = int(rng.choice(offered))
        shift[arc] = voltage
        ends = [arc] if mate in (-1, arc) else [arc, mate]
        if mate >= 0:
            shift[mate] = inverse[voltage]
        if tail == head[arc] and voltage == 0:
            continue
        if all(_alone(end, head, shift, partner, arc, degree) for end in ends):
            return True
    return False


def _alone(
    end: int, head: Integers, shift: Integers, partner: Integers, current: int, degree: int
) -> bool:
    """Return whether no earlier arc is parallel to this arc."""
    low = end // degree * degree
    for other in range(low, low + degree):
        mate = partner[other]
        chosen = min(other, mate) if mate >= 0 else other
        known = chosen <= current
        if other != end and known and head[other] == head[end] and shift[other] == shift[end]:
            return False
    return True
