"""What exported programs send: simulated and executed as the schedules that they were made of."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, every_schedule, ring
from tests.schedules.export_cases import EVERY, schedule_of, topology_of
from topoloom.schedules.errors import InvalidProgram, TooLarge
from topoloom.schedules.execute import execute
from topoloom.schedules.execute.programs.transcript_plan import plan_of_transcript
from topoloom.schedules.formats import Options, write
from topoloom.schedules.formats.inspection.check_program import REPLAYED, TRANSCRIBED, transcript_of
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript, message_rounds
from topoloom.schedules.simulate import Network, simulate, widest_paths
from topoloom.synth.topology.topology import Topology

# A clock, and a size that every number of chunks here divides.
NETWORK, SIZE = Network(Fraction(1, 10**5), 10**9), 2**10 * 3**4 * 5 * 7 * 13
VARIANTS = [
    ("msccl-xml", {}),
    ("msccl-xml", {"inplace": True}),
    ("mscclpp-json", {}),
    ("mscclpp-json", {"inplace": True, "ranks_per_node": 2}),
    ("chakra-et", {"bytes": SIZE}),
    ("goal", {"bytes": SIZE}),
]
EACH = pytest.mark.parametrize(
    ("form", "options"), VARIANTS, ids=["-".join([form, *said]) for form, said in VARIANTS]
)


def transcript(form, schedule, topology, **options):
    found = write(form, schedule, topology, Options(**options))
    files = [*found.values()] if isinstance(found, dict) else ["".join(found).encode()]
    return transcript_of(form, files)


@cache
def _known(form, options, name, collective):
    return transcript(form, schedule_of(name, collective), topology_of(name), **dict(options))


def transcript_by(form, options, name, collective):
    return _known(form, tuple(options.items()), name, collective)


def of_a_ring():
    return transcript_by("msccl-xml", {}, "UniRing(3)", "allgather")


def simulated(schedule, topology, **options):
    return simulate(schedule, topology, NETWORK, size_bytes=SIZE, **options)


def test_every_format_that_moves_data_is_transcribed():
    assert set(REPLAYED) - set(TRANSCRIBED) == {"nccl-tuner-csv"}


@pytest.mark.one_in(5)
@EACH
@pytest.mark.parametrize("name, collective", [case for case in EVERY if "(" in case[0]])
def test_programs_of_steps_take_the_time_of_the_schedule(form, options, name, collective):
    topology, schedule = topology_of(name), schedule_of(name, collective)
    sent = transcript_by(form, options, name, collective)
    both = [simulated(one, topology, synchronous=True).seconds for one in (sent, schedule)]
    assert both[0] == both[1]
    # Neighbouring chunks are one message there, and sent in another order within a step: so
    # freely running messages may differ, but not pass what holds for both.
    free = simulated(sent, topology)
    assert free.seconds <= both[1]
    assert max(free.busy_seconds) <= free.seconds
    assert sum(free.busy_seconds) == sum(simulated(schedule, topology).busy_seconds)


@pytest.mark.one_in(7)
@EACH
@pytest.mark.parametrize("name, collective", [case for case in EVERY if "(" not in case[0]])
def test_programs_of_trees_take_no_less_than_their_links_and_no_more_than_in_step(
    form, options, name, collective
):
    topology = topology_of(name)
    sent = transcript_by(form, options, name, collective)
    free, stepped = simulated(sent, topology), simulated(sent, topology, synchronous=True)
    if topology.switches:
        # Neither bounds the other behind switches; one message after another bounds both.
        stepped = replace(stepped, seconds=stepped.seconds * 2)
    assert max(free.busy_seconds) <= free.seconds <= stepped.seconds
    in_slices = simulated(sent, topology, chunks=8)
    assert max(in_slices.busy_seconds) == max(free.busy_seconds) <= in_slices.seconds
    assert in_slices.messages == 8 * free.messages


@pytest.mark.one_in(11)
@EACH
@pytest.mark.parametrize("name, collective", EVERY)
def test_what_programs_send_makes_every_bit_right(team, form, options, name, collective):
    sent = transcript_by(form, options, name, collective)
    # An odd number of elements: shards and chunks are no whole numbers of them.
    done = execute(sent, size_bytes=4 * 10_007, repeat=2, team=team)
    assert done.exact
    assert done.ranks == tuple(range(len(topology_of(name).compute_nodes)))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(direct_topologies(6), st.data())
def test_rounds_of_any_program_of_any_graph_end_with_the_result(topology, data):
    made = every_schedule(topology, data.draw(st.integers(1, 4)))
    schedule = made[data.draw(st.sampled_from(sorted(made)))]
    form, options = data.draw(st.sampled_from(VARIANTS))
    sent = transcript(form, schedule, topology, **options)
    # The rounds are built by comparing contributions with the collective's promise.
    found = plan_of_transcript(sent, data.draw(st.integers(0, 1000)))
    assert len(found.rounds) == max(message_rounds(sent), default=-1) + 1
    assert simulated(sent, topology).seconds <= simulated(sent, topology, synchronous=True).seconds


@pytest.mark.slow
def test_messages_follow_what_they_need():
    for form, options in VARIANTS:
        for name, collective in EVERY:
            sent = transcript_by(form, options, name, collective)
            level = message_rounds(sent)
            for at, message in enumerate(sent.messages):
                assert all(need < at and level[need] < level[at] for need in message.needs)
                assert all(sent.messages[need].target == message.source for need in message.needs)


def planes(*speeds):
    """Return two hosts joined by switches, each reached at a speed of its own."""
    count = len(speeds)
    links = [(end, f"s{plane}", speed) for plane, speed in enumerate(speeds) for end in "ab"]
    return Topology(
        ["a", "b", *(f"s{plane}" for plane in range(count))],
        [*links, *((switch, end, capacity) for end, switch, capacity in links)],
        switches=[f"s{plane}" for plane in range(count)],
    )


@pytest.mark.parametrize(
    ("speeds", "seconds"), [((2, 2, 2), [2, 2, 2]), ((1, 3, 2, 3), [0, 2, 0, 2])]
)
def test_of_the_widest_ways_over_switches_the_least_loaded_is_taken(speeds, seconds):
    messages = tuple(Message(0, 1, (Span(at, at + 1, 1),), ()) for at in range(12))
    sent = Transcript(Collective.ALLGATHER, (0, 12, 24), messages)
    found = simulate(sent, planes(*speeds), Network(0, 1), size_bytes=24)
    into = [busy for link, busy in zip(planes(*speeds).links, found.busy_seconds, strict=True)
            if link.source == "a"]  # fmt: skip
    # 12 bytes over the widest.
    assert into == seconds


def test_no_more_paths_than_the_limit_are_compared(monkeypatch):
    monkeypatch.setattr(widest_paths, "MAX_PATHS", 1)
    messages = tuple(Message(0, 1, (Span(at, at + 1, 1),), ()) for at in range(12))
    sent = Transcript(Collective.ALLGATHER, (0, 12, 24), messages)
    found = simulate(sent, planes(1, 1, 1), Network(0, 1), size_bytes=24)
    assert sorted(map(bool, found.busy_seconds)) == [False] * 10 + [True] * 2


def test_a_program_for_other_ranks_or_wires_is_refused():
    sent = transcript(
        "msccl-xml", schedule_of("UniRing(3)", "allgather"), topology_of("UniRing(3)")
    )
    for topology in (ring(4), ring(3).transpose()):
        with pytest.raises(InvalidProgram) as caught:
            simulated(sent, topology)
        assert caught.value.field == "/ranks"


def test_a_program_that_keeps_two_values_of_one_chunk_is_simulated_not_executed():
    # Rank 0 sends its own contribution again after it has added that of rank 1.
    spans = [(Span(0, 3, 2),), (Span(0, 3, 1),)]
    messages = (Message(1, 0, spans[0], ()), Message(0, 1, spans[1], (0,)))
    sent = Transcript(Collective.ALLREDUCE, (0, 1, 3), messages)
    assert simulated(sent, ring(2)).messages == 2
    with pytest.raises(InvalidProgram, match="several values"):
        plan_of_transcript(sent, 100)


def test_contributions_in_common_are_neither_added_nor_stored():
    first = (Message(0, 1, (Span(0, 3, 1),), ()), Message(1, 2, (Span(0, 3, 3),), (0,)))
    again = (*first, Message(0, 2, (Span(0, 3, 1),), (0,)))
    with pytest.raises(InvalidProgram, match="several values"):
        plan_of_transcript(Transcript(Collective.ALLREDUCE, (0, 1, 2, 3), again), 3)


def test_an_incomplete_transcript_is_not_run():
    with pytest.raises(InvalidProgram):
        plan_of_transcript(Transcript(Collective.ALLGATHER, (0, 1, 2), ()), 3)


def test_too_many_pieces_are_refused(monkeypatch):
    from topoloom.schedules.execute.programs import transcript_plan

    monkeypatch.setattr(transcript_plan, "MAX_PIECES", 3)
    sent = transcript(
        "msccl-xml", schedule_of("UniRing(3)", "allgather"), topology_of("UniRing(3)")
    )
    with pytest.raises(TooLarge):
        plan_of_transcript(sent, 3)


def test_sums_that_need_what_was_complete_are_sent_as_early_as_they_can():
    full, part = (Span(0, 1, 3),), (Span(1, 2, 1),)
    messages = (Message(0, 1, full, ()), Message(1, 0, part, (0,)), Message(0, 1, full, (1,)))
    assert message_rounds(Transcript(Collective.ALLREDUCE, (0, 1, 2), messages)) == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["nccl-tuner-csv", "json", "dot"])
def test_what_sends_nothing_is_refused(form):
    with pytest.raises(InvalidProgram) as caught:
        transcript_of(form, [b"allgather,0,1,ring,ll,-1,-1,2"])
    assert caught.value.field == "/format"
