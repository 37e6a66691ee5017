"""Time over latency and bandwidth: against every path of the whole ring, and by hand."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.network_curves import ring_time as module
from topoloom.schedules.network_curves.convex_curve import convex_pieces, value_at
from topoloom.schedules.network_curves.network import KernelTimes, Network
from topoloom.schedules.network_curves.program import (
    Program,
    Stream,
    bandwidth_curves,
    last_tolerated_place,
    latency_curves,
    program_pieces,
)
from topoloom.schedules.network_curves.ring_collective import (
    Channel,
    RingCollective,
    Work,
    shortest_period,
    step_messages,
)
from topoloom.schedules.network_curves.ring_time import ring_time

FREE = Network(Fraction(0), Fraction(0), Fraction(0))
RINGS = [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE]
place = st.fractions(0, 50, max_denominator=7)
networks = st.builds(
    Network,
    place,
    place,
    place,
    st.builds(
        KernelTimes,
        st.dictionaries(st.integers(1, 20), st.integers(0, 99), max_size=3),
        st.dictionaries(st.integers(1, 20), st.integers(0, 99), max_size=3),
    ),
)


@st.composite
def collectives(draw):
    """Yield a collective with the sharing of all its ranks, for each channel."""
    ranks = draw(st.integers(2, 6))
    ring = st.lists(st.integers(0, 2), min_size=ranks, max_size=ranks).map(tuple)
    sizes = st.lists(st.integers(1, 20), min_size=1, max_size=3).map(tuple)
    rings = draw(st.lists(st.tuples(ring, sizes), min_size=1, max_size=2))
    channels = tuple(Channel(shortest_period(sharing), messages) for sharing, messages in rings)
    return RingCollective(draw(st.sampled_from(RINGS)), ranks, channels), rings


def longest(work, sharing, messages, network, latency, per_byte):
    """Return the time of one channel: the last receipt of any rank, by recursion over all ranks."""
    count, kinds = len(messages), work.work()

    def wire(rank, size):
        return size * (sharing[rank] * per_byte if sharing[rank] else network.inside_per_byte)

    def kernel(kind, size):
        reduction = kind in (Work.REDUCTION, Work.REDUCTION_AND_COPY)
        copy = kind in (Work.COPY, Work.REDUCTION_AND_COPY)
        return reduction * network.kernels.reduction(size) + copy * network.kernels.copy(size)

    def received(rank, step, at):
        before = (rank - 1) % work.ranks
        delay = latency if sharing[before] else network.inside_latency
        size = messages[at]
        passed = 2 * network.overhead + delay + wire(before, size)
        return start(before, step, at) + passed + kernel(kinds[step + 1], size)

    @cache
    def start(rank, step, at):
        ready = received(rank, step - 1, at) if step else kernel(kinds[0], messages[at])
        number = step * count + at
        if number == 0:
            return ready
        step, at = divmod(number - 1, count)
        return max(ready, start(rank, step, at) + wire(rank, messages[at]))

    last = work.steps - 1
    return max(received(rank, last, at) for rank in range(work.ranks) for at in range(count))


@given(collectives(), networks, place, place)
def test_the_time_is_that_of_the_longest_of_all_paths(drawn, network, latency, per_byte):
    work, rings = drawn
    path = ring_time(work, network, latency, per_byte)
    expected = max(
        longest(work, sharing, messages, network, latency, per_byte) for sharing, messages in rings
    )
    assert path.at(latency, per_byte) == expected


@given(collectives(), networks, place, place, place, place)
@pytest.mark.slow
def test_a_path_is_never_longer_than_the_longest_elsewhere(drawn, network, a, b, c, d):
    path = ring_time(drawn[0], network, a, b)
    assert path.at(c, d) <= ring_time(drawn[0], network, c, d).at(c, d)
    assert path.latencies >= 0 and path.sent >= 0 and path.fixed >= 0


@given(collectives(), networks, place, place)
def test_curves_equal_the_time_at_every_place(drawn, network, latency, per_byte):
    work = drawn[0]
    program = Program((Stream(0, {work: 1}),), 0)
    exact = ring_time(work, network, latency, per_byte).at(latency, per_byte)
    end = Fraction(60)
    assert value_at(latency_curves(program, network, per_byte, end)[work], latency) == exact
    over = bandwidth_curves(program, network, latency, Fraction(0), end)[work]
    assert value_at(over, per_byte) == exact


@given(collectives(), networks)
def test_pieces_meet_grow_steeper_and_cover_the_axis(drawn, network):
    program = Program((Stream(0, {drawn[0]: 1}),), 0)
    (pieces,) = latency_curves(program, network, Fraction(1), Fraction(60)).values()
    assert pieces[0].start == 0
    for before, after in pairwise(pieces):
        assert before.start < after.start < 60
        assert before.slope < after.slope
        assert before.at(after.start) == after.at(after.start)


lines = st.tuples(st.fractions(-9, 9, max_denominator=5), st.fractions(0, 9, max_denominator=5))


@given(st.lists(lines, min_size=1, max_size=6), place)
def test_pieces_of_a_maximum_of_lines_are_exact(known, at):
    def line(x):
        return max(known, key=lambda one: one[0] + one[1] * x)

    pieces = convex_pieces(line, Fraction(0), Fraction(50))
    assert value_at(pieces, at) == max(value + slope * at for value, slope in known)
    assert {(piece.value, piece.slope) for piece in pieces} <= set(known)


def test_a_ring_that_the_interface_limits_sends_all_bytes_and_waits_once():
    # 4 ranks on 4 hosts, 2 messages of 100 bytes per step, 3 steps: 600 bytes, then one hop.
    work = RingCollective(Collective.ALLGATHER, 4, (Channel((1,), (100, 100)),))
    path = ring_time(work, FREE, Fraction(5), Fraction(1))
    assert (path.latencies, path.sent, path.fixed) == (1, 600, 0)


def test_a_ring_that_latency_limits_waits_in_every_step():
    work = RingCollective(Collective.ALLREDUCE, 4, (Channel((1,), (100, 100)),))
    path = ring_time(work, FREE, Fraction(10**6), Fraction(1))
    # Six hops of the second message, which leaves after the first.
    assert (path.latencies, path.sent) == (6, 700)


def test_channels_that_share_an_interface_take_the_time_of_all_their_bytes():
    alone = RingCollective(Collective.ALLGATHER, 2, (Channel((1,), (100,)),))
    shared = RingCollective(Collective.ALLGATHER, 2, (Channel((3,), (100,)),) * 3)
    time = ring_time(alone, FREE, Fraction(0), Fraction(1)).at(Fraction(0), Fraction(1))
    assert (
        ring_time(shared, FREE, Fraction(0), Fraction(1)).at(Fraction(0), Fraction(1)) == 3 * time
    )


def test_weights_beyond_64_bits_are_exact_too():
    work = RingCollective(Collective.ALLGATHER, 3, (Channel((1,), (3, 5)),))
    tiny = Fraction(1, 10**25 + 1)
    path = ring_time(work, FREE, tiny, Fraction(1, 3))
    assert path.at(tiny, Fraction(1, 3)) == longest(
        work, (1, 1, 1), (3, 5), FREE, tiny, Fraction(1, 3)
    )


def test_thousands_of_ranks_take_the_work_of_one_period():
    blocks = shortest_period((0, 0, 0, 1) * 1024)
    work = RingCollective(Collective.ALLGATHER, 4096, (Channel(blocks, (1, 1)),))
    path = ring_time(work, FREE, Fraction(10**6), Fraction(1))
    # Of 4,096 hops one is missing, and the path leaves out one inside a host.
    assert (blocks, path.latencies) == ((0, 0, 0, 1), 1024)


def test_too_many_messages_are_an_error(monkeypatch):
    monkeypatch.setattr(module, "MAX_MESSAGES", 5)
    work = RingCollective(Collective.ALLREDUCE, 4, (Channel((1,), (1,)),))
    with pytest.raises(TooLarge, match="at most 5 messages in one period of a ring, not 6"):
        ring_time(work, FREE, Fraction(0), Fraction(1))


def test_streams_run_beside_each_other_and_collectives_of_one_after_each_other():
    pair = RingCollective(Collective.ALLGATHER, 2, (Channel((1,), (10,)),))
    program = Program((Stream(100, {}), Stream(7, {pair: 3})), 0)
    curves = latency_curves(program, FREE, Fraction(1), Fraction(1000))
    pieces = program_pieces(program, curves, Fraction(0), Fraction(1000))
    # 7 + 3 (10 + L) > 100 from L = 21 on.
    assert [(p.start, p.value, p.slope) for p in pieces] == [(0, 100, 0), (21, 37, 3)]
    assert last_tolerated_place(pieces, Fraction(0), Fraction(1, 10), Fraction(1000)) == Fraction(
        73, 3
    )
    assert last_tolerated_place(pieces, Fraction(0), Fraction(50), Fraction(1000)) is None


@given(
    st.sampled_from(RINGS),
    st.integers(2, 9),
    st.integers(1, 4000),
    st.integers(1, 300),
    st.integers(1, 3),
)
def test_the_messages_of_a_step_carry_the_data_of_one_rank(collective, ranks, work, chunk, slices):
    sent = step_messages(collective, ranks, work, chunk, slices, "simple")
    part = -(-work // ranks) if collective is Collective.ALLREDUCE else work
    loops = -(-work // (chunk * (ranks if collective is Collective.ALLREDUCE else 1)))
    assert part <= sum(sent) < part + loops
    assert all(0 < size <= chunk for size in sent)
    assert sum(step_messages(collective, ranks, work, chunk, slices, "ll")) == 2 * sum(sent)
