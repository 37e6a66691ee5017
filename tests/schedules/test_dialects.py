"""Files of programs tell their dialect themselves, and what no run-time reads of them is named."""

import json
import re

import pytest

from tests.schedule_oracles import every_schedule, ring, shortest_steps
from topoloom.schedules.formats.inspection.check_program import program_violations, transcript_of
from topoloom.schedules.formats.inspection.dialects import dialect_note, readings_of
from topoloom.schedules.formats.inspection.remarks import remarks
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.mscclpp.replay import replay
from topoloom.schedules.formats.mscclpp.write import render as plan

DIALECTS = ("msccl", "azure", "rccl")
RING = ring(3)


def program(dialect, kind="steps-reduce-scatter"):
    return render(every_schedule(RING)[kind], RING, dialect)


def without(name, text):
    return re.sub(f' {name}="[^"]*"', "", text)


TAKERS = {
    "a reduce-scatter of msccl": (program("msccl"), ["msccl"]),
    "a reduce-scatter of azure": (program("azure"), ["azure", "rccl"]),
    "an allgather of all": (program("msccl", "steps-allgather"), list(DIALECTS)),
    "no outofplace": (without("outofplace", program("msccl", "steps-allgather")), ["msccl"]),
    "no maxBytes": (without("maxBytes", program("msccl", "steps-allgather")), ["msccl"]),
    "no name": (without("name", program("msccl", "steps-allgather")), ["azure", "rccl"]),
    "maxBytes 0": (program("rccl", "steps-allgather"), ["azure", "rccl"]),
    "no program": ("<algo/>", []),
}


@pytest.mark.parametrize(("text", "takers"), TAKERS.values(), ids=TAKERS)
def test_the_dialects_that_take_a_file_come_first(text, takers):
    readings = readings_of(text)
    assert [one.dialect for one in readings if one.problem is None] == takers
    assert [one.dialect for one in readings[: len(takers)]] == takers


@pytest.mark.parametrize(("text", "takers"), TAKERS.values(), ids=TAKERS)
def test_a_file_is_read_as_the_first_dialect_that_takes_it_and_says_so_where_it_matters(
    text, takers
):
    found = program_violations("msccl-xml", [text.encode()], RING)
    first = takers[0] if takers else "msccl"
    assert found == program_violations("msccl-xml", [text.encode()], RING, first)
    assert (found == []) == bool(takers)
    note = dialect_note(text, option="--dialect")
    if takers == list(DIALECTS):
        assert note is None
    else:
        assert "--dialect" in note
        assert all(name in note for name in takers or DIALECTS)


def test_a_dialect_that_was_asked_for_wrongly_is_told_the_right_ones():
    told = dialect_note(program("azure"), "msccl")
    assert told == "dialect azure or rccl takes the file, not msccl"
    assert dialect_note(program("azure"), "rccl") is None
    assert dialect_note("<algo/>", "rccl") is None


def test_what_no_run_time_reads_is_named_and_counted():
    text = (
        program("azure").replace("<gpu", '<note/><gpu note="x"').replace("<algo", '<algo redop="+"')
    )
    (note,) = remarks("msccl-xml", [text.encode()], "azure")
    assert "attribute redop of algo" in note
    assert "element note of algo (3)" in note
    assert "attribute note of gpu (3)" in note
    assert remarks("msccl-xml", [program("msccl").encode()], "msccl") == []
    assert remarks("msccl-xml", [b"<algo"]) == remarks("chakra-et", [b""]) == []


def test_members_that_the_executor_does_not_read_change_no_plan():
    file = plan(shortest_steps(RING), RING)
    document = json.loads(file)

    def spread(value):
        if isinstance(value, dict):
            return {key: spread(one) for key, one in value.items()} | {"note": [1, {"a": None}]}
        return [spread(one) for one in value] if isinstance(value, list) else value

    more = json.dumps(spread(document))
    assert replay(more) == replay(file)
    assert transcript_of("mscclpp-json", [more.encode()]) == transcript_of(
        "mscclpp-json", [file.encode()]
    )
    assert remarks("mscclpp-json", [file.encode()]) == []
    (note,) = remarks("mscclpp-json", [more.encode()])
    assert "member note of channels (9)" in note
    few = json.dumps(document | {"author": "me"}).encode()
    (note,) = remarks("mscclpp-json", [few])
    assert note.endswith("skip, and so does Topoloom: member author")


def test_members_that_the_executor_has_a_default_for_may_be_missing():
    file = plan(shortest_steps(RING), RING)
    document = json.loads(file)
    for name in ("min_message_size", "buffer_alignment", "reuse_resources"):
        document.pop(name, None)
    for gpu in document["gpus"]:
        if not gpu["semaphores"]:
            del gpu["semaphores"]
    assert replay(json.dumps(document)) == replay(file)
    del document["max_message_size"]
    (found,) = program_violations("mscclpp-json", [json.dumps(document).encode()], RING)
    most = int(re.search("at most ([0-9]+)", found.sentence)[1])
    for size, fine in ((most, True), (most + 1, False)):
        text = json.dumps(document | {"max_message_size": size}).encode()
        assert (program_violations("mscclpp-json", [text], RING) == []) == fine


def test_a_split_operation_that_the_replay_does_not_follow_is_refused():
    document = json.loads(plan(shortest_steps(RING), RING))
    first = document["gpus"][0]["threadblocks"][0]["ops"][0]
    first["tbg_info"] = {"tb_id": 0, "tbg_size": 2}
    (found,) = program_violations("mscclpp-json", [json.dumps(document).encode()], RING)
    assert found.place.endswith("/ops/0/tbg_info")
