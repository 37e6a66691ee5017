"""A transcript of a program as messages over links.

What a program does not say is chosen here.  Parallel links are one of their joint capacity.
A message between ranks that no link joins goes over switches: along a shortest path, of several
along the widest, as GPUs of one machine meet over NVLink and not over their NICs, and of several
of these along that whose links carry the least for their capacity so far, counted in program order.
"""

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.model.transcript import Transcript, levels
from topoloom.schedules.simulate.messages import Messages
from topoloom.schedules.simulate.widest_paths import Paths
from topoloom.synth.topology.topology import Topology

__all__ = ["messages_of_transcript"]


def messages_of_transcript(transcript: Transcript, topology: Topology) -> Messages:
    """Return the messages of a transcript, whose rank i is compute node i of the topology.

    They are in program order by `transcript.levels`.  Piece p of a message waits for piece p
    of what it needs: the run times run the whole program once for each slice of the data.

    Raises
    ------
    InvalidProgram
        There are not as many ranks as compute nodes, or no link and no way over switches leads
        from one to another.
    """
    nodes = topology.compute_nodes
    if len(transcript.ranks) != len(nodes):
        rule = f"must be for the {len(nodes)} compute nodes, not for {len(transcript.ranks)}"
        raise InvalidProgram("/ranks", rule)
    level = levels(transcript)
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
        np.array([paths.index[link.source, link.target] for link in topology.links], np.int64),
        True,
    )


def _starts(counts: "Iterator[int] | map[int] | list[int]") -> np.ndarray:
    return np.array([0, *accumulate(counts)], np.int64)
