"""Networks, sizes and small fabrics that tests of the simulator share."""

from fractions import Fraction

from hypothesis import strategies as st

from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.simulate import Network
from topoloom.synth.topology.topology import Topology

NETWORK = Network(Fraction(1, 10**5), Fraction(25, 8) * 10**9)

SLOW = Network(Fraction(3), Fraction(2))

networks = st.builds(
    Network,
    st.fractions(0, 5, max_denominator=6),
    st.fractions(Fraction(1, 3), 7, max_denominator=6),
    st.just(Fraction(0)) | st.fractions(0, 2, max_denominator=4),
    st.none() | st.integers(1, 3),
    st.just(Fraction(0)) | st.fractions(0, 2, max_denominator=4),
)

sizes = st.integers(0, 1000)


def chain(length):
    """One tree that is a path of ``length`` edges, for a single root's shard."""
    topology = Topology(range(length + 1), [(i, i + 1) for i in range(length)] + [(length, 0)])
    tree = Tree(0, 1, tuple((i, i + 1) for i in range(length)))
    schedule = TreeSchedule(Collective.ALLGATHER, topology.digest, topology.nodes, 1, (tree,))
    return topology, schedule


def star(rates):
    """Hosts a, b, ... joined to one switch; rates are (up, down) by host."""
    hosts = "abcdef"[: len(rates)]
    links = [
        link
        for host, (up, down) in zip(hosts, rates, strict=True)
        for link in ((host, "s", up), ("s", host, down))
    ]
    return Topology([*hosts, "s"], links, switches=["s"])


def across(topology, *pairs):
    """One edge through the switch for each pair, each its own tree; not a whole collective."""
    trees = tuple(Tree(a, 1, ((a, "s", b),)) for a, b in pairs)
    return TreeSchedule(Collective.ALLGATHER, topology.digest, topology.compute_nodes, 1, trees)
