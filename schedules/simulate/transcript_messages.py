"""A transcript of a program as messages over links.

The program leaves paths open; this module chooses them.  Parallel links are one link of their joint
capacity.  A message between ranks without a link passes switches along a shortest path.  Of several
shortest paths the widest is chosen: GPUs of one machine communicate over NVLink, not over NICs.
Of several widest paths the one with the least load relative to capacity is chosen, in program
order.
"""

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.model.transcript import Transcript, message_rounds
from topoloom.schedules.simulate.messages import Messages
from topoloom.schedules.simulate.widest_paths import Paths
from topoloom.synth.topology.topology import Topology


def messages_of_transcript(transcript: Transcript, topology: Topology) -> Messages:
    """Return the messages of a transcript, whose rank i is compute node i of the topology.

    Messages are in program order by `transcript.message_rounds`.  Piece p of a message waits for
    piece p of its dependencies: runtimes execute the whole program once for each slice of the data.

    Raises:
        InvalidProgram: The numbers of ranks and of compute nodes differ, or no path over links and
            switches joins two ranks.
    """
    nodes = topology.compute_nodes
    if len(transcript.ranks) != len(nodes):
        rule = f"must be for the {len(nodes)} compute nodes, not for {len(transcript.ranks)}"
        raise InvalidProgram("/ranks", rule)
    level = message_rounds(transcript)
    order = sorted(range(len(level)), key=level.__getitem__)
    place = {number: at for at, number in enumerate(order)}
    told = [transcript.messages[number] for number in order]
    paths = Paths(topology)
    hops = [paths.least_loaded(nodes[one.source], nodes[one.target], one.units) for one in told]
    depth = max(level, default=-1) + 1
    return Messages(
        [one.units for one in told],
        transcript.unit,
        _starts(map(len, hops)),
        np.array([link for path in hops for link in path], np.int64),
        _starts(np.bincount(np.array(level, np.int64), minlength=depth).tolist()),
        _starts(len(one.needs) for one in told),
        np.array([place[need] for one in told for need in one.needs], np.int64),
        np.zeros(len(told), np.int64),
        np.ones(len(told), np.int64),
        np.ones(len(told), np.bool_),
        tuple(paths.capacities),
        np.array([topology.position[source] for source, _ in paths.pairs], np.int64),
        tuple(topology.latencies[pair] for pair in paths.pairs if topology.latencies),
        np.array([paths.index[link.source, link.target] for link in topology.links], np.int64),
        True,
    )


def _starts(counts: "Iterator[int] | map[int] | list[int]") -> np.ndarray:
    return np.array([0, *accumulate(counts)], np.int64)
