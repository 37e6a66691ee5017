"""Damaged programs of the MSCCL family: what is wrong is found, and nothing crashes the reader."""

import copy
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.schedule_oracles import (
    bidirectional_ring,
    every_schedule,
    ring,
    shortest_steps,
)
from tests.schedules.export_cases import text_of
from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.program import Block
from topoloom.schedules.formats.msccl.read import parse
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.msccl.write import text as written


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
    "unknown collective": lambda algo: algo.set("coll", "gossip"),
    "name of another dialect": lambda algo: algo.set("coll", "reduce_scatter"),
    "too long a name": lambda algo: algo.set("name", "x" * 256),
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
    "an attribute behind the sixteenth": lambda algo: algo.find(STEP).attrib.update(
        {f"a{k}": "" for k in range(7)} | {"cnt": algo.find(STEP).attrib.pop("cnt")}
    ),
    "too long an unknown attribute": lambda algo: algo.set("redop", "x" * 256),
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


@for_every("fault", FAULTS.values())
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
        "<!--a=b--><algo/>",
        "\t<algo/>",
        "<algo/>\t",
        "<a>" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_what_hand_written_readers_do_not_take_is_refused(text):
    with pytest.raises(InvalidProgram):
        replay(text, "msccl")


UNKNOWN = {
    "elements beside, in and around what is known": lambda text: (
        "<meta/>"
        + text.replace("<gpu", '<copy i_off="0"/><note><gpu id="7"><tb/></gpu></note><gpu')
        .replace("<tb id", "<copy/><tb id")
        .replace("<step", "<Meta-2:x></Meta-2:x><step")
    ),
    "more elements than any kind may have": lambda text: text.replace(
        "</gpu>", "<copy/>" * 2000 + "</gpu>"
    ),
    "attributes": lambda text: text.replace("<step", '<step a-b:c="<&>" ').replace("/>", "  />"),
    "attributes behind the sixteenth": lambda text: text.replace(
        'maxBytes="0"', 'maxBytes="0"' + "".join(f' a{k}="{k}"' for k in range(20))
    ),
    "a name that is cut": lambda text: text.replace('name="', 'name="' + "x" * 100),
    "no name": lambda text: re.sub(r' name="[^"]*"', "", text),
    "an end of its own for each step": lambda text: re.sub("(<step[^>]*)/>", r"\1></step>", text),
}


@pytest.mark.parametrize("dialect", ["azure", "rccl"])
@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_what_the_readers_of_the_run_times_skip_changes_no_program(change, dialect):
    text = render(shortest_steps(ring(3)), ring(3), dialect)
    assert change(text) != text
    plain, found = replay(text, dialect), replay(change(text), dialect)
    assert (found.gpus, found.bytes, found.modes) == (plain.gpus, plain.bytes, plain.modes)


def test_msccl_alone_needs_a_name_and_reads_a_number_of_threads():
    text = render(shortest_steps(ring(3)), ring(3), "msccl")
    for change in (
        lambda text: re.sub(r' name="[^"]*"', "", text),
        lambda text: text.replace("<algo", '<algo nthreads="100"'),
    ):
        with pytest.raises(InvalidProgram):
            replay(change(text), "msccl")
    assert replay(text.replace("<algo", '<algo nthreads="96"'), "msccl")


def test_one_element_less_than_the_readers_have_places_for_is_the_most():
    # The last place is for the element that is read next, or for the end of the file.
    made = parse(render(shortest_steps(ring(3)), ring(3), "msccl"), "msccl")
    idle = replace(made.gpus[0].blocks[0].steps[0], type="cpy", wait_block=-1, wait_step=-1)

    def file(steps):
        full = [Block(-1, -1, 0, (replace(idle, is_awaited=False),) * 200)] * (steps // 200)
        rest = Block(-1, -1, 0, (replace(idle, is_awaited=False),) * (steps % 200))
        return replace(made, gpus=(replace(made.gpus[0], blocks=(*full, rest)), *made.gpus[1:]))

    # The algo, three GPUs, and a block for every 200 steps begun.
    most = 4095 - 1 - 3 - 21
    assert parse(written(file(most), "msccl"), "msccl")
    with pytest.raises(InvalidProgram, match="4095 elements, not 4096"):
        parse(written(file(most + 1), "msccl"), "msccl")


def test_comments_are_skipped():
    text = render(shortest_steps(ring(3)), ring(3), "azure")
    assert replay("<!-- a ring -->\n" + text.replace("<gpu", "<!-- gpu --><gpu"), "azure")


@pytest.mark.slow
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
