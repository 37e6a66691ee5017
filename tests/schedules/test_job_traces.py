"""Traces of jobs: times by hand, groups as dimensions, round trips, and one error for bad files."""

import gzip
import json
from fractions import Fraction
from itertools import accumulate, product
from math import prod

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import topoloom
from tests.iteration_oracles import simulate_iteration
from tests.schedules.job_trace_files import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BARRIER,
    BROADCAST,
    COLL,
    COMP,
    RECV,
    REDUCE_SCATTER,
    SEND,
    collective,
    compute,
    et,
    kernel,
    nccl,
    node,
)
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.formats.iteration_timeline import timeline_traces
from topoloom.schedules.formats.job_traces import trace_files
from topoloom.schedules.formats.job_traces.node_order import node_order
from topoloom.schedules.formats.job_traces.rank_grid import rank_grid
from topoloom.schedules.formats.job_traces.trace_files import trace_model
from topoloom.schedules.formats.model_file import read_model
from topoloom.schedules.groups.process_groups import DIMENSIONS, ProcessGroups
from topoloom.schedules.iterations.communications import Cost, Row
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.traced_operations import traced_plan
from topoloom.schedules.iterations.training_job import Layer, Sharding, TrainingJob

F = Fraction
MICRO = F(1, 10**6)


class PerByte:
    """A network on which a message takes 1 us per byte; it records every message."""

    def __init__(self):
        self.seen = set()

    def cost(self, kind, traffic, stage, size_bytes):
        self.seen.add((kind, str(traffic), int(size_bytes)))
        return Cost("link", F(0), size_bytes * MICRO, Row.of())


def micros(model, ranks=None, network=None, flops=None):
    """Return the time of a model in microseconds."""
    job = read_model(model, ranks or prod(model["parallel"].values()))
    return simulate_iteration(traced_plan(job, flops), network or PerByte()).seconds / MICRO


def traced(*ranks, **files):
    """Return the model of nodes by rank, and of further files."""
    made = {f"trace.{rank}.et": et(nodes) for rank, nodes in enumerate(ranks)}
    return trace_model({**made, **files}, "/model")


def test_one_computation_and_one_allreduce():
    work = [compute(1, 30), collective(2, ALL_REDUCE, 40, [1])]
    assert micros(traced(work, work)) == 30 + 40
    # A later computation that does not wait hides the collective; one that waits exposes it.
    assert micros(traced(*[[*work, compute(3, 50)]] * 2)) == 30 + 50
    assert micros(traced(*[[*work, compute(3, 50, [2])]] * 2)) == 30 + 40 + 50


def test_a_trace_is_a_job_of_the_whole_interface():
    files = {
        f"trace.{rank}.et": et([compute(1, 30), collective(2, ALL_REDUCE, 10**9, [1])])
        for rank in range(4)
    }
    found = topoloom.iteration(
        {"traces": files, "name": "mine"},
        4,
        2,
        node_gbps=16,
        alpha_us="0.000001",
        topology="BiRing(4)",
    )
    assert found.best.iteration.job.name == "mine"
    # 2 * 3/4 GB, half each way at 1 GB/s.
    assert abs(found.best.seconds - 30 * MICRO - F(3, 4)) < F(1, 10**9)


GROUPS = {"1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]}


def of_rank(rank):
    """Return a rank of two groups of two: an allgather within, a reduce-scatter across."""
    rows, columns = str(1 + rank // 2), str(3 + rank % 2)
    return [
        compute(1, 5),
        collective(2, ALL_GATHER, 3, [1], rows),
        collective(3, ALL_GATHER, 3, [2], rows),
        collective(4, REDUCE_SCATTER, 7, [3], columns),
    ]


def test_groups_become_dimensions_and_an_allgather_has_the_shards_of_all_ranks():
    model = traced(*map(of_rank, range(4)), groups=json.dumps(GROUPS))
    assert model["parallel"] == {"tensor": 2, "data": 2}
    network = PerByte()
    assert micros(model, network=network) == 5 + 2 * 3 + 2 * 3 + 7
    assert network.seen == {("tensor", "allgather", 6), ("data", "reduce-scatter", 7)}


def test_one_rank_of_every_stage_is_enough():
    whole = traced(*map(of_rank, range(4)), groups=json.dumps(GROUPS))
    one = traced(of_rank(0), groups=json.dumps(GROUPS))
    assert one["operations"] == whole["operations"]
    assert any("1 of 4 ranks have a trace" in note for note in one["notes"])


def stages(forward=7, back=4, tag=3):
    first = [
        compute(1, 10),
        node(2, SEND, [1], comm_dst=1, comm_tag=tag, comm_size=forward),
        node(3, RECV, comm_src=1, comm_tag=tag, comm_size=back),
        compute(4, 20, [3]),
    ]
    last = [
        node(1, RECV, comm_src=0, comm_tag=tag, comm_size=forward),
        compute(2, 30, [1]),
        node(3, SEND, [2], comm_dst=0, comm_tag=tag, comm_size=back),
    ]
    return first, last


def test_stages_wait_for_the_messages_of_each_other():
    model = traced(*stages())
    assert model["parallel"] == {"pipeline": 2}
    network = PerByte()
    assert micros(model, network=network) == 10 + 7 + 30 + 4 + 20
    assert network.seen == {("pipeline", "send-next", 7), ("pipeline", "send-previous", 4)}


def test_types_of_collectives_and_of_nodes():
    work = [
        node(1, 1, name="metadata"),
        node(2, 2, [1], tensor_size=9),
        node(3, 3, [2], 4),
        collective(4, BROADCAST, 5, [3]),
        collective(5, BARRIER, 0, [4]),
        collective(6, ALL_TO_ALL, 8, [5], comm_priority=1),
        node(7, COMP, [6], 2, is_cpu_op=True, tid=3),
        node(8, COMP, [7], num_ops=600),
        node(9, COLL, [8], 1, is_cpu_op=True, name="c10d::allreduce_"),
    ]
    model = traced(work, work)
    network = PerByte()
    assert micros(model, network=network, flops=F(10**8)) == 4 + 5 + 8 + 2 + 6 + 1
    assert network.seen == {
        ("data", kind, size)
        for kind, size in (("allgather", 5), ("allreduce", 0), ("all-to-all", 8))
    }
    notes = " ".join(model["notes"])
    for said in (
        "broadcast or gather runs as",
        "Loads and stores",
        "A collective without a group",
        "no start times",
        "floating-point operations",
    ):
        assert said in notes


def test_a_group_of_all_ranks_may_be_open():
    model = traced([collective(1, ALL_GATHER, 3)])
    assert "parallel" not in model
    assert micros(model, ranks=5) == 15
    assert any("--nodes" in note for note in model["notes"])


def test_the_callers_of_a_pytorch_trace_are_no_dependences_and_define_groups():
    groups = '[{"pg_name": "7", "ranks": [0, 1], "pg_desc": "dp"}]'
    work = [
        node(1, 1, name="## process_group:init ##", inputs=str([groups])),
        node(2, COMP, [1], 3, ctrl=[99], is_cpu_op=True, rf_id=4, tid=1),
        collective(3, ALL_REDUCE, 6, [2], "7"),
    ]
    model = traced(work)
    assert model["parallel"] == {"data": 2}
    assert micros(model) == 9
    with pytest.raises(NoSchedule, match=r"trace.0.et: node 2: must depend on nodes of the file"):
        traced([compute(1, 1), node(2, COMP, [1], 3, ctrl=[99])])


@st.composite
def plain_graphs(draw):
    """Return the nodes of a rank: computations, collectives of all ranks, joins."""
    made = []
    for number in range(1, draw(st.integers(1, 10)) + 1):
        after = sorted(draw(st.sets(st.integers(1, number - 1), max_size=3))) if number > 1 else []
        size = draw(st.integers(0, 9))
        if draw(st.booleans()):
            made.append(compute(number, size, after))
        else:
            kind = draw(st.sampled_from([ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER]))
            made.append(collective(number, kind, size, after))
    return made


@given(plain_graphs())
def test_json_forms_say_the_same_as_protobuf(work):
    assume(any(one["micros"] or one["type"] == COLL for one in work))
    names = {COMP: "COMP_NODE", COLL: "COMM_COLL_NODE"}
    stage = [
        {
            "id": one["id"],
            "name": one["name"],
            "node_type": names[one["type"]].lower(),
            "data_deps": one["after"],
            "ctrl_deps": [],
            "runtime": one["micros"],
            **one["attributes"],
        }
        for one in work
    ]
    feeder = [
        {
            "Id": one["id"],
            "Name": one["name"],
            "NodeType": one["type"],
            "data_deps": one["after"],
            "runtime": one["micros"],
            **one["attributes"],
        }
        for one in work
    ]
    jsonized = [{"version": "0.0.4"}] + [
        {
            "id": str(one["id"]),
            "name": one["name"],
            "type": names[one["type"]],
            "dataDeps": [str(other) for other in one["after"]],
            "durationMicros": str(one["micros"]),
            "attr": [
                {"name": name, "int64Val": str(int(value))}
                for name, value in one["attributes"].items()
            ],
        }
        for one in work
    ]
    wanted = traced(work, work)["operations"]
    for content in (
        json.dumps({"nodes": stage}),
        {"workload_graph": feeder},
        "".join(json.dumps(one, indent=2) for one in jsonized),
        gzip.compress(et(work)),
    ):
        files = {f"t.{rank}": content for rank in range(2)}
        assert trace_model(files, "")["operations"] == wanted


def test_names_of_stage_for_types_are_read():
    work = [
        {
            "id": 1,
            "name": "a",
            "node_type": "coll_comm_node",
            "comm_type": "ALL_TO_ALL",
            "comm_size": 4,
            "comm_group": 1,
            "data_deps": [],
            "ctrl_deps": [],
        }
    ]
    files = {"w.0.json": {"nodes": work}, "w.json": {"1": [0, 1, 2]}}
    assert trace_model(files, "")["parallel"] == {"expert": 3}


@st.composite
def grids(draw):
    """Return sizes of digits, and sets of digits that form groups."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    kinds = draw(
        st.sets(
            st.sets(st.integers(0, len(sizes) - 1), min_size=1).map(frozenset),
            min_size=1,
            max_size=5,
        )
    )
    return sizes, sorted(map(sorted, kinds))


def groups_over(sizes, kind):
    """Return the groups of ranks that differ in some digits, by brute force."""
    found = {}
    for digits in product(*(range(size) for size in reversed(sizes))):
        rank = 0
        for size, digit in zip(reversed(sizes), digits, strict=True):
            rank = rank * size + digit
        outside = tuple(d for at, d in enumerate(reversed(digits)) if at not in kind)
        found.setdefault(outside, []).append(rank)
    return [tuple(sorted(one)) for one in found.values()]


@given(grids(), st.booleans())
def test_the_groups_of_a_grid_are_found_again(grid, one_group_each):
    sizes, kinds = grid
    listed = {tuple(kind): groups_over(sizes, kind) for kind in kinds}
    used = {one: 1 for groups in listed.values() for one in groups[: 1 if one_group_each else None]}
    found = rank_grid(prod(sizes), used)
    assert found.ranks == prod(sizes)
    assert len(set(found.names)) == len(found.names) <= len(DIMENSIONS)
    processes = ProcessGroups(tuple(zip(found.names, found.sizes, strict=True)))
    for groups in listed.values():
        for group in groups if not one_group_each else groups[:1]:
            assert group in processes.groups("+".join(found.dimensions(group)))


@pytest.mark.parametrize(
    ("ranks", "groups"),
    [
        (4, [(0, 3)]),
        (6, [(0, 1), (1, 2)]),
        (8, [(0, 1, 2)]),
        (8, [(0, 1, 2, 4)]),
        (5, [(0, 1)]),
        (64, [(0, 2**at) for at in range(6)]),
    ],
)
def test_groups_that_are_no_grid_are_refused(ranks, groups):
    with pytest.raises(NoSchedule):
        rank_grid(ranks, dict.fromkeys(groups, 1))


def test_titles_of_groups_name_dimensions():
    titles = {(0, 1): "mesh_dp", (0, 2): "TENSOR_MODEL_PARALLEL_GROUP", (0, 4): "mesh_pp"}
    found = rank_grid(8, dict.fromkeys(titles, 1), titles=titles)
    assert found.names == ("data", "tensor", "pipeline")


@st.composite
def orders(draw):
    count = draw(st.integers(1, 8))
    before = [
        draw(st.sets(st.integers(0, at - 1), max_size=2)) if at else set() for at in range(count)
    ]
    order = draw(st.permutations(range(count)))
    place = {old: new for new, old in enumerate(order)}
    moved = [sorted(place[one] for one in before[old]) for old in order]
    streams = draw(st.lists(st.sampled_from(["", "a", "b"]), min_size=count, max_size=count))
    numbers = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    return moved, streams, draw(numbers), draw(numbers)


@given(orders())
@example(([(), (0,), ()], ["a", "a", "a"], [0, 0, 0], [2, 1, 1]))
def test_an_order_keeps_dependences_and_runs_what_is_ready_first(asked):
    before, streams, starts, lengths = asked
    order = node_order(before, streams, starts, lengths)
    assert sorted(order) == list(range(len(before)))
    at = {one: place for place, one in enumerate(order)}
    assert all(at[other] < at[one] for one, others in enumerate(before) for other in others)
    if any(starts):
        kept = [starts[one] for one in order if not before[one]]
        assert kept == sorted(kept)
        return
    ends, free = {}, {}
    for one in order:
        ready = max((ends[other] for other in before[one]), default=0)
        began = max(ready, free.get(streams[one], 0)) if streams[one] else ready
        waiting = [
            other
            for other in order
            if at[other] > at[one]
            and streams[other] == streams[one]
            and streams[one]
            and all(before_it in ends for before_it in before[other])
        ]
        for other in waiting:
            # No waiting operation was ready before this one.
            assert ready <= max((ends[it] for it in before[other]), default=0)
        ends[one] = began + lengths[one]
        free[streams[one]] = ends[one]


@st.composite
def jobs(draw):
    """Return jobs whose times are whole microseconds, and whose bytes divide evenly."""
    sizes = {
        name: draw(st.sampled_from([1, 2])) for name in ("tensor", "expert", "data", "pipeline")
    }
    experts = sizes["expert"] > 1
    layers = tuple(
        Layer(
            f"layer {at}",
            parameters=16 * draw(st.integers(0, 3)),
            experts=2 if experts else 0,
            forward_seconds=draw(st.integers(1, 5)) * MICRO,
            backward_seconds=2 * draw(st.integers(0, 5)) * MICRO,
            tensor_width=16 * draw(st.integers(0, 2)),
            expert_bytes=(8,) if experts else (),
        )
        for at in range(draw(st.integers(2, 3)))
    )
    sharding = draw(st.sampled_from(list(Sharding)))
    return TrainingJob(
        *("job", layers, ProcessGroups.of(sizes)),
        microbatches=draw(st.integers(1, 3)),
        width=16,
        sharding=sharding,
        bucket_bytes=draw(st.sampled_from([1, 100])),
    )


@given(jobs())
def test_timelines_written_as_traces_are_read_back(job):
    wanted = simulate_iteration(job_plan(job, layer_seconds(job)), PerByte())
    model = trace_model(dict(timeline_traces(wanted)), "")
    assert model["parallel"] == dict(job.processes.sizes)
    network = PerByte()
    assert micros(model, network=network) == wanted.seconds / MICRO
    sent = [one for one in wanted.plan.messages if one]
    assert network.seen == {(one.kind, str(one.traffic), int(one.size_bytes)) for one in sent}


def profile(events, rank=0, **about):
    return {"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 2, **about}}


def test_a_kernel_waits_for_what_had_ended_when_it_started():
    events = [
        kernel(7, 0, 30),
        nccl(20, 30, 500, "allreduce", 10, (0, 1)),
        kernel(7, 40, 50),
        kernel(7, 530, 5),
    ]
    # 10 us of the host, 50 us beside 40 us of communication, 440 us of the host, then 5 us.
    model = trace_model({"rank0.json": profile(events)}, "")
    assert model["parallel"] == {"data": 2}
    assert micros(model) == 30 + 10 + 50 + 0 + 5
    assert any("states no dependences" in note for note in model["notes"])


class Measured:
    """A network on which a message of b bytes takes b / 4 us."""

    def cost(self, kind, traffic, stage, size_bytes):
        return Cost("link", F(0), size_bytes / 4 * MICRO, Row.of())


@st.composite
def profiles(draw):
    """Return kernels of three streams without overlap in a stream, and their span."""
    events = []
    for stream in (7, 8, 20):
        gaps = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=5))
        ends = list(accumulate(gap + length for gap, length in gaps))
        for (_, length), end in zip(gaps, ends, strict=True):
            made = nccl(20, end - length, length, "allreduce", length, (0, 1))
            events.append(made if stream == 20 else kernel(stream, end - length, length))
    assume(events)
    return draw(st.permutations(events))


@given(profiles())
def test_a_profile_on_a_network_as_measured_takes_as_long_as_measured(events):
    model = trace_model({"rank0.json": profile(events)}, "")
    first = min(one["ts"] for one in events)
    last = max(one["ts"] + one["dur"] for one in events)
    assert micros(model, network=Measured()) == last - first


def test_the_last_step_of_a_profile_counts_by_the_launch_of_its_kernels():
    def step(number, start):
        return {
            "ph": "X",
            "cat": "user_annotation",
            "name": f"ProfilerStep#{number}",
            "ts": start,
            "dur": 100,
        }

    def launch(at, correlation):
        return {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "ts": at,
            "dur": 1,
            "args": {"correlation": correlation},
        }

    events = [
        step(1, 0),
        step(2, 100),
        step(3, 200),
        launch(90, 1),
        launch(150, 2),
        launch(190, 3),
        kernel(7, 160, 11, correlation=1),
        kernel(7, 171, 20, correlation=2),
        kernel(7, 201, 30, correlation=3),
        kernel(7, 331, 7),
    ]
    model = trace_model({"r.json": profile(events)}, "")
    assert micros(model, ranks=2) == 20 + 10 + 30


def test_a_group_may_have_a_first_rank_and_a_stride():
    def strided(first, stride, size):
        return {
            "Process Group Ranks": "[0, 2, ..., 6]",
            "Global rank start": first,
            "Global rank stride": stride,
            "Group size": size,
        }

    one = nccl(20, 0, 5, "allreduce", 3, (0, 2))
    one["args"] |= strided(0, 2, 4)
    model = trace_model({"r.json": profile([one]) | {"distributedInfo": {"world_size": 8}}}, "")
    assert model["parallel"] == {"tensor": 2, "data": 4}
    assert model["operations"][0]["group"] == "data"
    for values, rule in (((0, 2, 2**15 + 1), "ranks below 65536"), ((0, 0, 4), "ranks below")):
        one["args"] |= strided(*values)
        with pytest.raises(NoSchedule, match=rule):
            trace_model({"r.json": profile([one])}, "")
    many = [nccl(20, at, 1, "allreduce", 3, ()) for at in range(9)]
    for at, each in enumerate(many):
        each["args"] |= strided(at, 1, 2**15)
    with pytest.raises(NoSchedule, match="groups of 262144 ranks in all"):
        trace_model({"r.json": profile(many)}, "")


def test_profiles_of_two_stages_and_groups_by_name():
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}]
    first = [kernel(7, 0, 10), nccl(20, 10, 5, "send", 3, (0, 1), **{"Dst Rank": 1})]
    last = [nccl(20, 0, 15, "recv", 3, (0, 1), **{"Src Rank": 0}), kernel(7, 15, 20)]
    files = {"a.json": profile(first, 0, pg_config=groups), "b.json": profile(last, 1)}
    model = trace_model(files, "")
    assert model["parallel"] == {"pipeline": 2}
    assert micros(model) == 10 + 12 + 20


GOOD = [compute(1, 1), collective(2, ALL_REDUCE, 4, [1])]
BAD = {
    "truncated": ({"t.0.et": et(GOOD)[:-3]}, r"t.0.et: byte \d+ must go on with a message"),
    "empty": ({"t.0.et": b""}, "t.0.et: must begin with GlobalMetadata"),
    "no node": ({"t.0.et": et([])}, "t.0.et: must have 1 to 1000000 nodes, not 0"),
    "half a gzip": ({"t.0.et": gzip.compress(et(GOOD))[:-9]}, "t.0.et: must be a whole gzip file"),
    "unknown type": (
        {"t.0.et": et([collective(5, 12, 4)])},
        "t.0.et: node 5: comm_type must be an integer from 0 to 9",
    ),
    "unknown type of a node": (
        {"t.0.et": et([node(5, 9)])},
        "t.0.et: node 5: type must be from 1 to 7, not 9",
    ),
    "no work": ({"t.0.et": et([node(5, COMP)])}, "t.0.et: must have a computation or a comm"),
    "no size": ({"t.0.et": et([node(5, COLL, comm_type=0)])}, "node 5: must state comm_size"),
    "group not stated": (
        {"t.0.et": et([collective(5, 0, 4, group="31")])},
        "t.0.et: node 5: its group '31' must be stated, such as in comm_group.json",
    ),
    "group without its rank": (
        {"t.5.et": et([collective(5, 0, 4, group="1")]), "comm_group.json": {"1": [0, 1]}},
        "t.5.et: node 'n5': its group must have the rank 5 of the file",
    ),
    "group by name alone": (
        {"t.0.et": et([collective(5, 0, 4, group="tensor")])},
        "node 'n5': its group 'tensor' must have stated ranks",
    ),
    "rank twice": (
        {"t.0.et": et(GOOD), "u.0.et": et(GOOD)},
        "u.0.et: must not be of rank 0, whose trace is t",
    ),
    "no rank": ({"a.et": et(GOOD), "b.et": et(GOOD)}, "a.et: its name must have the rank"),
    "ids": ({"t.0.et": et([compute(1, 1), compute(1, 2)])}, "the ids of its nodes must differ"),
    "circle": (
        {"t.0.et": et([compute(1, 1, [2]), compute(2, 2, [1])])},
        "t.0.et: node 'n1': must not wait for itself in a circle",
    ),
    "rank missing": (
        {"t.0.et": et(stages()[0])},
        "t.0.et: pipeline stage 1 beside rank 0 must have a trace",
    ),
    "message missing": (
        {"t.0.et": et(stages()[0]), "t.1.et": et(stages()[1][:2])},
        "the message from stage 1 to 0 with tag 3 must be sent and received equally often",
    ),
    "bytes differ": (
        {"t.0.et": et(stages()[0]), "t.1.et": et(stages(forward=8)[1])},
        "t.1.et: node 'n1': must receive the 7 bytes that are sent",
    ),
    "no peer": (
        {"t.0.et": et([node(5, SEND, comm_size=1)])},
        "t.0.et: node 5: must state comm_dst",
    ),
    "ranks differ": (
        {"t.0.et": et(GOOD), "t.1.et": et([*GOOD, collective(3, ALL_REDUCE, 4)])},
        "must communicate as rank",
    ),
    "host trace": (
        {"t.json": {"schema": "1.0.2-chakra.0.0.4", "nodes": []}},
        "t.json: must be converted",
    ),
    "no json": ({"t.json": b'{"nodes": ['}, "t.json: must be JSON"),
    "no trace": ({"t.json": {"layers": []}}, "t.json: must have nodes, workload_graph or traceEve"),
    "only groups": ({"g.json": {"1": [0, 1]}}, "must have a trace, a file that ends in .et"),
    "two kinds": (
        {"t.0.et": et(GOOD), "p.json": profile([kernel(7, 0, 1)])},
        "t.0.et: must be a profile of PyTorch, as p.json is",
    ),
    "old profile": (
        {"p.json": profile([kernel(7, 0, 1, "ncclKernel_AllReduce")])},
        "p.json: node 0: a kernel of NCCL must state 'Collective name'",
    ),
    "no kernels": ({"p.json": profile([])}, "p.json: must have kernels of an accelerator"),
    "dtype": (
        {"p.json": profile([nccl(7, 0, 1, "allreduce", 4, (0, 1)) | {"ts": "now"}])},
        "p.json: node 0: ts must be a number of microseconds",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_error_with_file_and_node(name):
    files, rule = BAD[name]
    with pytest.raises(NoSchedule, match=rule) as error:
        trace_model(files, "/model")
    assert error.value.field == "/model"
    assert "\n" not in error.value.rule


@given(st.binary(max_size=60), st.integers(0, 200), st.booleans())
def test_any_bytes_are_a_job_or_one_error(noise, at, inserted):
    data = et([*GOOD, node(3, SEND, [2], comm_dst=1, comm_size=1)])
    at %= len(data)
    changed = data[:at] + noise + (data[at:] if inserted else data[at + len(noise) :])
    for content in (changed, noise, b'{"nodes": ' + noise):
        try:
            model = trace_model({"t.0.et": content}, "")
        except (NoSchedule, TooLarge):
            continue
        assert read_model(model, prod(model.get("parallel", {}).values())).operations


def places_in(value, before=()):
    """Return the path of every member of parsed JSON."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        one for key, held in items for one in ((*before, key), *places_in(held, (*before, key)))
    ]


JSON_FILES = [
    {
        "t.0.json": {
            "nodes": [
                {"id": 1, "name": "a", "node_type": "comp_node", "runtime": 3},
                {
                    "id": 2,
                    "name": "b",
                    "node_type": "coll_comm_node",
                    "comm_type": "ALL_TO_ALL",
                    "comm_size": 4,
                    "comm_group": 1,
                    "data_deps": [1],
                    "ctrl_deps": [],
                },
            ]
        },
        "g.json": {"1": [0, 1]},
    },
    {"t.0.json": {"workload_graph": [{"Id": 1, "Name": "x", "NodeType": 4, "runtime": 3}]}},
    {
        "p.json": profile(
            [kernel(7, 0, 10), nccl(20, 10, 5, "broadcast", 3, (0, 1))],
            pg_config=[{"pg_name": "0", "pg_desc": "dp", "ranks": [0, 1]}],
        )
    },
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["[0, 1]", "[0, ..., 9]", [[]], {"a": 1}, [-1], ["x"], 2**70]),
)


@given(st.sampled_from(JSON_FILES), VALUES, st.data())
def test_any_value_in_a_json_trace_is_a_job_or_one_error(files, value, data):
    changed = json.loads(json.dumps(files))
    *path, last = data.draw(st.sampled_from(places_in(changed)))
    held = changed
    for key in path:
        held = held[key]
    held[last] = value
    try:
        model = trace_model(changed, "")
        assert micros(model, ranks=prod(model.get("parallel", {}).values())) >= 0
    except (NoSchedule, TooLarge) as error:
        assert "\n" not in error.rule


def test_limits_are_explicit(monkeypatch):
    monkeypatch.setattr(trace_files, "MAX_BYTES", 10_000)
    bomb = gzip.compress(bytes(10**6))
    with pytest.raises(TooLarge, match="at most 10000 bytes in all, unpacked"):
        trace_model({"t.0.et": bomb}, "")
    monkeypatch.setattr(trace_files, "MAX_NODES", 3)
    with pytest.raises(TooLarge, match="at most 3 nodes in all; one rank of each stage is enough"):
        traced(GOOD, GOOD)
    monkeypatch.setattr(trace_files, "MAX_FILES", 1)
    with pytest.raises(TooLarge, match="must be 1 to 1 files, not 2"):
        traced(GOOD, GOOD)
