"""How far a panel is, beside a replay: a list of the moves that were made, one after the other."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.synth.plants import presents, straight, two_way
from tests.synth.test_wiring_devices import scripts
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Present, plan_moves, smallest_plant, to_document, uniform
from topoloom.synth.wiring.devices import read_script
from topoloom.synth.wiring.operations.observed_state import differences_from_plan
from topoloom.synth.wiring.operations.plan_progress import stages_done, standing, states, undone
from topoloom.synth.wiring.plans.panel_actions import Move
from topoloom.synth.wiring.plant import Pair, State


class Replay:
    """Pairs in their ports; every move checks that it can be made."""

    def __init__(self, plant, plugged):
        self.plant, self.plugged, self.made = plant, set(plugged), []

    def can(self, move):
        if not move.adds:
            return move.pair in self.plugged
        taken = {port for pair in self.plugged for port in self.plant.ends(pair)}
        return taken.isdisjoint(self.plant.ends(move.pair))

    def make(self, move):
        assert self.can(move), move
        (self.plugged.add if move.adds else self.plugged.remove)(move.pair)
        self.made.append(move)

    def repair(self, step):
        for pairs, adds in ((step.removes, False), (step.adds, True)):
            for pair in pairs:
                self.make(Move(0, adds, pair))

    def on(self, panel):
        return {pair for pair in self.plugged if pair.panel == panel}


def on(panel, moves):
    return [move for move in moves if move.pair.panel == panel]


def make_some(replay, moves, data):
    """Make some of the moves, in any order that the ports allow."""
    for move in data.draw(st.permutations(moves)):
        if data.draw(st.booleans()) and replay.can(move):
            replay.make(move)


def signed(step):
    """Return the moves of a step as pairs of what comes or goes."""
    return {(False, pair) for pair in step.removes} | {(True, pair) for pair in step.adds}


def stages_complete(script, moves, made):
    """Return how many stages, from the first on, have no move among ``moves`` that is not made."""
    complete = 0
    while complete < len(script.steps) and all(
        move in made for move in moves if move.stage == complete + 1
    ):
        complete += 1
    return complete


@pytest.mark.slow
@settings(max_examples=80)
@given(scripts(), st.data())
def test_within_a_stage_what_is_left_of_the_stage_is_missing_and_nothing_is_unexpected(
    script, data
):
    stage = data.draw(st.integers(0, len(script.steps)))
    replay = Replay(script.plant, script.base.pairs)
    for move in script.moves:
        if move.stage < stage:
            replay.make(move)
    make_some(replay, [move for move in script.moves if move.stage == stage], data)
    for panel in range(len(script.plant.panels)):
        moves = on(panel, script.moves)
        made, left = on(panel, replay.made), [m for m in moves if m not in replay.made]
        found = standing(script, panel, replay.on(panel))
        begun = max((move.stage for move in made), default=0)
        of_stage = [move for move in left if move.stage <= begun]
        assert set(found.missing) == {move.pair for move in of_stage if move.adds}
        assert set(found.outdated) == {move.pair for move in of_stage if not move.adds}
        assert not (found.unexpected or found.unrelated or found.ahead.removes or found.ahead.adds)
        assert found.left == len(left)
        assert found.stages_done == stages_complete(script, moves, made)
        assert found.stage == (begun if of_stage else found.stages_done)
        assert found.exact == (not of_stage)
    late = differences_from_plan(script, Present.of(replay.plugged))
    assert len(late.missing) + len(late.outdated) == len(script.moves) - len(replay.made)
    assert not late.unexpected
    assert late.complete == stages_complete(script, script.moves, replay.made)


@pytest.mark.slow
@settings(max_examples=40)
@given(scripts())
def test_every_prefix_of_the_moves_states_the_stage_and_its_made_moves(script):
    replay = Replay(script.plant, script.base.pairs)
    for made in range(len(script.moves) + 1):
        found = differences_from_plan(script, Present.of(replay.plugged))
        complete = stages_complete(script, script.moves, replay.made)
        of_stage = [move for move in script.moves if move.stage == complete + 1]
        assert (found.complete, found.of_stage) == (complete, len(of_stage))
        assert found.made == sum(move in replay.made for move in of_stage)
        assert len(found.missing) + len(found.outdated) == len(script.moves) - made
        assert not found.unexpected and found.matches == (made == len(script.moves))
        if made < len(script.moves):
            replay.make(script.moves[made])


@st.composite
def rewirings(draw):
    """Draw a plan from one two-way topology of five hosts to another, on three panels."""
    plant = straight(5, 3)
    before, after = (draw(two_way(5, 2).filter(lambda t: t.link_count)) for _ in range(2))
    present = plan_moves(before, plant).final
    return read_script(to_document(plan_moves(after, plant, present)), plant.with_present(present))


@settings(max_examples=40)
@given(rewirings(), st.data())
@pytest.mark.slow
def test_a_plan_is_not_done_with_a_dark_link_or_a_panel_that_nobody_looked_at(script, data):
    assume(script.moves)
    dark = data.draw(st.sampled_from(sorted(script.links)))
    found = differences_from_plan(script, script.final, dark={dark})
    assert not found.matches and found.dark == (dark,) and not found.missing
    hidden = data.draw(st.sampled_from(script.panels))
    looked = {*range(len(script.plant.panels))} - {hidden}
    seen = Present.of(pair for pair in script.final.pairs if pair.panel != hidden)
    found = differences_from_plan(script, seen, looked)
    assert not found.matches and found.unseen == (hidden,) and not found.missing


@pytest.mark.slow
@settings(max_examples=80)
@given(scripts(), st.data())
def test_moves_made_ahead_of_their_stage_are_neither_unexpected_nor_taken_back(script, data):
    replay = Replay(script.plant, script.base.pairs)
    for _ in range(2):
        make_some(replay, [m for m in script.moves if m not in replay.made], data)
    for panel in range(len(script.plant.panels)):
        moves = on(panel, script.moves)
        left = [move for move in moves if move not in replay.made]
        stage = data.draw(st.none() | st.integers(0, len(script.steps)))
        found = standing(script, panel, replay.on(panel), stage=stage)
        assert not found.unexpected
        assert found.left == len(left)
        assert found.stages_done == stages_complete(script, moves, replay.made)
        due = {(m.adds, m.pair) for m in left if m.stage <= found.stage}
        assert signed(found.repair) == due
        made = {(m.adds, m.pair) for m in moves if m in replay.made and m.stage > found.stage}
        assert signed(found.ahead) == made


@st.composite
def disturbed(draw, script):
    """Draw pairs that anybody may have left on the panels: some of a state, some anywhere."""
    replay = Replay(script.plant, script.base.pairs)
    for move in script.moves[: draw(st.integers(0, len(script.moves)))]:
        replay.make(move)
    kept = {pair for pair in sorted(replay.plugged) if draw(st.integers(0, 3))}
    replay = Replay(script.plant, kept)
    for pair in draw(presents(script.plant)).pairs:
        if replay.can(Move(0, True, pair)):
            replay.make(Move(0, True, pair))
    return replay


@pytest.mark.slow
@settings(max_examples=80)
@given(scripts(), st.data())
def test_the_repair_and_the_later_stages_lead_to_the_end_by_the_fewest_moves(script, data):
    replay = data.draw(disturbed(script))
    for panel in range(len(script.plant.panels)):
        seen = frozenset(replay.on(panel))
        stage = data.draw(st.none() | st.integers(0, len(script.steps)))
        found = standing(script, panel, seen, stage=stage)
        known = states(script, panel)
        assert not {*found.unexpected, *found.unrelated} & frozenset().union(*known)
        assert not set(found.repair.removes) & known[found.stage], "what is wanted is never pulled"
        assert not set(found.repair.removes) & known[-1]
        end = known[-1] | set(found.unrelated)
        assert found.left == len(seen ^ end)
        here = Replay(script.plant, seen)
        here.repair(found.repair)
        for move in on(panel, script.moves):
            if move.stage > found.stage and (move.pair in here.plugged) != move.adds:
                here.make(move)
        assert here.plugged == end
        assert len(here.made) == found.left
        ends = {port for pair in found.unrelated for port in script.plant.ends(pair)}
        needed = {port for state in known for pair in state for port in script.plant.ends(pair)}
        assert not ends & needed


@pytest.mark.slow
@given(scripts())
def test_every_panel_is_after_the_stages_that_were_carried_out_and_backwards_too(script):
    for panel in range(len(script.plant.panels)):
        known = states(script, panel)
        for number, state in enumerate(known):
            done = stages_done(script, panel, state)
            assert done is not None and done >= number and known[done] == state
            found = standing(script, panel, state)
            assert found.exact and found.stage == found.stages_done == done
            ends = [end for pair in state for end in script.plant.ends(pair)]
            assert len(ends) == len(set(ends)), "a port is in one pair"
        back = states(undone(script), panel)
        assert back == known[::-1]


@pytest.mark.slow
@given(scripts())
def test_a_plan_that_moves_pairs_twice_counts_them_twice(script):
    back = replace(script, steps=script.steps + undone(script).steps, final=script.base)
    for panel in range(len(script.plant.panels)):
        for number, state in enumerate(states(back, panel)):
            found = standing(back, panel, state, stage=number)
            assert found.exact
            later = [move for move in on(panel, back.moves) if move.stage > number]
            assert found.left == len(later)


def rewired():
    """Three hosts whose ring is turned round, with two more hosts beside."""
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    plant = smallest_plant(Topology(range(5), [(i, (i + 1) % 5) for i in range(5)]))
    before = plan_moves(ring, plant).final
    return read_script(to_document(plan_moves(ring.transpose(), plant, before)))


def test_a_pair_that_fell_out_of_an_earlier_stage_is_missing_from_the_present_one():
    script = rewired()
    lost = min(script.final.pairs)
    found = standing(script, 0, set(script.final.pairs) - {lost})
    assert (found.stage, found.missing, found.left) == (1, (lost,), 1)


def test_a_pair_of_other_hosts_stays_and_does_not_hold_the_plan_up():
    script = rewired()
    others, wrong = Pair(0, 3, 4), Pair(0, 4, 1)
    found = standing(script, 0, {*script.final.pairs, others})
    assert (found.unexpected, found.unrelated, found.left) == ((), (others,), 0)
    assert differences_from_plan(script, Present.of([*script.final.pairs, others])).stages_done == 1
    seen = {*script.base.pairs, wrong} - {p for p in script.base.pairs if p.b == 1}
    assert standing(script, 0, seen).unexpected == (wrong,)


@pytest.mark.parametrize("whose", ["nobody's", "foreign", "reserved", "of a host beside"])
def test_a_new_pair_on_free_ports_is_unexpected_only_if_it_is_the_plans_to_remove(whose):
    plant = replace(uniform("single", 4, 2), uniform=None)
    pair = Pair(0, 6, 7) if whose == "of a host beside" else Pair(0, 1, 3)
    if whose == "reserved":
        plant = replace(plant, states={plant.ends(pair)[0]: State.RESERVED})
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    plan = to_document(plan_moves(ring, plant))
    foreign = [pair] if whose == "foreign" else []
    script = read_script(plan, plant.with_present(Present.of(foreign, foreign)))
    assert pair.a not in {other.a for other in script.final.pairs}
    found = standing(script, 0, {*script.final.pairs, pair})
    mine = (pair,) if whose == "nobody's" else ()
    assert found.unexpected == found.repair.removes == mine
    assert {*found.unexpected, *found.unrelated} == {pair}
