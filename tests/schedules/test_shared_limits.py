"""Limits that several links have together: in topology/1, in optima, and kept by every schedule."""

import json
import random
from fractions import Fraction

import pytest

from tests.flow_oracles import flow_rate
from tests.oracles import random_topology
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, Schedule, TreeSchedule, schedule_parts
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.optimum.single_faults import fault_kinds
from topoloom.schedules.options import Options
from topoloom.schedules.routes.routing_choices import routing_choices
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.steps import bfb
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import InvalidTopology, NotMeasurable
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS
from topoloom.synth.launch import LAUNCH_FILES
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.scheduling.files import SCHEDULER_FILES
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


def limited(topology: Topology, *shared: tuple[list[tuple[NodeId, NodeId]], Capacity]) -> Topology:
    return Topology(
        topology.nodes,
        topology.links,
        switches=topology.switches,
        multicast=topology.multicast,
        shared=shared,
        bandwidth_unit=topology.bandwidth_unit,
    )


def cards_shared_by_two(boxes: Topology) -> Topology:
    """Two neighbouring GPUs have one network card: its speed both ways is that of one."""
    shared = []
    for box in (0, 1):
        for first in range(0, 8, 2):
            two = [f"{box}.gpu{first}", f"{box}.gpu{first + 1}"]
            joined = {(k.source, k.target) for k in boxes.links}
            planes = ("plane0", "plane1")
            out = [(gpu, plane) for gpu in two for plane in planes if (gpu, plane) in joined]
            shared += [(out, 25), ([(t, s) for s, t in out], 25)]
    return limited(boxes, *shared)


def randomly_limited(seed: int) -> Topology:
    rng = random.Random(seed)
    topology = random_topology(rng, balanced=seed % 3 == 0)
    pairs = sorted({link[:2] for link in topology.links}, key=str)
    shared = []
    for _ in range(rng.randint(1, 3)):
        chosen = rng.sample(pairs, rng.randint(1, min(4, len(pairs))))
        shared.append((chosen, Fraction(rng.randint(1, 12), rng.choice([1, 1, 2, 3]))))
    return limited(topology, *shared)


def algbw(schedule: Schedule, topology: Topology) -> Fraction:
    part = schedule_parts(schedule)[0]
    assert isinstance(part, TreeSchedule)
    return sum(part.sizes) / tree_inverse_rate(schedule, topology)


@pytest.mark.one_in(71, slow=7)
@pytest.mark.parametrize("seed", range(200))
def test_the_optimum_is_that_of_the_flows_and_the_schedule_reaches_it(seed: int) -> None:
    topology = randomly_limited(seed)
    ranks = topology.compute_nodes
    for collective in map(Collective.of, COLLECTIVES):
        root = ranks[seed % len(ranks)] if collective.has_root else None
        sizes = {rank: int(root in (None, rank)) for rank in ranks}
        passes = "o" if collective.outward else "i"
        joint = collective is Collective.ALLREDUCE
        truth = flow_rate(topology, sizes, "oi" if joint else passes, free=joint)
        best = collective_optimum(topology, collective, Options(root=root))
        assert float(best.algbw) == pytest.approx(truth, rel=1e-7)
        schedule = make(topology, collective, "forestcoll", root=root)
        assert violations(schedule, topology) == []
        assert algbw(schedule, topology) == best.algbw


def test_gpus_that_share_their_cards_have_half_the_bandwidth_between_boxes() -> None:
    boxes = fabric("dgx-a100-2")
    shared = cards_shared_by_two(boxes)
    # 8 GPUs of a box take in the data of the other 8 at 4 * 25.
    assert optimum(shared).algbw == 200
    assert optimum(boxes).algbw == Fraction(1040, 3)
    schedule = make(shared, "allgather", "forestcoll")
    assert (
        algbw(schedule, shared) == 200 < algbw(make(boxes, "allgather", "forestcoll"), shared) * 2
    )


def test_alike_cards_are_alike_in_a_survey() -> None:
    kinds = fault_kinds(cards_shared_by_two(fabric("dgx-a100-2")))
    assert sum(kind.alike for kind in kinds) == 16 + 32 + 4
    assert len(kinds) == 5


def test_limits_survive_writing_reading_turning_and_losing_links() -> None:
    shared = cards_shared_by_two(fabric("dgx-a100-2"))
    document = json.loads(json.dumps(shared.to_document()))
    assert topology_from_document(document) == shared
    assert shared.digest != fabric("dgx-a100-2").digest
    assert shared.transpose().transpose() == shared
    left = degraded(shared, without_links=[("0.gpu0", "plane0")], without_nodes=["0.gpu1"])
    assert len(left.shared) == len(shared.shared) - 2


@pytest.mark.parametrize(
    ("shared", "field"),
    [
        (3, "/shared"),
        ([3], "/shared/0"),
        ([{"links": [], "capacity": 1}], "/shared/0/links"),
        ([{"links": [["a"]], "capacity": 1}], "/shared/0/links/0"),
        ([{"links": [["a", True]], "capacity": 1}], "/shared/0/links/0"),
        ([{"links": [["b", "c"]], "capacity": 1}], "/shared/0/links/0"),
        ([{"links": [["a", "b"], ["a", "b"]], "capacity": 1}], "/shared/0/links"),
        ([{"links": [["a", "b"]]}], "/shared/0/capacity"),
        ([{"links": [["a", "b"]], "capacity": 0}], "/shared/0/capacity"),
        ([{"links": [["a", "b"]], "capacity": "1/0"}], "/shared/0/capacity"),
        ([{"links": [["a", "b"]], "capacity": 1.5}], "/shared/0/capacity"),
    ],
)
def test_a_wrong_limit_is_one_error_that_names_the_place(shared, field) -> None:
    pair = Topology("abc", ["ab", "ba"])
    with pytest.raises(InvalidTopology) as caught:
        topology_from_document(pair.to_document() | {"shared": shared})
    assert caught.value.field == field


def test_what_knows_links_by_themselves_only_refuses() -> None:
    ring = limited(
        Topology(range(3), [(i, (i + s) % 3) for i in range(3) for s in (1, 2)]),
        ([(0, 1), (0, 2)], 1),
    )
    for refused in (
        lambda: make(ring, "allgather", "bfb"),
        lambda: make(ring, "all-to-all", "mcf"),
        lambda: routing_choices(ring),
    ):
        with pytest.raises(NoSchedule, match="share a limit"):
            refused()
    with pytest.raises(NotMeasurable):
        measure(ring)
    with pytest.raises(NotMeasurable):
        bfb.allgather(ring)
    made = make(ring, "allgather", "forestcoll")
    with pytest.raises(NoSchedule, match="share a limit"):
        simulate(made, ring, Network(Fraction(0), Fraction(1)), size_bytes=100)
    assert "shared" in WRITERS["json"](ring)
    # Files of ranks and of groups hold no links.
    for name in WRITERS.keys() - {"json", *LAUNCH_FILES, *SCHEDULER_FILES}:
        with pytest.raises(InvalidTopology) as caught:
            WRITERS[name](ring)
        assert caught.value.field == "/shared"
