"""What is wrong with a schedule of unequal shards or of a group is found."""

from dataclasses import replace

from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule, Tree, TreeSchedule
from topoloom.schedules.trees.forestcoll import allgather, broadcast
from topoloom.schedules.verify import violations
from topoloom.synth.fabrics import fabric

BOXES = fabric("dgx-a100-2")
PAIRS = ["0.gpu0", "0.gpu1", "1.gpu0", "1.gpu1"]


def planted(schedule: TreeSchedule) -> dict[str, TreeSchedule]:
    """Return copies of a schedule among a group, each with one fault."""
    first, *rest = schedule.trees
    idle = schedule.idle[0]
    stranger = replace(first, edges=(*first.edges, (first.edges[-1][0], "0.nvswitch", idle)))
    through = next(rank for rank in schedule.ranks if rank not in first.edges[0])
    crossing = (first.edges[0][0], "0.nvswitch", through, "0.nvswitch", first.edges[0][-1])
    return {
        "too little of a shard": replace(schedule, trees=tuple(rest)),
        "a shard of another size": replace(schedule, shards=(2, 1, 1)),
        "no size at all": replace(schedule, shards=(0, 0, 0)),
        "a negative size": replace(schedule, shards=(3, -1, 1)),
        "one size too few": replace(schedule, shards=(1, 1)),
        "an idle node receives": replace(schedule, trees=(stranger, *rest)),
        "an idle node is a root": replace(
            schedule, trees=(*schedule.trees, Tree(idle, 1, first.edges))
        ),
        "a rank only forwards": replace(
            schedule, trees=(replace(first, edges=(crossing, *first.edges[1:])), *rest)
        ),
        "a node is missing": replace(schedule, idle=schedule.idle[1:]),
        "nobody is idle": replace(schedule, idle=()),
        "a rank is forgotten": replace(
            schedule, trees=(replace(first, edges=first.edges[:1]), *rest)
        ),
        "all at one root": replace(schedule, collective=Collective.BROADCAST),
    }


def test_every_planted_fault_is_found() -> None:
    box = fabric("dgx-a100-1")
    schedule = allgather(box, participants=["0.gpu0", "0.gpu1", "0.gpu2"])
    assert violations(schedule, box) == []
    for fault, wrong in planted(schedule).items():
        assert violations(wrong, box) != [], fault


def test_two_roots_are_no_broadcast() -> None:
    schedule = broadcast(BOXES, "0.gpu0")
    other = replace(schedule.trees[0], root="0.gpu1")
    for wrong in (
        replace(schedule, shards=()),
        replace(schedule, shards=(2, *schedule.shards[1:])),
        replace(schedule, shards=(1, 1, *schedule.shards[2:])),
        replace(schedule, trees=(other, *schedule.trees[1:])),
        replace(schedule, collective=Collective.REDUCE),
    ):
        assert violations(wrong, BOXES) != []


def test_both_passes_of_an_allreduce_have_the_same_shards_and_ranks() -> None:
    whole = make(BOXES, "allreduce", "forestcoll", shards={"0.gpu0": 3, "1.gpu5": 1})
    assert isinstance(whole, SequenceSchedule)
    for gather in (
        allgather(BOXES),
        allgather(BOXES, shards={"0.gpu0": 1, "1.gpu5": 3}),
        allgather(BOXES, participants=["0.gpu0", "1.gpu5"]),
    ):
        mixed = replace(whole, parts=(whole.parts[0], gather))
        assert [found.place for found in violations(mixed, BOXES)] == ["/parts"]
