"""Tables of NCCL's collectives and rings: what a rank runs, and every broken line."""

from fractions import Fraction

import pytest

from tests.cases import for_every
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.formats.collective_trace import (
    TraceOptions,
    read_kernel_times,
    read_rings,
    read_trace,
)
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.network_curves.ring_collective import Channel

HEAD = (
    "goal_rank,stream,start,end,commId,collective,algo,proto,nranks,data_size,channels,chunkSteps,"
    "sliceSteps,stepSize"
)
RING_HEAD = "commId,channelId,myRank,nextRank,nodeId"


def row(start, end, collective="AllReduce", algo="ring", rank=0, stream="s", channels=1, size=4096):
    return f"{rank},{stream},{start},{end},c,{collective},{algo},simple,4,{size},{channels},4,2,256"


def read(*rows, rings=None, head=HEAD, **options):
    return read_trace("\n".join((head, *rows)), rings or {}, TraceOptions(**options))


def test_collectives_of_a_stream_keep_the_gaps_between_them():
    trace = read(row(100, 150), row(180, 220), row(90, 95, rank=1))
    (stream,) = trace.program.streams
    assert (stream.fixed, trace.program.measured) == (30, 120)
    ((work, count),) = stream.collectives.items()
    assert (work.collective, work.ranks, count) == (Collective.ALLREDUCE, 4, 2)
    # The whole buffer is one chunk of each rank, in two slices.
    assert work.channels == (Channel((0, 0, 0, 0)[:1], (512, 512)),)
    assert trace.without_ring == 2


def test_streams_are_apart_only_if_collectives_overlap():
    assert len(read(row(0, 9), row(9, 12, stream="t")).program.streams) == 1
    first, second = read(row(0, 9), row(5, 12, stream="t")).program.streams
    # The second stream waits for its start.
    assert (first.fixed, second.fixed) == (0, 5)


def test_other_algorithms_and_collectives_keep_their_measured_time():
    trace = read(row(0, 50), row(50, 57, algo="tree"), row(60, 64, "Broadcast"))
    assert trace.fixed == {"AllReduce tree": 1, "Broadcast ring": 1}
    assert trace.program.streams[0].fixed == 7 + 3 + 4


def test_rings_state_which_hops_leave_a_host_and_channels_share_an_interface():
    ring = ["0,1,a", "1,2,a", "2,3,b", "3,0,b"]
    text = "\n".join([RING_HEAD, *(f"c,{channel},{one}" for channel in (0, 1) for one in ring)])
    rings = read_rings(text)
    assert rings == {"c": [((0, False), (1, True), (2, False), (3, True))] * 2}
    (work,) = read(row(0, 9, channels=2), rings=rings).program.collectives
    assert {channel.sharing for channel in work.channels} == {(0, 2)}
    (work,) = read(row(0, 9, channels=2), rings=rings, separate_channels=True).program.collectives
    assert {channel.sharing for channel in work.channels} == {(0, 1)}


def test_without_rings_ranks_follow_each_other_with_some_on_each_host():
    (work,) = read(row(0, 9), accelerators_per_host=2).program.collectives
    assert work.channels[0].sharing == (0, 1)


def test_stated_bytes_of_channels_replace_the_even_share():
    head = f"{HEAD},channel_work_bytes,channel_chunk_bytes"
    one = row(0, 9, "AllGather", channels=2)
    (work,) = read(f'{one},"96,32","64,64"', head=head).program.collectives
    assert [channel.messages for channel in work.channels] == [(32, 32, 16, 16), (16, 16)]


@for_every(
    ("rows", "rule"),
    [
        ((row(9, 5),), "line 2: end must be at least start"),
        ((row("x", 5),), "line 2: 'start' must be a whole number"),
        ((row(0, 5, size=0),), "line 2: sizes must be at least 1"),
        (("0,s,0,5",), "line 2: must have a field per column"),
        ((row(0, 5, rank=3),), "must have a collective in the column 'goal_rank'"),
        ((row(0, 5, channels=2000),), "at most 1024 channels"),
    ],
)
def test_a_broken_row_is_named(rows, rule):
    with pytest.raises(NoSchedule, match=rule):
        read(*rows)


def test_a_missing_column_is_named():
    with pytest.raises(NoSchedule, match="line 1: must have the column 'algo'"):
        read(row(0, 5), head=HEAD.replace("algo", "algorithm"))
    with pytest.raises(NoSchedule, match="line 1: must have the column 'stepSize'"):
        read(row(0, 5), head=HEAD.replace("stepSize", "step"))


@for_every(
    ("rows", "rule"),
    [
        (("c,0,0,1,a", "c,0,1,2,a"), "channel 0 of communicator c must be one ring"),
        (("c,0,0,0,a", "c,0,1,1,a"), "must be one ring"),
        (("c,0,0,1,a", "c,0,1,0,a"), "'nranks' must be the ranks of the communicator's rings"),
    ],
)
def test_rings_must_be_rings_of_all_ranks(rows, rule):
    with pytest.raises(NoSchedule, match=rule):
        read(row(0, 9), rings=read_rings("\n".join((RING_HEAD, *rows))))


@for_every(
    ("document", "rule"),
    [
        ([], "must be an object from bytes"),
        ({"NPKIT_EVENT_GPU_RECV_REDUCE_SEND": {"x": [1]}}, "whole numbers of bytes"),
        ({"NPKIT_EVENT_GPU_RECV_REDUCE_SEND": {"1": []}}, "must be a list of nanoseconds"),
        ({"NPKIT_EVENT_GPU_RECV_REDUCE_SEND": {"1": [-1]}}, "at least 0"),
    ],
)
def test_kernel_times_must_be_measurements(document, rule):
    with pytest.raises(NoSchedule, match=rule):
        read_kernel_times(document)


def test_kernel_times_are_means_and_linear_between_sizes():
    events = {"8": [10, 20], "16": [35]}
    names = "NPKIT_EVENT_GPU_RECV_REDUCE_SEND", "NPKIT_EVENT_GPU_DIRECT_RECV_COPY_SEND"
    kernels = read_kernel_times(dict.fromkeys(names, events))
    assert [kernels.copy(size) for size in (1, 8, 12, 16, 99)] == [15, 15, 25, 35, 35]
    assert Fraction(kernels.reduction(12)) == 25
