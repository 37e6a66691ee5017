"""Process groups: the ranks of a job, their hosts, and what must not be given."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import (
    DIMENSIONS,
    Placement,
    ProcessGroups,
    require_groups,
)
from topoloom.synth.topology.topology import Topology

JOBS = st.lists(
    st.tuples(st.sampled_from(DIMENSIONS), st.integers(1, 4)), min_size=1, unique_by=lambda x: x[0]
).map(lambda sizes: ProcessGroups(tuple(sizes)))


def ring(nodes):
    return Topology(range(nodes), [(i, (i + s) % nodes) for i in range(nodes) for s in (1, -1)])


@pytest.mark.slow
@given(JOBS)
def test_two_ranks_share_a_group_iff_they_differ_in_its_dimension_alone(job):
    names = [name for name, _ in job.sizes]
    for kind in job.kinds:
        group_of = {rank: at for at, group in enumerate(job.groups(kind)) for rank in group}
        assert sorted(group_of) == list(range(job.rank_count))
        for a, b in combinations(range(job.rank_count), 2):
            pairs = zip(names, job.coordinates(a), job.coordinates(b), strict=True)
            other = {name for name, x, y in pairs if x != y}
            assert (group_of[a] == group_of[b]) == (other <= {kind})


@given(JOBS)
def test_coordinates_count_through_the_first_dimension_fastest(job):
    weights = [1]
    for _, size in job.sizes[:-1]:
        weights.append(weights[-1] * size)
    for rank in range(job.rank_count):
        pairs = zip(job.coordinates(rank), weights, strict=True)
        assert sum(at * weight for at, weight in pairs) == rank


def test_a_kind_of_several_dimensions_joins_their_groups():
    job = ProcessGroups.parse("tensor=2, expert=2, data=3")
    assert job.groups("expert+data") == job.groups("data+expert")
    assert job.groups("expert+data")[0] == (0, 2, 4, 6, 8, 10)


def test_the_table_lists_every_group_of_every_dimension_with_its_hosts():
    placed = Placement.in_order(ProcessGroups.parse("tensor=2,pipeline=1,data=3"), ring(6))
    assert [(row.kind, row.number) for row in placed.table] == [
        ("tensor", 0), ("tensor", 1), ("tensor", 2), ("data", 0), ("data", 1),
    ]  # fmt: skip
    assert placed.table[-1].hosts == (1, 3, 5)


def test_ranks_may_be_placed_in_any_order():
    placed = Placement(ProcessGroups.parse("tensor=2,data=2"), (3, 0, 2, 1))
    assert placed.groups("tensor") == ((3, 0), (2, 1))
    assert placed.coordinates(1) == (1, 1)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("tensor=4", "must multiply to the 6 hosts; tensor=4 has 4 ranks"),
        ("tensor=2,data=4", "must multiply to the 6 hosts; tensor=2,data=4 has 8 ranks"),
        ("tensr=6", "must be one of .*; not 'tensr'; did you mean tensor"),
        ("tensor=2,tensor=3", "must name tensor once"),
        ("tensor=0,data=6", "the size of tensor must be an integer from 1"),
        ("tensor", "must be sizes such as tensor=8,data=4; got 'tensor'"),
        ("tensor=-6", "must be sizes such as"),
        ("", "must be sizes such as"),
    ],
)
def test_sizes_that_make_no_groups_of_the_hosts_are_refused(text, rule):
    with pytest.raises(NoSchedule, match=rule) as refused:
        Placement.in_order(ProcessGroups.parse(text), ring(6))
    assert refused.value.field == "/groups"


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("dat", "must be one of tensor, data, pipeline; not 'dat'; did you mean data"),
        ("expert", "must be one of tensor, data, pipeline; not 'expert'"),
        ("pipeline", "must have at least 2 ranks; pipeline has 1"),
    ],
)
def test_an_unknown_kind_of_group_is_refused(kind, rule):
    with pytest.raises(NoSchedule, match=rule) as refused:
        ProcessGroups.parse("tensor=2,data=3,pipeline=1").groups(kind)
    assert refused.value.field == "/group"


@pytest.mark.parametrize(
    ("groups", "rule"),
    [
        ([], "at least one group"),
        ([[0]], "group 0 must have at least 2 hosts"),
        ([[0, 1], [2, 1]], "1 is in two groups"),
        ([[0, 0]], "0 is twice in one group"),
        ([[0, 9]], "9 is no node of the topology"),
        ([["s", 1]], "'s' is a switch"),
        ([[0, 1], [2, 3, 4]], "the same number of hosts"),
    ],
)
def test_lists_of_hosts_that_are_no_groups_are_refused(groups, rule):
    star = Topology([*range(6), "s"], [], switches=["s"])
    with pytest.raises(NoSchedule, match=rule):
        require_groups(star, groups)


def test_a_host_with_two_ranks_is_refused():
    with pytest.raises(NoSchedule, match="'a' is twice"):
        Placement(ProcessGroups.parse("data=2"), ("a", "a"))
