import copy
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.errors import InvalidProgram, InvalidSchedule, NotExportable
from schedules.formats.msccl.program import MAX_COUNT, Dialect
from schedules.formats.msccl.read import parse
from schedules.formats.msccl.replay import replay
from schedules.formats.msccl.write import render
from schedules.formats.msccl.write import text as written
from schedules.formats.runtimes import RUNTIMES, runtimes_for
from schedules.formats.sizes import Sizes
from schedules.model import SEND, Collective, SequenceSchedule, StepSchedule
from synth.topology import Topology
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)

GOLDEN = Path(__file__).parent.parent / "golden"


def complete(count):
    return Topology(range(count), [(a, b) for a in range(count) for b in range(count) if a != b])


def hypercube(dimension):
    count = 2**dimension
    return Topology(range(count), [(i, i ^ 1 << k) for i in range(count) for k in range(dimension)])


FABRICS = {
    "pair": ring(2),
    "ring of 3": ring(3),
    "two-way ring of 5": bidirectional_ring(5),
    "complete on 6": complete(6),
    "two boxes of 4": two_boxes(4),
    "hypercube of 16": hypercube(4),
    "two boxes of 8": two_boxes(8),
}
SCHEDULES = {label: every_schedule(topology) for label, topology in FABRICS.items()}
CASES = [
    pytest.param(label, kind, id=f"{label}-{kind}")
    for label, made in SCHEDULES.items()
    for kind in made
]


@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("label, kind", CASES)
def test_every_program_does_its_collective_even_without_a_free_slot(label, kind, dialect, inplace):
    topology, schedule = FABRICS[label], SCHEDULES[label][kind]
    text = render(schedule, topology, dialect, inplace=inplace)
    for slots in (0, 2):
        program = replay(text, dialect, slots=slots)
        assert program.collective is schedule.collective
        assert program.modes == (inplace,)
        assert len(program.gpus) == len(topology.compute_nodes)


@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("label, kind", CASES)
def test_a_program_that_is_read_and_written_is_the_same_file(label, kind, dialect, inplace):
    text = render(SCHEDULES[label][kind], FABRICS[label], dialect, inplace=inplace)
    assert written(parse(text, dialect), dialect) == text


@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.data())
def test_programs_of_any_graph_and_any_weights_do_their_collective(topology, data):
    weights = tuple(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=3)))
    made = every_schedule(topology, data.draw(st.integers(1, 4)), weights)
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    dialect = data.draw(st.sampled_from(Dialect))
    text = render(schedule, topology, dialect, inplace=data.draw(st.booleans()))
    replay(text, dialect, slots=data.draw(st.integers(0, 2)))


def test_an_allreduce_may_scatter_by_steps_and_gather_by_trees():
    topology = bidirectional_ring(5)
    made = every_schedule(topology, chunks=2, weights=(1, 2))
    parts = (made["steps-reduce-scatter"], made["trees-allgather"])
    mixed = SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts)
    # Halves and thirds of a shard make sixths.
    assert replay(render(mixed, topology, "azure"), "azure").chunks == 5 * 6


def test_chunks_are_no_finer_than_the_schedule_needs():
    topology = ring(3)
    text = render(shortest_trees(topology, (30, 20)), topology, "azure")
    assert replay(text, "azure").chunks == 3 * 5


def test_more_than_71_chunks_are_sent_in_several_messages():
    topology = ring(2)
    text = render(shortest_trees(topology, (200, 1)), topology, "azure")
    program = replay(text, "azure")
    counts = [s.count for g in program.gpus for b in g.blocks for s in b.steps if s.type == "s"]
    assert max(counts) <= MAX_COUNT and sum(counts) == 2 * 201


def test_blocks_that_grow_too_long_are_spread_over_channels():
    topology = ring(40)
    schedule = shortest_steps(topology, 1)
    made = every_schedule(topology, 1)
    for dialect in Dialect:
        program = replay(render(made["steps-allreduce"], topology, dialect), dialect)
        longest = max(len(block.steps) for gpu in program.gpus for block in gpu.blocks)
        assert longest <= runtimes_for("msccl-xml", dialect)[0].steps
    channels = {
        block.channel
        for gpu in replay(render(made["steps-allreduce"], topology, "rccl"), "rccl").gpus
        for block in gpu.blocks
    }
    assert channels == {0, 1}
    assert len(schedule.steps) == 39


def test_no_gpu_has_more_than_32_peers_on_a_channel_and_blocks_are_shared_if_they_must():
    topology = complete(40)
    schedule = shortest_steps(topology)
    for dialect, blocks in (("azure", 79), ("rccl", 40)):
        program = replay(render(schedule, topology, dialect), dialect)
        assert max(len(gpu.blocks) for gpu in program.gpus) == blocks
        assert {block.channel for gpu in program.gpus for block in gpu.blocks} == {0, 1}


def test_a_limit_that_cannot_be_met_is_named_with_the_number_needed():
    # Steps: nothing but their generator makes them coarser.
    topology = complete(70)
    with pytest.raises(NotExportable, match=r"\d+ are needed; .*max_chunks") as caught:
        render(shortest_steps(topology), topology, "rccl")
    assert caught.value.field == "/gpu/thread_blocks"


@pytest.mark.parametrize("weights", [(400_000, 1), (150_000, 1), (32768, 3, 1)], ids=str)
@pytest.mark.parametrize("dialect", Dialect)
def test_trees_of_more_chunks_than_a_run_time_can_say_are_made_coarser_and_it_is_said(
    weights, dialect
):
    topology = ring(2)
    text = render(shortest_trees(topology, weights), topology, dialect)
    program = replay(text, dialect)
    assert program.chunks <= 32768 * 2
    before = int(program.name.rpartition("-of-")[2].partition("-")[0])
    assert program.chunks // 2 < before == sum(weights)


@pytest.mark.parametrize("name", [name for name in RUNTIMES if RUNTIMES[name].dialect])
def test_no_program_passes_a_limit_of_its_run_time(name):
    runtime = RUNTIMES[name]
    for topology in (ring(24), complete(16)):
        made = every_schedule(topology, 1)
        for schedule in (made["steps-allreduce"], made["trees-reduce-scatter"]):
            program = replay(render(schedule, topology, runtime), runtime)
            for gpu in program.gpus:
                assert len(gpu.blocks) <= runtime.multiprocessors
                assert max(len(block.steps) for block in gpu.blocks) <= runtime.steps
                needed = program.bytes[1] * gpu.sizes["s"] // program.chunks
                assert not runtime.scratch_at_start or needed <= 2**30


def test_what_one_run_time_cannot_load_another_may_and_is_named():
    topology = complete(50)
    schedule = shortest_steps(topology)
    with pytest.raises(NotExportable, match="on rccl a GPU may have 64 thread blocks; 72 are"):
        render(shortest_steps(complete(72)), complete(72), RUNTIMES["rccl"])
    with pytest.raises(NotExportable, match="msccl-h100 would take it") as caught:
        render(shortest_steps(complete(110)), complete(110), RUNTIMES["msccl-a100"])
    assert caught.value.field == "/gpu/thread_blocks"
    assert replay(render(schedule, topology, RUNTIMES["msccl-v100"]), RUNTIMES["msccl-v100"])


def test_scratch_at_start_stays_within_the_budget_and_sizes_are_what_was_asked_for():
    schedule = every_schedule(ring(5))["steps-reduce-scatter"]

    def program(name, **said):
        return replay(
            render(schedule, ring(5), RUNTIMES[name], sizes=Sizes(**said)), RUNTIMES[name]
        )

    free = program("msccl-a100")
    scratch = max(gpu.sizes["s"] for gpu in free.gpus)
    assert (scratch, free.chunks) == (6, 10)
    assert free.bytes == (0, 2**30 * 5 // 3 + 1)
    assert program("msccl-a100", scratch_budget=4096).bytes == (0, 4096 * 5 // 3 + 1)
    assert program("azure").bytes == (0, 0)
    assert program("azure", min_bytes=100, max_bytes=200).bytes == (100, 200)
    # msccl runs what is smaller than maxBytes, the others what is not larger.
    assert program("msccl-a100", min_bytes=100, max_bytes=200).bytes == (100, 201)
    for name, said, field in (
        ("msccl-a100", {"max_bytes": 2**40}, "/max_bytes"),
        ("azure", {"max_bytes": 2**20, "scratch_budget": 2**19}, "/max_bytes"),
        ("msccl-a100", {"min_bytes": 2**40}, "/min_bytes"),
        ("rccl", {"min_bytes": 2, "max_bytes": 1}, "/max_bytes"),
    ):
        with pytest.raises(NotExportable) as caught:
            program(name, **said)
        assert caught.value.field == field


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("kind", ["steps-allreduce", "trees-allgather", "trees-reduce-scatter"])
def test_instances_carry_every_message_in_so_many_parts_on_channels_of_their_own(kind, dialect):
    topology = bidirectional_ring(5)
    schedule = every_schedule(topology)[kind]
    one, four = (
        replay(render(schedule, topology, dialect, instances=count), dialect, slots=0)
        for count in (1, 4)
    )
    assert four.chunks == 4 * one.chunks

    def carried(program):
        found = Counter()
        for at, gpu in enumerate(program.gpus):
            for block in gpu.blocks:
                for step in block.steps:
                    found[at, block.send, block.channel] += step.count * (step.type == "s")
        return found

    for (gpu, peer, _), chunks in carried(one).items():
        shares = {carried(four)[gpu, peer, channel] for channel in range(4)}
        assert shares == {chunks}
    for wrong in (0, 17):
        with pytest.raises(NotExportable) as caught:
            render(schedule, topology, dialect, instances=wrong)
        assert caught.value.field == "/instances"


def test_a_program_of_too_many_messages_is_refused():
    pair, chunks = ring(2), 140_000
    steps = []
    for parity in (0, 1):
        # Every other chunk, so that none can be joined to the next.
        step = np.zeros((2, chunks // 2), dtype=SEND)
        for rank in (0, 1):
            step["source"][rank], step["target"][rank], step["shard"][rank] = rank, 1 - rank, rank
        step["first"], step["count"] = np.arange(parity, chunks, 2), 1
        steps.append(step.ravel())
    schedule = StepSchedule(Collective.ALLGATHER, pair.digest, (0, 1), chunks, tuple(steps))
    with pytest.raises(NotExportable) as caught:
        render(schedule, pair, "azure")
    assert caught.value.field == "/messages"


def test_what_is_not_valid_is_not_exported():
    topology = ring(3)
    gather = shortest_steps(topology)
    with pytest.raises(InvalidSchedule):
        render(gather, bidirectional_ring(3), "msccl")
    lonely = Topology([0], [])
    with pytest.raises(NotExportable):
        render(shortest_steps(lonely), lonely, "msccl")


@pytest.mark.parametrize("change", [{"runtime": "nccl"}, {"protocol": "fast"}], ids=str)
def test_unknown_names_are_refused(change):
    with pytest.raises(NotExportable) as caught:
        render(shortest_steps(ring(3)), ring(3), **change)
    assert caught.value.field == ("/protocol" if "protocol" in change else "/dialect")


@pytest.mark.parametrize("dialect", Dialect)
def test_the_header_says_what_the_dialect_asks_for(dialect):
    made = every_schedule(ring(3))
    algo = ET.fromstring(render(made["steps-reduce-scatter"], ring(3), dialect, protocol="LL"))
    assert algo.get("coll") == ("reduce_scatter" if dialect == "msccl" else "reducescatter")
    assert algo.get("proto") == "LL"
    assert algo.get("ngpus") == "3"
    assert (algo.get("inplace"), algo.get("outofplace")) == ("0", "1")
    # Scratch of a third of the data, 1 GiB of it; what is smaller than maxBytes is run.
    assert int(algo.get("maxBytes")) == (2**30 * 3 + 1 if dialect == "msccl" else 0)


def test_the_text_is_what_hand_written_readers_take():
    text = render(
        shortest_steps(ring(3)), ring(3), "azure", name='a "name" with <marks> & more' * 9
    )
    assert text.startswith("<algo ") and text.endswith("</algo>\n")
    assert " />" not in text and "&" not in text and "<?" not in text
    assert len(ET.fromstring(text).get("name")) == 63
    replay(text, "azure")


def golden_programs():
    square = bidirectional_ring(4)
    boxes = two_boxes()
    return {
        "ring3-allgather.azure.xml": (shortest_steps(ring(3)), ring(3), "azure", False),
        "square-allreduce.msccl.xml": (
            every_schedule(square)["steps-allreduce"],
            square,
            "msccl",
            True,
        ),
        "two-boxes-reduce-scatter.rccl.xml": (
            every_schedule(boxes)["trees-reduce-scatter"],
            boxes,
            "rccl",
            False,
        ),
    }


@pytest.mark.parametrize("name", golden_programs())
def test_programs_are_the_same_byte_for_byte(name):
    # After an intended change of layout: write the rendered text to the file and read the diff.
    schedule, topology, dialect, inplace = golden_programs()[name]
    text = render(schedule, topology, dialect, inplace=inplace)
    assert text == (GOLDEN / name).read_text()
    replay(text, dialect)


# The replay must be trusted on programs that no renderer of ours made.


def step(kind, src="o0", dst="o0", cnt=1, wait=(-1, -1), hasdep=0):
    return (kind, src, dst, cnt, wait, hasdep)


def program(blocks, coll="allgather", chunks=2, sizes=(1, 2, 0), inplace=False, scratch=None):
    """Write a file by hand: per GPU a list of (send, recv, chan, steps)."""
    algo = ET.Element(
        "algo",
        name="by-hand",
        proto="Simple",
        nchannels="2",
        nchunksperloop=str(chunks),
        ngpus=str(len(blocks)),
        coll=coll,
        inplace=str(int(inplace)),
        outofplace=str(int(not inplace)),
        minBytes="0",
        maxBytes="0",
    )
    for index, made in enumerate(blocks):
        names = ("i_chunks", "o_chunks", "s_chunks")
        gpu = ET.SubElement(algo, "gpu", id=str(index))
        gpu.attrib |= {name: str(size) for name, size in zip(names, sizes, strict=True)}
        for at, (send, recv, chan, steps) in enumerate(made):
            peers = {"send": str(send), "recv": str(recv), "chan": str(chan)}
            block = ET.SubElement(gpu, "tb", {"id": str(at)} | peers)
            for number, (kind, src, dst, cnt, wait, hasdep) in enumerate(steps):
                values = {
                    "s": number,
                    "type": kind,
                    "srcbuf": src[0],
                    "srcoff": src[1:],
                    "dstbuf": dst[0],
                    "dstoff": dst[1:],
                    "cnt": cnt,
                    "depid": wait[0],
                    "deps": wait[1],
                    "hasdep": hasdep,
                }
                ET.SubElement(block, "step", {key: str(value) for key, value in values.items()})
    return text_of(algo)


def text_of(algo):
    return ET.tostring(algo, encoding="unicode").replace(" />", "/>")


def rcs_ring(count=3):
    blocks = []
    for me in range(count):
        own = [step("cpy", "i0", f"o{me}", hasdep=1)]
        around = [step("s", f"o{me}", f"o{me}", wait=(0, 0))]
        for back in range(1, count):
            piece = f"o{(me - back) % count}"
            around.append(step("r" if back == count - 1 else "rcs", piece, piece))
        blocks.append([(-1, -1, 0, own), ((me + 1) % count, (me - 1) % count, 0, around)])
    return program(blocks, chunks=count, sizes=(1, count, 0))


def rrs_ring(count=3):
    """Ring allreduce in place: reduce along the ring, then pass the results on."""
    blocks = []
    for me in range(count):
        steps = []
        for back in range(count):
            piece = f"o{(me - 1 - back) % count}"
            steps.append(
                step("s" if back == 0 else "rrc" if back == count - 1 else "rrs", piece, piece)
            )
        last = f"o{me}"
        steps[-1] = step("rrcs", last, last)
        for back in range(1, count):
            piece = f"o{(me - back) % count}"
            steps.append(step("r" if back == count - 1 else "rcs", piece, piece))
        blocks.append([((me + 1) % count, (me - 1) % count, 0, steps)])
    return program(blocks, "allreduce", count, (0, count, 0), inplace=True)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_programs_with_fused_steps_are_replayed(count):
    for slots in (1, 2):
        assert replay(rcs_ring(count), "azure", slots=slots).collective is Collective.ALLGATHER
        assert replay(rrs_ring(count), "azure", slots=slots).collective is Collective.ALLREDUCE


def exchange(first, second, **options):
    """Two GPUs that each run one shared block, own shards copied at first."""
    blocks = []
    for me in (0, 1):
        own = [step("cpy", "i0", f"o{me}", hasdep=1)]
        blocks.append([(-1, -1, 0, own), (1 - me, 1 - me, 0, [first(me), second(me)])])
    return program(blocks, **options)


def sends(me):
    return step("s", f"o{me}", f"o{me}", wait=(0, 0))


def receives(me):
    return step("r", f"o{1 - me}", f"o{1 - me}")


def test_a_program_that_waits_in_a_circle_is_stuck():
    with pytest.raises(InvalidProgram, match="stuck"):
        replay(exchange(receives, sends), "azure")


def test_a_program_that_counts_on_a_free_slot_is_stuck_without_one():
    replay(exchange(sends, receives), "azure", slots=1)
    with pytest.raises(InvalidProgram, match="stuck"):
        replay(exchange(sends, receives), "azure", slots=0)


@pytest.mark.parametrize("ahead", [2, 3, 4])
def test_no_more_messages_lie_in_a_connection_than_there_are_slots(ahead):
    blocks = []
    for me in (0, 1):
        mine, yours = me * ahead, (1 - me) * ahead
        own = [step("s", f"i{at}", f"o{mine + at}") for at in range(ahead)]
        other = [step("r", f"i{at}", f"o{yours + at}") for at in range(ahead)]
        copied = [step("cpy", "i0", f"o{mine}", ahead)]
        blocks.append([(-1, -1, 0, copied), (1 - me, 1 - me, 0, own + other)])
    text = program(blocks, chunks=2 * ahead, sizes=(ahead, 2 * ahead, 0))
    replay(text, "azure", slots=ahead)
    with pytest.raises(InvalidProgram, match="stuck"):
        replay(text, "azure", slots=ahead - 1)


def test_waiting_for_a_block_that_waits_is_stuck():
    blocks = []
    for me in (0, 1):
        one = [step("cpy", "i0", f"o{me}", wait=(1, 0), hasdep=1)]
        two = [step("s", "i0", f"o{me}", wait=(0, 0), hasdep=1)]
        three = [step("r", "i0", f"o{1 - me}")]
        blocks.append([(-1, -1, 0, one), (1 - me, -1, 0, two), (-1, 1 - me, 0, three)])
    with pytest.raises(InvalidProgram, match="stuck"):
        replay(program(blocks), "azure")


def changed(text, change):
    algo = copy.deepcopy(ET.fromstring(text))
    change(algo)
    return text_of(algo)


def all_steps(algo):
    return list(algo.iter("step"))


def set_on(path, **attributes):
    def change(algo):
        algo.find(path).attrib.update({key: str(value) for key, value in attributes.items()})

    return change


def without(path, key):
    return lambda algo: algo.find(path).attrib.pop(key)


def removed(parent, path):
    return lambda algo: algo.find(parent).remove(algo.find(path))


def repeated(parent, path):
    return lambda algo: algo.find(parent).append(copy.deepcopy(algo.find(path)))


def peers_swapped(algo):
    first, second = algo.findall("gpu")[0].findall("tb")[1:3]
    first.set("send", second.get("send"))
    second.set("send", "-1")


GPU, TB, STEP = "gpu[1]", "gpu[1]/tb[3]", "gpu[1]/tb[3]/step[1]"
FAULTS = {
    "other outermost element": lambda algo: setattr(algo, "tag", "algorithm"),
    "unknown child": lambda algo: ET.SubElement(algo, "cpu"),
    "unknown collective": lambda algo: algo.set("coll", "gossip"),
    "name of another dialect": lambda algo: algo.set("coll", "reduce_scatter"),
    "too long a name": lambda algo: algo.set("name", "x" * 64),
    "unknown protocol": lambda algo: algo.set("proto", "Fast"),
    "no channel": lambda algo: algo.set("nchannels", "0"),
    "too many channels": lambda algo: algo.set("nchannels", "33"),
    "one more gpu": lambda algo: algo.set("ngpus", "4"),
    "one gpu less": lambda algo: algo.set("ngpus", "2"),
    "other chunks in a loop": lambda algo: algo.set("nchunksperloop", "6"),
    "no maxBytes": lambda algo: algo.attrib.pop("maxBytes"),
    "no outofplace": lambda algo: algo.attrib.pop("outofplace"),
    "in no mode": lambda algo: algo.set("outofplace", "0"),
    "number in words": lambda algo: algo.set("minBytes", "none"),
    "too many attributes": lambda algo: algo.attrib.update({f"a{'b' * k}": "" for k in range(9)}),
    "gpu twice": repeated(".", GPU),
    "gpu missing": removed(".", GPU),
    "other input": set_on(GPU, i_chunks=2),
    "no output": set_on(GPU, o_chunks=0),
    "negative scratch": set_on(GPU, s_chunks=-1),
    "thread block twice": repeated(GPU, TB),
    "gap in thread blocks": set_on(TB, id=7),
    "too many thread blocks": set_on(TB, id=1024),
    "own peer": set_on(TB, send=0),
    "peer that is none": set_on(TB, send=3),
    "another peer": set_on(TB, send=2),
    "no peer": set_on(TB, send=-1),
    "another channel": set_on(TB, chan=1),
    "channel that is none": set_on(TB, chan=5),
    "unknown type": set_on(STEP, type="ra"),
    "type of a send": set_on("gpu[1]/tb[2]/step[1]", type="s"),
    "gap in steps": set_on(STEP, s=1),
    "no hasdep": without(STEP, "hasdep"),
    "unknown buffer": set_on(STEP, srcbuf="x"),
    "offset outside": set_on(STEP, srcoff=1),
    "offset before": set_on(STEP, srcoff=-1),
    "no chunk": set_on(STEP, cnt=0),
    "too many chunks": set_on(STEP, cnt=72),
    "unequal cnt": set_on("gpu[1]/tb[3]/step[2]", srcoff=1, cnt=2),
    "half a dependency": set_on(STEP, depid=0),
    "dependency on no step": set_on(STEP, depid=0, deps=9),
    "dependency on no block": set_on(STEP, depid=9, deps=0),
    "dependency without hasdep": set_on(STEP, depid=0, deps=0),
    "nop without dependency": set_on(STEP, type="nop", cnt=0),
    "step missing": removed(TB, "gpu[1]/tb[3]/step[2]"),
    "step with content": lambda algo: ET.SubElement(algo.find(STEP), "step"),
    "copy missing": removed(GPU, "gpu[1]/tb[1]"),
    "receive elsewhere": set_on("gpu[1]/tb[2]/step[1]", dstoff=1),
    "send of something else": set_on("gpu[1]/tb[3]/step[2]", srcoff=1),
    "write to the input": set_on("gpu[1]/tb[2]/step[1]", dstbuf="i", dstoff=0),
    "no dependency": set_on("gpu[1]/tb[3]/step[2]", depid=-1, deps=-1),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_in_a_program_is_found(fault):
    text = render(shortest_steps(ring(3)), ring(3), "azure")
    assert replay(changed(text, lambda algo: None), "azure")
    with pytest.raises(InvalidProgram):
        replay(changed(text, fault), "azure")


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("kind", ["steps-reduce-scatter", "trees-allreduce", "steps-allreduce"])
def test_a_program_that_loses_any_of_its_dependencies_is_found(kind, inplace):
    topology = bidirectional_ring(4)
    text = render(every_schedule(topology)[kind], topology, "azure", inplace=inplace)
    found = 0
    for index, node in enumerate(all_steps(ET.fromstring(text))):
        if node.get("depid") == "-1" or node.get("type") == "nop":
            continue

        def free(algo, index=index):
            steps = all_steps(algo)
            steps[index].attrib.update(depid="-1", deps="-1")

        found += 1
        with pytest.raises(InvalidProgram):
            replay(changed(text, free), "azure")
    assert found


def test_a_contribution_that_is_added_twice_is_found():
    asks = [step("s", "i0", "o0", 2), step("rrc", "i0", "o0", 2)]
    echoes = [step("rrc", "i0", "o0", 2), step("s", "o0", "o0", 2)]
    blocks = [[(1, 1, 0, asks)], [(0, 0, 0, echoes)]]
    with pytest.raises(InvalidProgram, match="twice"):
        replay(program(blocks, "allreduce", 2, (2, 2, 0)), "azure")


def test_sums_of_different_chunks_are_found():
    blocks = [
        [(1, 1, 0, [step("s", "i0", "o0"), step("rrc", "i1", "o0")])],
        [(0, 0, 0, [step("s", "i0", "o0"), step("rrc", "i1", "o0")])],
    ]
    with pytest.raises(InvalidProgram, match="adds chunk"):
        replay(program(blocks, "allreduce", 2, (2, 2, 0)), "azure")


def test_local_reductions_and_copies_are_replayed():
    blocks = []
    for me in (0, 1):
        first = [step("s", f"i{1 - me}", "s0")]
        second = [
            step("r", f"i{me}", "s0"),
            step("cpy", f"i{me}", "o0"),
            step("re", "s0", "o0"),
        ]
        blocks.append([(1 - me, -1, 0, first), (-1, 1 - me, 0, second)])
    right = program(blocks, "reducescatter", 2, (2, 1, 1))
    assert replay(right, "azure").collective is Collective.REDUCE_SCATTER
    with pytest.raises(InvalidProgram, match="never written"):
        replay(right.replace('type="cpy"', 'type="re"'), "azure")


def test_a_program_for_both_modes_is_run_in_both():
    both = render(shortest_steps(ring(3)), ring(3), "azure").replace('inplace="0"', 'inplace="1"')
    assert replay(both, "azure").modes == (False, True)
    blocks = [
        [(1, 1, 0, [step("s", "i0", "o0", 2), step("rrc", "i0", "o0", 2)])],
        [(0, 0, 0, [step("s", "i0", "o0", 2), step("rrc", "i0", "o0", 2)])],
    ]
    text = program(blocks, "allreduce", 2, (2, 2, 0))
    replay(text, "azure")
    replay(text.replace('inplace="0"', 'inplace="1"'), "azure")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<algo>",
        "</algo>",
        "<algo></gpu>",
        "<algo/><algo/>",
        "<?xml version='1.0'?><algo/>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><algo/>",
        "<algo name='a'/>",
        '<algo  name="a"/>',
        '<algo name="a" name="b"/>',
        '<algo name="&amp;"/>',
        "<algo>text</algo>",
        "<!-- only a comment -->",
        "<!-- open",
        "<a>" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_what_hand_written_readers_do_not_take_is_refused(text):
    with pytest.raises(InvalidProgram):
        replay(text, "msccl")


def test_comments_are_skipped():
    text = render(shortest_steps(ring(3)), ring(3), "azure")
    assert replay("<!-- a ring -->\n" + text.replace("<gpu", "<!-- gpu --><gpu"), "azure")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_replayed_but_never_crashes_the_reader(data):
    text = render(every_schedule(ring(3))["steps-allreduce"], ring(3), "azure")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    letters = st.text(st.sampled_from('<>/" =-0123456789srcio'), max_size=4)
    try:
        replay(text[:start] + data.draw(letters) + text[end:], "azure")
    except InvalidProgram as error:
        assert error.rule
