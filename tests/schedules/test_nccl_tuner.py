import random
import re
from fractions import Fraction
from itertools import permutations
from math import ceil, log2

import networkx as nx
import pytest

from tests.cases import for_every
from tests.schedule_oracles import matching_row, ring, shortest_steps
from tests.schedules.export_cases import EVERY, schedule_of, topology_of
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.formats.inspection.check_program import program_violations
from topoloom.schedules.formats.nccl.program import MAX_LINE, MAX_SIZE
from topoloom.schedules.formats.nccl.read import parse
from topoloom.schedules.formats.nccl.write import render
from topoloom.schedules.simulate import Judge, Network, estimate
from topoloom.synth.topology.rates import node_capacity

ALPHA, UNIT = Fraction(1, 10**5), Fraction(10**9)


def table(name, collective, **options):
    options = {"alpha_seconds": ALPHA, "unit_bytes_per_second": UNIT} | options
    return "".join(render(schedule_of(name, collective), topology_of(name), **options))


def seconds(algorithm, protocol, collective, ranks, size, rate):
    """What NCCL's algorithm takes, written down once more from the documentation."""
    slow = 2 if protocol == "ll" else 1
    if algorithm == "ring":
        passes = 2 if collective == "allreduce" else 1
        return passes * (ranks - 1) * (ALPHA / slow + slow * Fraction(size, ranks) / rate)
    return 2 * ceil(log2(ranks)) * ALPHA / slow + slow * 2 * size / rate


@for_every(("name", "collective"), EVERY)
def test_no_other_choice_of_nccl_is_faster_at_any_size(name, collective):
    topology = topology_of(name)
    ranks, rate = len(topology.compute_nodes), node_capacity(topology) * UNIT
    rows = parse(table(name, collective))
    ends = {end for row in rows for end in (row.first, row.last)}
    sizes = {max(0, min(MAX_SIZE, end + by)) for end in ends for by in (-1, 0, 1)}
    sizes |= {random.Random(1).randrange(2**power) for power in range(1, 64)}
    choices = [("ring", "simple"), ("ring", "ll")]
    if collective == "allreduce":
        choices += [("tree", "simple"), ("tree", "ll")]
    for size in sizes:
        row = matching_row(rows, schedule_of(name, collective).collective, size, 1, ranks)
        times = {choice: seconds(*choice, collective, ranks, size, rate) for choice in choices}
        assert times[row.algorithm, row.protocol] == min(times.values()), size
    assert program_violations("nccl-tuner-csv", [table(name, collective).encode()], topology) == []


@for_every(("name", "collective"), EVERY)
def test_the_comment_tells_where_the_schedule_is_faster(name, collective):
    topology, schedule = topology_of(name), schedule_of(name, collective)
    ranks, rate = len(topology.compute_nodes), node_capacity(topology) * UNIT
    text = table(name, collective)
    rows = parse(text)
    told = next(line for line in text.split("\n") if "schedule is faster" in line)
    least, most = map(int, re.findall(r"(\d+) to (\d+)", told)[0])
    for size in (least // 2, least, most):
        row = matching_row(rows, schedule.collective, size, 1, ranks)
        took = estimate(
            schedule, topology, size_bytes=size, alpha_seconds=float(ALPHA),
            unit_bytes_per_second=float(UNIT),
        ).seconds  # fmt: skip
        theirs = seconds(row.algorithm, row.protocol, collective, ranks, size, rate)
        faster = size >= least and "none" not in told
        # The best number of pieces is rounded in another way.
        assert took < 1.01 * theirs if faster else took > 0.99 * theirs or size < 256


def stated(topology):
    """Return the least and the largest latency of a hop, and the sets of ranks of the least."""
    graph = nx.DiGraph()
    for (source, target), latency in topology.latencies.items():
        graph.add_edge(source, target, latency=latency)
    hops, near = {}, nx.Graph()
    for source, target in permutations(topology.compute_nodes, 2):
        way = graph.subgraph({source, target, *topology.switches})
        if nx.has_path(way, source, target):
            hops[source, target] = nx.shortest_path_length(way, source, target, weight="latency")
    near.add_nodes_from(topology.compute_nodes)
    near.add_edges_from(pair for pair, latency in hops.items() if latency == min(hops.values()))
    return min(hops.values()), max(hops.values()), nx.number_connected_components(near)


@for_every("name", ["dgx-1v", "dgx-a100-2", "mi300x"])
def test_the_latencies_that_a_topology_states_count_where_no_other_is_given(name):
    schedule, topology = schedule_of(name, "allreduce"), topology_of(name)
    ranks, rate = len(topology.compute_nodes), node_capacity(topology) * UNIT
    inside, between, machines = stated(topology)
    text = table(name, "allreduce", alpha_seconds=None)
    ring_hops = 2 * ((ranks - machines) * inside + (machines - 1) * between)
    outer = ceil(log2(machines))
    tree_hops = 2 * ((ceil(log2(ranks)) - outer) * inside + outer * between)
    slope = Fraction(2 * (ranks - 1), ranks) / rate
    starts = {"ring": (ring_hops, slope), "tree": (tree_hops, 2 / rate)}

    def took(algorithm, protocol, size):
        slow, (start, slope) = 2 if protocol == "ll" else 1, starts[algorithm]
        return start / slow + slope * slow * size

    rows = parse(text)
    for size in {end for row in rows for end in (row.first, row.last)}:
        row = matching_row(rows, schedule.collective, size, 1, ranks)
        times = {(one, two): took(one, two, size) for one in starts for two in ("simple", "ll")}
        assert times[row.algorithm, row.protocol] == min(times.values())
    assert ("machines" in text) == (machines > 1)
    faster = re.findall(r"faster than all rows from (\d+) to (\d+)", text)
    for size in map(int, faster[0] if faster else ()):
        row = matching_row(rows, schedule.collective, size, 1, ranks)
        ours = Judge(schedule, topology, Network(None, UNIT)).time(size)
        assert ours.seconds < took(row.algorithm, row.protocol, size)


def test_rows_may_be_for_a_number_of_machines():
    rows = parse(table("dgx-a100-2", "allreduce", ranks_per_node=8))
    assert {(row.nodes, row.ranks) for row in rows} == {(2, 16)}
    assert matching_row(rows, rows[0].collective, 5, 3, 16) is None
    with pytest.raises(NotExportable) as caught:
        table("dgx-a100-2", "allreduce", ranks_per_node=5)
    assert caught.value.field == "/ranks_per_node"


def test_nccl_runs_on_as_many_channels_as_a_rank_can_fill_or_as_it_is_told():
    channels = {
        name: {row.channels for row in parse(table(name, "allreduce"))}
        for name in ("UniRing(3)", "dgx-1v", "dgx-a100-2")
    }
    # 1, 150 and 325 GB/s out of a rank, 20 GB/s a channel.
    assert channels == {"UniRing(3)": {2}, "dgx-1v": {8}, "dgx-a100-2": {17}}
    assert {row.channels for row in parse(table("dgx-1v", "allgather", channels=24))} == {24}
    for wrong in (0, -1, 33):
        with pytest.raises(NotExportable) as caught:
            table("dgx-1v", "allgather", channels=wrong)
        assert caught.value.field == "/channels"


def test_every_line_fits_the_buffer_of_the_plugin():
    for name, collective in EVERY:
        assert all(len(line) <= MAX_LINE for line in table(name, collective).split("\n"))


def test_a_table_is_the_same_byte_for_byte():
    text = "".join(
        render(shortest_steps(ring(4)), ring(4), alpha_seconds=ALPHA, unit_bytes_per_second=UNIT)
    )
    assert text.split("\n")[1:] == [
        "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks",
        "# of sizes from 256 to 68719476736 bytes the schedule is faster at none",
        "allgather,0,20000,ring,ll,2,-1,4",
        "allgather,20001,18446744073709551615,ring,simple,2,-1,4",
        "",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ll,17,-1,16\n", "ll,-1,-1,16\n"),
        ("ll,17,-1,16\n", "ll,0,-1,16\n"),
        ("ll,17,-1,16\n", "ll,33,-1,16\n"),
        ("-1,16\n", "-1,8\n"),
        ("allreduce,0,", "allreduce,1,"),
        ("allreduce,0,", "alltoall,0,"),
        ("allreduce,0,", "allreduce,-1,"),
        ("allreduce,0,", "allreduce,99999999999999999999,"),
        ("allreduce,0,", "allreduce,"),
        (",ring,", ",rings,"),
        (",ll,", ",low,"),
        (",17,-1,16", ",17,-1,-1"),
        (",17,-1,16", ",17,-1,16,x"),
        ("18446744073709551615", "18446744073709551616"),
        ("18446744073709551615", "1844674407370955161"),
        ("#", "#" * (MAX_LINE + 1)),
    ],
)
def test_every_planted_fault_in_a_table_is_found(old, new):
    topology, text = topology_of("dgx-a100-2"), table("dgx-a100-2", "allreduce")
    assert old in text
    found = program_violations("nccl-tuner-csv", [text.replace(old, new, 1).encode()], topology)
    assert found


def test_spaces_and_filters_of_later_versions_are_read_as_the_plugin_reads_them():
    plain = parse("allreduce,0,100,ring,ll,4,-1,4")
    assert parse(" allreduce ,\t0, 100,ring , ll,4,-1,4, -1,-1") == plain
    assert parse("allreduce,0,100,ring,ll,4,-1,4,1,1")[0].only == (1, 1)
    parse("allreduce,0,100,ring,ll,4,-1,4,1\nallreduce,0,100,tree,ll,4,-1,4")
    with pytest.raises(InvalidProgram, match="/line/2"):
        parse("allreduce,0,100,ring,ll,4,-1,4\nallreduce,0,100,tree,ll,4,-1,4,1")


def test_rows_that_cannot_be_reached_are_found():
    with pytest.raises(InvalidProgram, match="/line/2"):
        parse("allreduce,0,100,ring,ll,4,-1,4\nallreduce,50,200,tree,ll,4,2,4")
    parse("allreduce,0,100,ring,ll,4,2,4\nallreduce,0,200,tree,ll,4,-1,4")
    with pytest.raises(InvalidProgram):
        parse("# nothing\n")
