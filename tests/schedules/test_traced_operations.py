"""Jobs that list their operations: times by hand, an oracle for random graphs, rules of a file."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topoloom
from tests.iteration_oracles import simulate_iteration
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.formats import operation_list
from topoloom.schedules.formats.model_file import read_model
from topoloom.schedules.iterations.communications import Cost, Row
from topoloom.schedules.iterations.traced_operations import traced_plan

F = Fraction
COLLECTIVES = ("allreduce", "allgather", "reduce-scatter", "all-to-all")


class PerByte:
    """A network on which a message takes a second per byte and disturbs no other."""

    def cost(self, kind, traffic, stage, size_bytes):
        return Cost("link", F(0), size_bytes, Row.of())


def seconds(operations, ranks=2, flops=None, **members):
    job = read_model({"operations": operations, **members}, ranks)
    return simulate_iteration(traced_plan(job, flops), PerByte()).seconds


def sent(size, *after, collective="allreduce", **more):
    return {"group": "data", "collective": collective, "bytes": size, "after": [*after], **more}


def test_a_communication_that_later_computations_wait_for_adds_its_time():
    work = [{"stream": "gpu", "seconds": 3}, sent(4, 0), {"stream": "gpu", "seconds": 5}]
    assert seconds(work) == 8
    assert seconds([*work[:2], {**work[2], "after": [1]}]) == 3 + 4 + 5
    assert seconds([work[0], sent(7, 0), work[2]]) == 3 + 7


def test_the_time_on_a_ring_is_the_closed_form():
    # 4 hosts send 1 GB/s each way: an allreduce of 1 GB moves 2 * 3/4 GB, half of it each way.
    work = [{"stream": "gpu", "seconds": 1}, sent(10**9, 0), {"stream": "gpu", "seconds": 1}]
    found = {}
    for name, after in (("beside", []), ("before", [1])):
        work[2]["after"] = after
        found[name] = topoloom.iteration(
            {"operations": work}, 4, 2, node_gbps=16, alpha_us="0.000001", topology="BiRing(4)"
        ).best
    hidden, shown = found["beside"].iteration, found["before"].iteration
    assert (hidden.seconds, hidden.exposed_seconds) == (2, 0)
    assert abs(shown.seconds - (2 + F(3, 4))) < F(1, 10**9)
    assert shown.exposed_seconds == shown.seconds - 2


def test_the_groups_of_a_job_give_an_allgather_its_size():
    gather = {"group": "tensor", "collective": "allgather", "shard_bytes": 3}
    assert seconds([gather], ranks=8, parallel={"tensor": 4, "data": 2}) == 12
    assert seconds([gather | {"group": "tensor+data"}], 8, parallel={"tensor": 4, "data": 2}) == 24
    assert seconds([gather], ranks=8) == 0


def test_operations_are_counted_at_the_rate_of_an_accelerator():
    work = [{"stream": "gpu", "flops": 60}, {"stream": "gpu", "seconds": 1}]
    assert seconds(work, flops=F(20)) == 4
    with pytest.raises(NoSchedule, match=r"/accelerator: must be given: operation 0"):
        seconds(work)
    found = topoloom.iteration({"operations": work}, 2, 1, accelerator="a100", efficiency=1)
    assert found.best.seconds == 1 + 60 / F("312e12")
    assert any("--efficiency" in note for note in found.notes)


def test_computations_without_a_stream_run_one_after_another():
    work = [{"seconds": 2}, {"flops": 8}, {"seconds": 1, "host": True}, {"after": [2]}]
    assert seconds(work, flops=F(1)) == 10


def test_stages_send_to_their_neighbors():
    work = [
        {"stream": "gpu", "seconds": 2},
        {"collective": "send-next", "bytes": 5, "after": [0], "stage": 0},
        {"stream": "gpu", "seconds": 3, "stage": 1, "after": [1]},
    ]
    assert seconds(work, parallel={"pipeline": 2}) == 10
    with pytest.raises(NoSchedule, match=r"must have pipeline=2, the stages of the operations"):
        seconds(work)


@st.composite
def graphs(draw):
    """Return random operations: computations on some streams, collectives on others."""
    work = []
    for index in range(draw(st.integers(1, 12))):
        after = draw(st.sets(st.integers(0, index - 1), max_size=3)) if index else ()
        size = draw(st.integers(0, 9))
        if draw(st.booleans()):
            stream = draw(st.sampled_from(["compute", "gpu", "copy"]))
            work.append({"stream": stream, "seconds": size, "after": sorted(after)})
        elif draw(st.booleans()):
            work.append({"after": sorted(after)})
        else:
            stream = draw(st.sampled_from(["nccl 1", "nccl 2"]))
            collective = draw(st.sampled_from(COLLECTIVES))
            work.append(sent(size, *sorted(after), collective=collective, stream=stream))
    return work


@given(graphs())
def test_an_operation_starts_after_its_stream_and_those_it_waits_for(work):
    ends, streams = [], {}
    for one in work:
        before = [ends[other] for other in one["after"]]
        stream = one.get("stream", f"none {len(ends)}")
        start = max([*before, streams.get(stream, 0)])
        ends.append(start + one.get("seconds", one.get("bytes", 0)))
        streams[stream] = ends[-1]
    assert seconds(work) == max(ends)


WRONG = [
    ([], "/operations: must be a list of at least one operation"),
    ([{"second": 1}], "/operations/0/second: must be one of"),
    ([{"after": [0]}], "/operations/0/after/0: must be the index of an earlier operation"),
    ([{}, {"after": [True]}], "/operations/1/after/0: must be the index of an earlier operation"),
    ([{"after": 1}], "/operations/0/after: must be a list of indices"),
    ([{"seconds": -1}], "/operations/0/seconds: must be from 0"),
    ([{"host": 1}], "/operations/0/host: must be true or false"),
    ([{"stage": 1024}], "/operations/0/stage: must be an integer from 0 to 1023"),
    ([{"bytes": 1}], "/operations/0/bytes: must not be given without a collective"),
    ([sent(1, seconds=1)], "/operations/0/seconds: must not be given with a collective"),
    ([sent(1, collective="reduce")], "/operations/0/collective: must be one of allreduce"),
    ([sent(1, group="pipeline")], "/operations/0/group: must be one of tensor"),
    ([sent(1, collective="send-next")], "/operations/0/group: must not be given for a send"),
    ([sent(1, shard_bytes=1)], "/operations/0/shard_bytes: must be for an allgather, instead of"),
    ([sent("1")], "/operations/0/bytes: must be an integer"),
    ([sent(1, stream=str(at)) for at in range(65)], "/operations: must have at most 64 streams"),
]


@pytest.mark.parametrize(("operations", "rule"), WRONG, ids=[rule[:60] for _, rule in WRONG])
def test_an_operation_that_breaks_a_rule_is_named(operations, rule):
    with pytest.raises(NoSchedule) as error:
        seconds(operations)
    assert str(error.value).startswith(rule)


def test_limits_are_explicit(monkeypatch):
    monkeypatch.setattr(operation_list, "MAX_OPERATIONS", 3)
    monkeypatch.setattr(operation_list, "MAX_DEPENDENCES", 2)
    with pytest.raises(TooLarge, match="at most 3 operations, not 4"):
        seconds([{}] * 4)
    with pytest.raises(TooLarge, match="at most 2 entries of after"):
        seconds([{}, {"after": [0]}, {"after": [0, 1]}])
    with pytest.raises(NoSchedule, match=r"/microbatches: must not be given for a traced job"):
        topoloom.iteration({"operations": [{}]}, 2, 1, node_gbps=1, microbatches=2)
    with pytest.raises(NoSchedule, match=r"/layers: must be one of name, operations"):
        seconds([{}], layers=[])
