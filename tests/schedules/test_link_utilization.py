from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, every_schedule, ring
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import NO_LINK, SequenceSchedule, StepSchedule
from topoloom.schedules.simulate.link_utilization import busy_shares
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology


def counted(schedule, topology):
    """Time of all data and of each hop's, in shards over links of capacity 1, send by send."""
    if isinstance(schedule, SequenceSchedule):
        found = [counted(part, topology) for part in schedule.parts]
        hops = {hop for _, busy in found for hop in busy}
        busy = {hop: sum((b.get(hop, Fraction()) for _, b in found), Fraction()) for hop in hops}
        return sum(total for total, _ in found), busy
    wide = defaultdict(list)
    for link in topology.links:
        wide[link.source, link.target].append(Fraction(link.capacity))
    total, busy = Fraction(), defaultdict(Fraction)
    if isinstance(schedule, StepSchedule):
        for step in schedule.steps:
            loads = defaultdict(Fraction)
            for send in step:
                hop = schedule.ranks[send["source"]], schedule.ranks[send["target"]]
                share = Fraction(int(send["count"]), schedule.chunks_per_shard)
                lane = 0 if send["link"] == NO_LINK else int(send["link"])
                loads[hop, lane] += share / wide[hop][lane]
                busy[hop] += share / sum(wide[hop])
            total += max(loads.values())
        return total, busy
    for tree in schedule.trees:
        for edge in tree.edges:
            for hop in pairwise(edge):
                busy[hop] += Fraction(tree.weight, schedule.trees_per_root) / sum(wide[hop])
    return max(busy.values()), busy


@given(direct_topologies(), st.data())
def test_shares_are_those_counted_send_by_send(topology, data):
    schedule = data.draw(st.sampled_from([*every_schedule(topology).values()]))
    total, busy = counted(schedule, topology)
    pairs = {(link.source, link.target) for link in topology.links}
    expected = {hop: busy.get(hop, Fraction()) / total for hop in pairs}
    found = busy_shares(schedule, topology)
    assert found == expected
    assert all(0 <= share <= 1 for share in found.values())


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_the_busiest_link_of_a_forest_is_never_idle(collective):
    boxes = fabric("dgx-a100-2")
    shares = busy_shares(make(boxes, collective, "forestcoll", 1), boxes)
    assert max(shares.values()) == 1
    assert len(shares) == 64


def test_a_ring_keeps_every_link_busy():
    assert set(busy_shares(make(ring(5), "allgather"), ring(5)).values()) == {1}


def test_a_send_over_no_link_is_refused():
    with pytest.raises(InvalidSchedule):
        busy_shares(make(ring(3), "allgather"), Topology(range(3), [(0, 1), (1, 0), (1, 2)]))
