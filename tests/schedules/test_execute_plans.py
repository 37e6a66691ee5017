"""Plans of schedules: which rank sends what to whom in which round, without a process."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schedule_documents import to_document
from tests.schedule_oracles import direct_topologies, every_schedule, ring, two_boxes
from topoloom.schedules.errors import InvalidSchedule, TooLarge
from topoloom.schedules.execute.expected_data import Task, initial, mistakes
from topoloom.schedules.execute.infer_topology import infer_topology
from topoloom.schedules.execute.point_to_point_executor import cut
from topoloom.schedules.execute.programs.plan import plan
from topoloom.schedules.execute.programs.rank_program import Piece, Transfer, Turn
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule, Tree, TreeSchedule
from topoloom.schedules.verify import violations
from topoloom.synth.topology.topology import Topology


def simulated(schedule, elements, pipeline_chunks):
    """Carry out a plan in this process; return the mistakes and the rounds."""
    found = plan(schedule, elements, pipeline_chunks)
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    gathers = [part.collective.outward for part in parts]
    task = Task(found.bounds, not all(gathers), not gathers[0], gathers[-1])
    buffers = [initial(task, rank, 0)[0] for rank in range(len(parts[0].ranks))]
    for messages in found.rounds:
        before = [buffer.copy() for buffer in buffers]
        for message in messages:
            for first, past, op in message.ranges.tolist():
                piece = before[message.source][first:past]
                if op:
                    buffers[message.target][first:past] += piece
                else:
                    buffers[message.target][first:past] = piece
    wrong = [m for rank, held in enumerate(buffers) for m in mistakes(task, rank, 0, held)]
    return wrong, found


@given(direct_topologies(), st.integers(0, 40), st.integers(1, 5), st.data())
def test_a_plan_of_a_valid_schedule_does_what_the_collective_asks(topology, size, pieces, data):
    schedule = data.draw(st.sampled_from([*every_schedule(topology).values()]))
    assert violations(schedule, topology) == []
    assert simulated(schedule, size, pieces)[0] == []


@pytest.mark.parametrize("pieces", [1, 3, 7])
def test_pieces_follow_one_another_down_a_tree(pieces):
    chain = tuple(Tree(root, 1, tuple((i % 5, (i + 1) % 5) for i in range(root, root + 4)))
                  for root in range(5))  # fmt: skip
    schedule = TreeSchedule(Collective.ALLGATHER, ring(5).digest, tuple(range(5)), 1, chain)
    wrong, found = simulated(schedule, 1000, pieces)
    assert wrong == []
    assert len(found.rounds) == 4 + pieces - 1
    # The pieces of one root keep every link of its chain busy.
    assert max(len(messages) for messages in found.rounds) == 5
    moved = sum(message.elements for messages in found.rounds for message in messages)
    assert moved == 4 * 1000


def test_a_send_over_switches_is_one_message():
    schedule = make(two_boxes(), "allgather", "forestcoll")
    found = plan(schedule, 1 << 10)
    moved = sum(message.elements for messages in found.rounds for message in messages)
    assert moved == 3 * 1024


def test_the_sends_of_a_schedule_are_enough_to_run_it():
    schedule = make(two_boxes(), "allreduce", "forestcoll")
    document = to_document(schedule)
    again = from_document(document, infer_topology(document))
    assert plan(again, 100).bounds == plan(schedule, 100).bounds
    assert simulated(again, 100, 2)[0] == []


def stranger(**changes):
    return replace(make(ring(3), "allgather"), **changes)


def one_tree(*tree):
    return TreeSchedule(Collective.ALLGATHER, "", (0, 1), 1, (Tree(*tree),))


@pytest.mark.parametrize(
    ("schedule", "place"),
    [
        (stranger(ranks=(0, 1)), "/steps/0"),
        (stranger(chunks_per_shard=0), "/steps/0"),
        (one_tree(0, 1, ((1, 0),)), "/trees/0/edges/0"),
        (one_tree(2, 1, ()), "/trees/0/root"),
        (one_tree(0, 1, ((0, 2),)), "/trees/0/edges"),
        (one_tree(0, 2, ((0, 1),)), "/trees/0/weight"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_its_place(schedule, place):
    with pytest.raises(InvalidSchedule) as error:
        plan(schedule, 12)
    assert error.value.field == place


def test_the_number_of_pieces_is_limited():
    with pytest.raises(TooLarge) as error:
        plan(make(ring(80), "allgather", "forestcoll"), 1, pipeline_chunks=1024)
    assert error.value.field == "/pipeline_chunks"


def test_topologies_are_only_implied_by_what_names_ranks():
    with pytest.raises(InvalidSchedule):
        infer_topology({"steps": [[{"source": 1.5, "target": None}]], "trees": 3})
    found = infer_topology({"steps": [[{"source": 10, "target": 9}], 0], "trees": [0]})
    assert found == Topology([9, 10], [(10, 9)])


@st.composite
def transfers(draw):
    """Return messages to or from several peers, of pieces that do not overlap."""
    found, at = [], 0
    for peer in range(draw(st.integers(1, 4))):
        pieces = []
        for length in draw(st.lists(st.integers(1, 20), min_size=1, max_size=4)):
            pieces.append(Piece(0, at, at + length, draw(st.integers(0, 1))))
            at += length + draw(st.integers(0, 3))
        found.append(Transfer(peer, tuple(pieces)))
    return tuple(found)


@given(transfers(), st.integers(1, 25))
def test_messages_are_cut_at_the_same_elements_at_both_ends(whole, most):
    def elements(pieces):
        return [(at, piece.op) for piece in pieces for at in range(piece.first, piece.past)]

    parts = cut(Turn(whole, ()), most).sends
    for transfer in whole:
        mine = [part for part in parts if part.peer == transfer.peer]
        joined = [one for part in mine for one in elements(part.pieces)]
        assert joined == elements(transfer.pieces)
        # The number of elements alone decides: the pieces may differ at the other end.
        *full, last = (part.elements for part in mine)
        assert full == [most] * ((transfer.elements - 1) // most)
        assert last == transfer.elements - sum(full)
