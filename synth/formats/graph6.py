"""graph6, sparse6 and digraph6: a whole graph in one line of printable characters.

Nodes are 0, 1, ...; there are no capacities, names or kinds.  graph6 and sparse6 are
undirected, so every edge is a link each way; only sparse6 has parallel ones.  networkx reads and
writes sparse6. It has no digraph6, and graph6 shares the code of digraph6.
Source: McKay, "Description of graph6, sparse6 and digraph6 encodings" (nauty, formats.txt).
"""

from collections.abc import Iterable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.formats.writer_checks import (
    require_counted,
    require_numbered,
    require_undirected,
    require_unit_links,
)
from topoloom.synth.topology.topology import Topology

MOST_NODES = 4096
"""Maximum number of nodes, equal to the maximum number of rows of a dense matrix."""

MOST_SPARSE = 65_536

Bits = NDArray[np.uint8]


def graph6(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a graph6 line, with or without its heading.

    >>> graph6(">>graph6<<Bw").link_count
    6

    Raises:
        InvalidTopology: It is no such line, or has more than 4096 nodes.
    """
    size, bits = _dense(_codes(text, ">>graph6<<", ""))
    if len(bits) < size * (size - 1) // 2:
        raise wrong(line(1), f"must have a bit for each pair of {size} nodes")
    later, earlier = np.tril_indices(size, -1)
    found = np.flatnonzero(_used(bits, len(later)))
    pairs = zip(earlier[found].tolist(), later[found].tolist(), strict=True)
    return _graph(size, pairs, attributes, both_ways=True)


def digraph6(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a digraph6 line: ``&``, then the rows of its matrix.

    >>> digraph6("&AO").links
    (Link(source=0, target=1, capacity=1),)

    Raises:
        InvalidTopology: It is no such line, has more than 4096 nodes, or a link from a node to
            itself.
    """
    size, bits = _dense(_codes(text, ">>digraph6<<", "&"))
    if len(bits) < size * size:
        raise wrong(line(1), f"must have a bit for each ordered pair of {size} nodes")
    found = np.flatnonzero(_used(bits, size * size))
    pairs = zip((found // size).tolist(), (found % size).tolist(), strict=True)
    return _graph(size, pairs, attributes, both_ways=False)


def sparse6(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a sparse6 line: ``:``, then its edges in order of an end.

    >>> sparse6(":Bc").link_count
    4

    Raises:
        InvalidTopology: It is no such line, has more than 65,536 nodes, or an edge from a node to
            itself.
    """
    codes = _codes(text, ">>sparse6<<", ":")
    size, _ = _order(codes, MOST_SPARSE)
    graph = nx.from_sparse6_bytes(b":" + (codes + 63).tobytes())
    return _graph(
        size, ((one, other) for one, other, *_ in graph.edges()), attributes, both_ways=True
    )


def _codes(text: str, heading: str, mark: str) -> Bits:
    lines = text.strip().removeprefix(heading).split()
    if len(lines) != 1 or not lines[0].startswith(mark):
        raise wrong(line(1), f"must be one line that begins with {heading} or {mark or 'its size'}")
    body = lines[0][len(mark) :]
    if not body or not body.isascii():
        raise wrong(line(1), "must hold the characters ? to ~ only")
    codes = np.frombuffer(body.encode(), dtype=np.uint8) - 63
    if int(codes.max()) > 63:
        raise wrong(line(1), "must hold the characters ? to ~ only")
    return codes


def _order(codes: Bits, most: int) -> tuple[int, Bits]:
    """Return the number of nodes and the characters after it."""
    wide = 0 if codes[0] != 63 else 3 if len(codes) < 2 or codes[1] != 63 else 6
    start = (0, 1, 2)[wide // 3]
    digits = codes[start : start + max(1, wide)].tolist()
    if len(digits) < max(1, wide):
        raise wrong(line(1), "must begin with the number of nodes")
    size = 0
    for digit in digits:
        size = size * 64 + digit
    if not 1 <= size <= most:
        raise wrong(line(1), f"must have from 1 to {most} nodes; it has {size}")
    return size, codes[start + len(digits) :]


def _bits(codes: Bits) -> Bits:
    return np.unpackbits(codes[:, None], axis=1)[:, 2:].reshape(-1)


def _dense(codes: Bits) -> tuple[int, Bits]:
    size, rest = _order(codes, MOST_NODES)
    # No more characters than bits for every ordered pair are looked at.
    return size, _bits(rest[: size * size // 6 + 2])


def _used(bits: Bits, count: int) -> Bits:
    if bits[count:].any() or len(bits) - count >= 6:
        raise wrong(line(1), "must end with the bit of the last pair")
    return bits[:count]


def _graph(
    size: int, pairs: Iterable[tuple[int, int]], attributes: Attributes, *, both_ways: bool
) -> Topology:
    draft = GraphDraft(attributes, directed=not both_ways, default=False, kinds=False)
    for node in range(size):
        draft.node(node, line(1))
    for one, other in pairs:
        draft.edge(one, other, line(1), {})
    return draft.build()


def to_graph6(topology: Topology) -> str:
    """Return the graph6 line of an undirected graph.

    >>> print(to_graph6(graph6("Bw")), end="")
    Bw

    Raises:
        InvalidTopology: Nodes are not numbered, a capacity is not 1, links are parallel or one way
            only, or there are more than 4096 nodes.
    """
    _require_dense(topology, "graph6")
    require_undirected(topology, "graph6")
    size = topology.node_count
    matrix = _matrix(topology)
    later, earlier = np.tril_indices(size, -1)
    return _text("", size, matrix[later, earlier])


def to_digraph6(topology: Topology) -> str:
    """Return the digraph6 line of a directed graph.

    >>> print(to_digraph6(digraph6("&AO")), end="")
    &AO

    Raises:
        InvalidTopology: Nodes are not numbered, a capacity is not 1, links are parallel, or there
            are more than 4096 nodes.
    """
    _require_dense(topology, "digraph6")
    return _text("&", topology.node_count, _matrix(topology).reshape(-1))


def to_sparse6(topology: Topology) -> str:
    """Return the sparse6 line of an undirected graph, parallel links included.

    >>> print(to_sparse6(sparse6(":Bc")), end="")
    :Bc

    Raises:
        InvalidTopology: Nodes are not numbered, a capacity is not 1, or links run one way only.
    """
    require_numbered(topology, "sparse6")
    require_unit_links(topology, "sparse6")
    require_undirected(topology, "sparse6")
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    graph.add_nodes_from(range(topology.node_count))
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    graph.add_edges_from(pair for pair in ends if pair[0] > pair[1])
    return nx.to_sparse6_bytes(graph, header=False).decode()


def _require_dense(topology: Topology, form: str) -> None:
    require_numbered(topology, form)
    require_unit_links(topology, form)
    require_counted(topology, form)
    if topology.node_count > MOST_NODES:
        raise wrong("/nodes", f"must be at most {MOST_NODES} in {form}")


def _matrix(topology: Topology) -> Bits:
    matrix = np.zeros((topology.node_count, topology.node_count), dtype=np.uint8)
    matrix[topology.sources, topology.targets] = 1
    return matrix


def _text(mark: str, size: int, bits: Bits) -> str:
    padded = np.concatenate([bits, np.zeros(-len(bits) % 6, dtype=np.uint8)])
    codes = padded.reshape(-1, 6) @ (1 << np.arange(6)[::-1]) + 63
    if size < 63:
        order = [size + 63]
    else:
        order = [126, *(63 + (size >> shift & 63) for shift in (12, 6, 0))]
    return mark + bytes([*order, *codes.tolist()]).decode() + "\n"
