"""Write GOAL, the text that LogGOPSim and its kin simulate.

The operations are the nodes of Chakra traces.  A comment before each operation has the bytes that
the operation reads and writes; simulators skip the comment, the replay uses the bytes.
"""

from collections.abc import Iterator
from typing import Any

from topoloom.schedules.formats.chakra.program import COMPUTE, SEND
from topoloom.schedules.formats.chakra.write import rank_nodes
from topoloom.schedules.formats.goal.program import HEAD
from topoloom.schedules.model.schedule import Schedule
from topoloom.synth.topology.topology import Topology


def render(schedule: Schedule, topology: Topology, size_bytes: int) -> Iterator[str]:
    r"""Yield the GOAL of a schedule in pieces, one for each rank.

    A rank has one CPU and one NIC, as in the LogGP model, whose gap per byte is that of all links
    of the rank together.  Additions take no time.  Parameters and errors as of
    `chakra.write.render`.

    >>> from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> print(*"".join(render(both, pair, 1024)).splitlines()[:8], sep="\n")
    // topoloom allgather 1024
    num_ranks 2
    <BLANKLINE>
    rank 0 {
    // [["data", 0, 512]] []
    o0: send 512b to 1 tag 1
    // [] [["data", 512, 512]]
    o1: recv 512b from 1 tag 2
    """
    ranks = rank_nodes(schedule, topology, size_bytes)
    yield HEAD.format(collective=schedule.collective.value, size=size_bytes, ranks=len(ranks))
    for rank, nodes in enumerate(ranks):
        yield _rank(rank, nodes)


def _rank(rank: int, nodes: list[Any]) -> str:
    lines = [f"\nrank {rank} {{"]
    for node in nodes:
        lines.append(f"// {node.inputs.values or '[]'} {node.outputs.values or '[]'}")
        lines.append(f"o{node.id}: {_operation(node)}")
        waits = {*node.data_deps, *node.ctrl_deps}
        lines += [f"o{node.id} requires o{before}" for before in sorted(waits)]
    return "\n".join([*lines, "}\n"])


def _operation(node: Any) -> str:
    if node.type == COMPUTE:
        return "calc 0"
    about = {one.name: getattr(one, one.WhichOneof("value")) for one in node.attr}
    size, tag = f"{about['comm_size']}b", about["comm_tag"]
    if node.type == SEND:
        return f"send {size} to {about['comm_dst']} tag {tag}"
    return f"recv {size} from {about['comm_src']} tag {tag}"
