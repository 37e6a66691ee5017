"""Recognition of a three-dimensional torus, whose hosts are numbered coordinate by coordinate."""

from collections.abc import Iterator

from topoloom.synth.launch.host_graph import HostGraph

Dims = tuple[int, int, int]


def torus_dims(graph: HostGraph) -> Dims | None:
    """Return the sides x, y, z of a torus whose hosts are in order, x fastest; None for others.

    O(links) for each way to write the number of hosts as a product of three.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> torus_dims(host_graph(fabric("tpu-v4-4x4x8")))
    (8, 4, 4)
    >>> torus_dims(host_graph(fabric("mac-studio-mesh-4")))
    """
    size = len(graph.hosts)
    if graph.vertices > size or not size:
        return None
    arcs = set(graph.capacities)
    for dims in _sides(size):
        if arcs == set(_torus_arcs(dims)):
            return dims
    return None


def _sides(size: int) -> Iterator[Dims]:
    """Yield the three sides of boxes of this volume, each at least 2."""
    for x in range(2, size // 4 + 1):
        for y in range(2, size // (2 * x) + 1):
            if size % (x * y) == 0 and size // (x * y) >= 2:
                yield x, y, size // (x * y)


def _torus_arcs(dims: Dims) -> Iterator[tuple[int, int]]:
    """Yield the links of a torus, whose first coordinate is the fastest."""
    x, y, z = dims
    for host in range(x * y * z):
        at = (host % x, host // x % y, host // (x * y))
        for axis, stride in enumerate((1, x, x * y)):
            for step in (1, -1):
                moved = (at[axis] + step) % dims[axis]
                yield host, host + (moved - at[axis]) * stride
