"""The rate that is told of a written program is the rate of its file, whatever the format."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedules.export_cases import schedule_of, topology_of
from topoloom.schedules.compare.bandwidths import SpeedSettings, algorithm_bandwidth, program_speed
from topoloom.schedules.errors import NotExportable, ScheduleError
from topoloom.schedules.formats import SENDING, Options, write
from topoloom.schedules.formats.inspection.check_program import program_violations, transcript_of
from topoloom.schedules.formats.inspection.rank_traffic import traffic_of, traffic_rate
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.generate.make_and_verify import schedule_costs
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

WAYS = [
    ("msccl-xml", Options()),
    ("msccl-xml", Options(dialect="azure", inplace=True)),
    ("msccl-xml", Options(dialect="rccl", instances=2)),
    ("mscclpp-json", Options(ranks_per_node=4)),
    ("chakra-et", Options(bytes=1 << 20)),
]
CASES = [("dgx-a100-2", "allgather"), ("mi250-1", "allreduce"), ("Circulant(9, 1, 2)", "allreduce")]
IDS = ["msccl", "azure", "rccl", "mscclpp", "chakra"]


def written(form, schedule, topology, options):
    made = write(form, schedule, topology, options)
    return list(made.values()) if hasattr(made, "values") else ["".join(made).encode()]


def dialect_of(form, options):
    return options.dialect or "msccl" if form == "msccl-xml" else None


def widest(topology, source, target):
    """Every shortest path over switches, and of these the widest: by trying all paths."""
    capacity = Counter()
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    paths = [(source,)]
    while True:
        paths = [
            (*path, near)
            for path in paths
            for (far, near) in capacity
            if far == path[-1] and near not in path
        ]
        arrived = [path for path in paths if path[-1] == target]
        if arrived:
            break
        paths = [path for path in paths if path[-1] in topology.switches]
    hops = [list(pairwise(path)) for path in arrived]
    width = max(min(capacity[hop] for hop in path) for path in hops)
    return [path for path in hops if min(capacity[hop] for hop in path) == width], capacity


def replayed_rate(form, files, topology, said):
    """The rate by the replay of the verifier and by all paths."""
    assert program_violations(form, files, topology, said) == []
    found = transcript_of(form, files, said)
    nodes, load = topology.compute_nodes, defaultdict(Fraction)
    pairs = Counter()
    for message in found.messages:
        pairs[message.source, message.target] += message.units
    for (source, target), units in pairs.items():
        paths, capacity = widest(topology, nodes[source], nodes[target])
        for path in paths:
            for hop in path:
                load[hop] += Fraction(units, len(paths)) / capacity[hop]
    return 1 / (max(load.values()) * found.unit)


@pytest.mark.parametrize(("form", "options"), WAYS, ids=IDS)
@pytest.mark.parametrize(("name", "collective"), CASES)
@pytest.mark.one_in(3)
def test_the_rate_of_a_file_is_that_of_its_replay(name, collective, form, options):
    topology, schedule = topology_of(name), schedule_of(name, collective)
    try:
        files = written(form, schedule, topology, options)
    except NotExportable:
        return
    said = dialect_of(form, options)
    assert traffic_rate(traffic_of(form, files, said), topology) == replayed_rate(
        form, files, topology, said
    )


@st.composite
def degraded_boxes(draw):
    """Boxes of GPUs on a switch each, joined by a slower fabric, with some links lost."""
    boxes, gpus = draw(st.sampled_from([(1, 4), (2, 2), (2, 3), (3, 2)]))
    names = [f"{box}.gpu{gpu}" for box in range(boxes) for gpu in range(gpus)]
    links = []
    for name in names:
        inner = draw(st.sampled_from([4, 6, Fraction(7, 2)]))
        outer = draw(st.sampled_from([1, 2, Fraction(1, 3)]))
        for hub, capacity in ((f"{name[0]}.switch", inner), ("fabric", outer)):
            links += [(name, hub, capacity), (hub, name, capacity)]
    spine = draw(st.booleans())
    if spine:
        links += [(a, b, 1) for a, b in zip(names, names[1:] + names[:1], strict=True)]
    lost = draw(st.sets(st.integers(0, len(links) - 1), max_size=3))
    kept = [link for at, link in enumerate(links) if at not in lost]
    switches = [f"{box}.switch" for box in range(boxes)] + ["fabric"]
    return Topology(names + switches, kept, switches=switches, bandwidth_unit="GB/s")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    degraded_boxes(),
    st.sampled_from(["allgather", "reduce-scatter", "allreduce", "all-to-all"]),
    st.sampled_from(WAYS),
)
def test_the_rate_of_a_file_on_a_degraded_fabric_is_that_of_its_replay(topology, collective, way):
    form, options = way
    try:
        algorithm = "mcf" if collective == "all-to-all" else "forestcoll"
        schedule = make(topology, collective, algorithm)
        files = written(form, schedule, topology, options)
    except (ScheduleError, Unreachable):  # the lost links may have cut a GPU off
        return
    said = dialect_of(form, options)
    rate = traffic_rate(traffic_of(form, files, said), topology)
    assert rate == replayed_rate(form, files, topology, said)


@pytest.mark.slow
def test_trees_that_a_run_time_rounds_are_told_as_the_file_has_them():
    # Weights of 40,000 and 3 are more chunks than an offset of 16 bits counts: 4,096 and 0.
    triangle = Topology(range(3), [(a, b) for a in range(3) for b in range(3) if a != b])
    trees = [
        Tree(root, weight, ((root, near), (first, far)))
        for root, near, far in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        for weight, first in ((40_000, root), (3, near))
    ]
    digest, ranks = triangle.digest, triangle.compute_nodes
    schedule = TreeSchedule(Collective.ALLGATHER, digest, ranks, 40_003, tuple(trees))
    files = written("msccl-xml", schedule, triangle, Options(dialect="rccl"))
    rate = traffic_rate(traffic_of("msccl-xml", files, "rccl"), triangle)
    costs = schedule_costs(schedule, triangle)
    assert algorithm_bandwidth(costs, triangle) == 3 / Fraction(40_006, 40_003)
    assert rate == replayed_rate("msccl-xml", files, triangle, "rccl") == 3


def test_a_program_without_copies_by_switches_is_slower_than_its_schedule():
    topology = fabric("dgx-h100-sharp-1")
    schedule = make(topology, "allreduce", "forestcoll")
    exact = algorithm_bandwidth(schedule_costs(schedule, topology), topology)
    lanes = written("mscclpp-json", schedule, topology, Options(ranks_per_node=8))
    nvls = Options(ranks_per_node=8, runtime="mscclpp-h100")
    copies = written("mscclpp-json", schedule, topology, nvls)
    runtime = RUNTIMES["mscclpp-h100"]
    assert traffic_rate(traffic_of("mscclpp-json", copies, runtime), topology) == exact
    assert traffic_rate(traffic_of("mscclpp-json", lanes), topology) < exact
    on = SpeedSettings(Fraction(10**9), Fraction(0))
    found = program_speed(
        traffic_of("mscclpp-json", lanes),
        topology,
        on,
        transcript=lambda: transcript_of("mscclpp-json", lanes),
        facts=schedule_costs(schedule, topology),
    )
    assert found.algbw < found.schedule_algbw == exact * 10**9


@pytest.mark.parametrize("form", SENDING)
def test_every_format_that_sends_tells_what_it_sends(form):
    topology, schedule = topology_of("UniRing(3)"), schedule_of("UniRing(3)", "allgather")
    options = Options(bytes=96) if form in ("chakra-et", "goal") else Options()
    files = written(form, schedule, topology, options)
    found, told = traffic_of(form, files), transcript_of(form, files)
    assert sum(one.units for one in found.sent) == sum(one.units for one in told.messages)
    assert (found.collective, found.ranks, found.whole) == (told.collective, 3, told.units)


def test_a_plan_says_what_its_operations_say_not_what_else_it_holds():
    topology, schedule = topology_of("UniRing(3)"), schedule_of("UniRing(3)", "allgather")
    (file,) = written("mscclpp-json", schedule, topology, Options())
    document = json.loads(file)
    document["author"] = "me"
    more = json.dumps(document).encode()
    assert traffic_of("mscclpp-json", [more]) == traffic_of("mscclpp-json", [file])
