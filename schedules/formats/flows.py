"""The flows of a schedule: sender, receiver, step and bytes, as SimAI-OXC asks for them."""

from collections import Counter

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.transfers import transfers
from topoloom.schedules.model.schedule import Schedule
from topoloom.schedules.verify import require_valid
from topoloom.synth.topology.topology import Topology

Flow = tuple[int, int, int, int]
"""Ranks of the sender and the receiver, the step, and the bytes of the data of one rank."""


def flows(schedule: Schedule, topology: Topology, size_bytes: int) -> list[Flow]:
    """Return the flows of a schedule of equal shards, by step, sender and receiver.

    All data between two ranks in a step is one flow.  Chunk bounds are rounded down to bytes.

    Raises:
        NotExportable: The data has fewer bytes than the schedule has chunks.

    >>> from topoloom.schedules.generate.collectives import make
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> flows(make(pair, "allreduce"), pair, 100)
    [(0, 1, 0, 50), (1, 0, 0, 50), (0, 1, 1, 50), (1, 0, 1, 50)]
    """
    require_valid(schedule, topology)
    chunks, found = transfers(schedule, topology.compute_nodes)
    whole = chunks * len(topology.compute_nodes)
    if size_bytes < whole:
        raise NotExportable("/bytes", f"must be at least {whole}: the schedule has as many chunks")
    sizes: Counter[tuple[int, int, int]] = Counter()
    for one in found:
        first, past = one.chunk, one.chunk + one.length
        size = past * size_bytes // whole - first * size_bytes // whole
        sizes[one.stage, one.source, one.target] += size
    numbers = {stage: step for step, stage in enumerate(sorted({key[0] for key in sizes}))}
    return [
        (source, target, numbers[stage], size)
        for (stage, source, target), size in sorted(sizes.items())
    ]
