"""The replay of MSCCL programs is trusted on programs that no renderer of ours made."""

import xml.etree.ElementTree as ET

import pytest

from tests.schedule_oracles import (
    ring,
    shortest_steps,
)
from tests.schedules.export_cases import text_of
from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.model.schedule import Collective


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
