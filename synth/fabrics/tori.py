"""Tori of accelerators: TPU v4, v5p and v5e slices, Trainium2.

Ids are coordinates, ``"1.0.3"``.  Bandwidths are per link and direction, in GB/s.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.topology.topology import Topology

Place = tuple[int, ...]
Shift = Callable[[int, Place], Place]

CUBE = 4
POD_V4 = (16, 16, 16)
SLICE_V5P = (16, 16, 24)
POD_V5E = 16


def tpu_v4(a: int, b: int, c: int) -> Topology:
    """Return a TPU v4 slice of a x b x c chips: a 3-D torus of links of 50 GB/s.

    Sides are multiples of 4, in ascending order, up to 16x16x16; smaller slices are part of one
    cube and have no wrap-around.  Source: Jouppi et al., TPU v4, ISCA 2023 (six links per chip,
    4x4x4 cubes, 4096 chips per pod).

    >>> tpu_v4(4, 4, 8)
    <Topology tpu-v4: 128 compute, 768 links>
    """
    return _torus("tpu-v4", _cubes((a, b, c), POD_V4), (50,) * 3)


def tpu_v5p(a: int, b: int, c: int) -> Topology:
    """Return a TPU v5p slice of a x b x c chips: a 3-D torus of links of 100 GB/s.

    Sides as in v4, up to 16x16x24.  Source: Google's TPU v5p page (1200 GB/s per chip, both
    directions together, over six links; the largest slice).

    >>> tpu_v5p(4, 4, 4).degree
    6
    """
    return _torus("tpu-v5p", _cubes((a, b, c), SLICE_V5P), (100,) * 3)


def tpu_v4_twisted(a: int, b: int, c: int) -> Topology:
    """Return a twisted TPU v4 slice: k x k x 2k or k x 2k x 2k.

    The wrap-around of each short side shifts by k along each long side, which makes all three
    dimensions equivalent.  Sources: Jouppi et al., ISCA 2023, for the shapes; Camarero, Martínez
    and Beivide, "Lattice graphs for high-scale interconnection topologies", IEEE TPDS 2015, for
    the twist, which gives the face- and the body-centered cubic lattice.

    >>> tpu_v4_twisted(4, 4, 8).degree
    6
    """
    return _torus("tpu-v4", _cubes((a, b, c), POD_V4), (50,) * 3, _twist((a, b, c)))


def tpu_v5p_twisted(a: int, b: int, c: int) -> Topology:
    """Return a twisted TPU v5p slice; shapes and twist as in v4.

    >>> tpu_v5p_twisted(4, 8, 8).degree
    6
    """
    return _torus("tpu-v5p", _cubes((a, b, c), SLICE_V5P), (100,) * 3, _twist((a, b, c)))


def tpu_v5e(a: int, b: int) -> Topology:
    """Return a TPU v5e slice of a x b chips: 50 GB/s a link, at most 16x16.

    A side of 16 is a ring; a shorter side spans part of the pod and has no wrap-around.  Sides
    are 1, 2, 4, 8 or 16, in ascending order.  Sources: Google's TPU v5e page (400 GB/s per chip,
    both directions together, over four links; 2-D torus of 256); "How to Scale Your Model"
    (Google DeepMind, 2025), chapter 2, for the wrap-around.

    >>> tpu_v5e(16, 16).degree, tpu_v5e(2, 4).link_count
    (4, 20)
    """
    for name, side in (("A", a), ("B", b)):
        if side not in (1, 2, 4, 8, POD_V5E):
            raise OutOfDomain(name, "must be 1, 2, 4, 8 or 16")
    if not 1 < b >= a:
        raise OutOfDomain("B", "must be more than 1 and at least A")
    return _torus("tpu-v5e", (a, b), (50, 50), ring=lambda side: side == POD_V5E)


def trainium2() -> Topology:
    """Return a trn2 instance: 16 chips in a 4x4 torus of links of 128 GB/s.

    Source: AWS's Neuron documentation for the torus and the 1 TB/s per chip, both directions
    together, over four neighbors.

    >>> trainium2()
    <Topology trainium2: 16 compute, 64 links>
    """
    return _torus("trainium2", (4, 4), (128, 128))


def trainium2_ultra() -> Topology:
    """Return a Trn2 UltraServer: four instances, equal positions joined in rings of four.

    A chip has 1.28 TB/s, both directions together (AWS's Neuron documentation): 4 x 128 GB/s
    inside the instance leave 2 x 64 GB/s for the ring between instances, the last coordinate.

    >>> trainium2_ultra()
    <Topology trainium2-ultra: 64 compute, 384 links>
    """
    return _torus("trainium2-ultra", (4, 4, 4), (128, 128, 64))


def _cubes(sides: tuple[int, int, int], most: tuple[int, int, int]) -> tuple[int, int, int]:
    for name, side, bound in zip("ABC", sides, most, strict=True):
        if side % CUBE or side > bound:
            raise OutOfDomain(name, f"must be a multiple of {CUBE}, at most {bound}")
    if list(sides) != sorted(sides):
        raise OutOfDomain("C", "must be the longest side and A the shortest")
    return sides


def _twist(sides: tuple[int, int, int]) -> Shift:
    """Return the additional shift of the wrap-around of an axis, as a function."""
    k = sides[0]
    if sides not in ((k, k, 2 * k), (k, 2 * k, 2 * k)):
        raise OutOfDomain("C", "must be 2 A, and B must be A or 2 A, for a twisted torus")

    def moved(axis: int, place: Place) -> Place:
        if sides[axis] > k:
            return place
        return tuple(
            (x + k) % side if side > k else x for x, side in zip(place, sides, strict=True)
        )

    return moved


def _torus(
    name: str,
    sides: Sequence[int],
    capacities: Sequence[int],
    shift: Shift = lambda axis, place: place,
    ring: Callable[[int], bool] = lambda side: True,
) -> Topology:
    """Return a torus; an axis whose side is no ``ring`` is a path."""
    links: list[Row] = []
    for axis, place, far in _steps(sides, shift, ring):
        links += two_way_links(_id(place), _id(far), capacities[axis])
    nodes = [_id(place) for place in product(*map(range, sides))]
    return Topology(nodes, links, name=name, bandwidth_unit="GB/s")


def _steps(
    sides: Sequence[int], shift: Shift, ring: Callable[[int], bool]
) -> Iterator[tuple[int, Place, Place]]:
    """Yield the axis and both ends of every cable, each cable once."""
    for place in product(*map(range, sides)):
        for axis, side in enumerate(sides):
            last = place[axis] == side - 1
            if last and not ring(side):
                continue
            far = (*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :])
            yield axis, place, shift(axis, far) if last else far


def _id(place: Place) -> str:
    return ".".join(map(str, place))
