"""Faults planted anywhere in any schedule: found if and only if an obvious oracle minds."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.schedule_documents import to_document
from tests.schedule_oracles import every_schedule, two_boxes
from tests.step_faults import STEP_FAULTS
from tests.tree_faults import TREE_FAULTS
from tests.validity_oracles import is_right
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import NO_LINK, Collective, SequenceSchedule, StepSchedule
from topoloom.schedules.verify import require_valid, step_cost, tree_inverse_rate, violations
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

HALVES = (Collective.ALLGATHER, Collective.REDUCE_SCATTER)
ROOTED = (Collective.BROADCAST, Collective.REDUCE)
DOUBLE = Topology(range(3), [(i, (i + 1) % 3) for i in range(3) for _ in range(2)])
UNEQUAL = Topology("abcd", [(a, b, 1 + (a < b)) for a in "abcd" for b in "abcd" if a != b])


@cache
def subjects(kind, collective):
    """Schedules by the generators and by the plain ones of the tests, with their topologies."""
    found = []
    names = ["Kautz(2, 2)", "Torus(3, 3)", "Circulant(8, 1, 3)", "DeBruijn(2, 2)", "BiRing(5)"]
    for name in names:
        topology = build(parse(name))
        algorithm = "bfb" if kind == "steps" else "forestcoll"
        found.append((make(topology, collective, algorithm), topology))
    plain = [DOUBLE] if kind == "steps" else [DOUBLE, UNEQUAL, two_boxes(3)]
    found += [(every_schedule(each, 3)[f"{kind}-{collective}"], each) for each in plain]
    if kind == "trees":
        fabrics = [*map(fabric, ("dgx-a100-1", "mi250-1")), two_boxes(3)]
        found += [(make(each, collective, "forestcoll"), each) for each in fabrics]
        boxes = two_boxes(2)
        some = {"participants": boxes.compute_nodes[:3]}
        sizes = {"shards": {node: size for size, node in enumerate(boxes.compute_nodes)}}
        found += [(make(boxes, collective, "forestcoll", **what), boxes) for what in (some, sizes)]
    return found


@cache
def rooted(collective):
    """Broadcasts or reduces with their topologies."""
    graphs = [build(parse("Kautz(2, 2)")), build(parse("BiRing(5)")), UNEQUAL, two_boxes(2)]
    found = []
    for topology in graphs:
        root = topology.compute_nodes[1]
        found.append((make(topology, collective, "forestcoll", root=root), topology))
    return found


def some_schedule(data, kind):
    """Draw a collective of one pass, and a schedule for it with its topology."""
    choice = HALVES if kind == "steps" else (*HALVES, *ROOTED)
    collective = data.draw(st.sampled_from(choice))
    made = rooted(collective) if collective.has_root else subjects(kind, collective)
    return data.draw(st.sampled_from(made))


def picker(data):
    return lambda count: data.draw(st.integers(0, max(0, count - 1)))


RELAXED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def resolves(document, pointer):
    """Whether a JSON pointer leads to something in the document."""
    at = document
    for part in pointer.split("/")[1:]:
        at = at[int(part)] if isinstance(at, list) else at[part]
    return at is not None


def judge(schedule, topology):
    """Compare the checker's verdict with the oracle's; return whether it is valid."""
    found = violations(schedule, topology)
    right = is_right(schedule, topology)
    assert bool(found) != right, (found, right)
    assert all(violation.sentence for violation in found)
    if right:
        require_valid(schedule, topology)
    else:
        with pytest.raises(InvalidSchedule) as caught:
            require_valid(schedule, topology)
        assert caught.value.field == found[0].place
    return right


@pytest.mark.parametrize("kind", ["steps", "trees"])
@pytest.mark.parametrize("collective", HALVES)
def test_the_oracle_accepts_what_is_not_broken(kind, collective):
    for schedule, topology in subjects(kind, collective):
        assert judge(schedule, topology)


@pytest.mark.parametrize("collective", ROOTED)
def test_the_oracle_accepts_what_has_a_root(collective):
    for schedule, topology in rooted(collective):
        assert judge(schedule, topology)


@pytest.mark.parametrize("collective", HALVES)
@pytest.mark.parametrize("fault", STEP_FAULTS.values(), ids=STEP_FAULTS)
@RELAXED
@given(data=st.data())
@pytest.mark.one_in(3)
def test_a_fault_in_steps_is_found_unless_it_is_harmless(fault, collective, data):
    schedule, topology = data.draw(st.sampled_from(subjects("steps", collective)))
    judge(fault(schedule, picker(data)), topology)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("collective", [*HALVES, *ROOTED])
@pytest.mark.parametrize("fault", TREE_FAULTS.values(), ids=TREE_FAULTS)
@RELAXED
@given(data=st.data())
def test_a_fault_in_trees_is_found_unless_it_is_harmless(fault, collective, data):
    made = rooted(collective) if collective.has_root else subjects("trees", collective)
    schedule, topology = data.draw(st.sampled_from(made))
    judge(fault(schedule, picker(data)), topology)


@RELAXED
@given(data=st.data())
def test_several_faults_at_once_do_not_hide_each_other(data):
    kind = data.draw(st.sampled_from(["steps", "trees"]))
    schedule, topology = some_schedule(data, kind)
    faults = STEP_FAULTS if kind == "steps" else TREE_FAULTS
    for _ in range(data.draw(st.integers(2, 4))):
        name = data.draw(st.sampled_from(sorted(faults)))
        try:
            schedule = faults[name](schedule, picker(data))
        except (IndexError, ZeroDivisionError):
            # The fault before left nothing to break: no step, send, tree or edge.
            break
    judge(schedule, topology)


@pytest.mark.parametrize("kind", ["steps", "trees"])
@RELAXED
@given(data=st.data())
def test_a_fault_in_a_part_of_an_allreduce_is_found_in_that_part(kind, data):
    whole, topology = data.draw(st.sampled_from(subjects(kind, Collective.ALLREDUCE)))
    faults = STEP_FAULTS if kind == "steps" else TREE_FAULTS
    index = data.draw(st.integers(0, 1))
    fault = faults[data.draw(st.sampled_from(sorted(set(faults) - {"other collective"})))]
    parts = list(whole.parts)
    parts[index] = fault(parts[index], picker(data))
    found = violations(replace(whole, parts=tuple(parts)), topology)
    right = is_right(parts[index], topology)
    assert bool(found) != (right and division(parts[index]) == division(parts[1 - index]))
    places = {violation.place for violation in found}
    part = f"/parts/{index}/"
    assert all(place == "/parts" or f"{place}/".startswith(part) for place in places)
    assert right or places != {"/parts"}


def division(part):
    """Who takes part, and each one's share of the data."""
    sizes = getattr(part, "sizes", [1] * len(part.ranks))
    return [
        (rank, Fraction(size, sum(sizes) or 1))
        for rank, size in zip(part.ranks, sizes, strict=False)
    ]


@pytest.mark.parametrize("kind", ["steps", "trees"])
def test_an_allreduce_of_wrong_parts_is_found(kind):
    for whole, topology in subjects(kind, Collective.ALLREDUCE):
        scatter, gather = whole.parts
        for parts in (
            (),
            (scatter,),
            (gather,),
            (gather, scatter),
            (scatter, scatter),
            (scatter, gather, gather),
        ):
            assert violations(replace(whole, parts=parts), topology)
        for collective in HALVES:
            assert violations(replace(whole, collective=collective), topology)
        assert violations(replace(scatter, collective=Collective.ALLREDUCE), topology)
        assert violations(replace(whole, topology="sha256:0"), topology)


@pytest.mark.parametrize("kind", ["steps", "trees"])
def test_a_schedule_does_not_run_on_links_of_other_capacity(kind):
    for collective in HALVES:
        for schedule, topology in subjects(kind, collective):
            links = [(link.source, link.target, link.capacity) for link in topology.links]
            links[0] = (*links[0][:2], links[0][2] + 1)
            other = Topology(
                topology.nodes, links, switches=topology.switches,
                bandwidth_unit=topology.bandwidth_unit,
            )  # fmt: skip
            assert [found.place for found in violations(schedule, other)] == ["/topology"]


@RELAXED
@given(data=st.data())
def test_every_place_is_a_place_of_the_document(data):
    kind = data.draw(st.sampled_from(["steps", "trees"]))
    schedule, topology = some_schedule(data, kind)
    faults = STEP_FAULTS if kind == "steps" else TREE_FAULTS
    broken = faults[data.draw(st.sampled_from(sorted(faults)))](schedule, picker(data))
    try:
        document = to_document(broken)
    except (InvalidSchedule, IndexError):
        return
    for violation in violations(broken, topology):
        assert resolves(document, violation.place), violation


def loads(schedule, topology):
    """Shards over capacity on every link, by step."""
    ranks = topology.compute_nodes
    capacity = {}
    for link in topology.links:
        capacity.setdefault((link.source, link.target), []).append(link.capacity)
    for step in schedule.steps:
        load = Counter()
        for source, target, _, _, count, link, _ in step.tolist():
            load[ranks[source], ranks[target], max(link, 0)] += count
        yield {
            key: Fraction(count, schedule.chunks_per_shard) / capacity[key[:2]][key[2]]
            for key, count in load.items()
        }


def test_a_send_moved_to_a_busy_parallel_link_is_valid_but_costs_more():
    schedule, topology = subjects("steps", Collective.ALLGATHER)[-1]
    assert topology == DOUBLE
    fair = step_cost(schedule, topology)
    for step, sends in enumerate(schedule.steps):
        for send in range(len(sends)):
            moved = [array.copy() for array in schedule.steps]
            moved[step][send]["link"] = 1 - moved[step][send]["link"]
            changed = replace(schedule, steps=tuple(moved))
            assert violations(changed, topology) == []
            derived = step_cost(changed, topology)
            total = sum(max(load.values()) for load in loads(changed, topology))
            assert derived.bandwidth == total * Fraction(topology.degree, topology.node_count)
            assert derived.steps == fair.steps


@RELAXED
@given(data=st.data())
def test_a_claimed_cost_that_is_not_paid_is_seen(data):
    """A harmless change of weights overloads a link: the derived rate says so exactly."""
    schedule, topology = some_schedule(data, "trees")
    changed = TREE_FAULTS["weight moved"](schedule, picker(data))
    if not is_right(changed, topology):
        return
    load = Counter()
    for tree in changed.trees:
        for edge in tree.edges:
            for hop in pairwise(edge):
                load[hop] += tree.weight
    capacity = Counter()
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    busiest = max(Fraction(units) / capacity[hop] for hop, units in load.items())
    assert tree_inverse_rate(changed, topology) == busiest / changed.trees_per_root


def test_the_kinds_of_subjects_are_those_they_should_be():
    links = set()
    for collective in HALVES:
        for schedule, _ in subjects("steps", collective):
            assert isinstance(schedule, StepSchedule)
            links |= {int(link) for step in schedule.steps for link in step["link"]}
        assert all(len(s.trees) > 1 for s, _ in subjects("trees", collective))
    assert {NO_LINK, 0, 1} <= links
    assert any(s.chunks_per_shard > 1 for s, _ in subjects("steps", Collective.ALLGATHER))
    assert all(isinstance(s, SequenceSchedule) for s, _ in subjects("trees", Collective.ALLREDUCE))
