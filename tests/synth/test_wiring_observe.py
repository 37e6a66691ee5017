import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.plants import presents
from tests.synth.test_wiring_devices import scripts
from topoloom.synth.wiring import Present
from topoloom.synth.wiring.operations.observed_state import differences_from_plan


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(scripts(), st.data())
def test_the_repair_leads_from_what_was_seen_to_what_is_wanted(script, data):
    seen = data.draw(presents(script.plant))
    foreign = script.plant.present.foreign
    kept = [pair for pair in seen.pairs if not _clash(script, pair, foreign)]
    observed = Present.of({*kept, *foreign}, foreign)
    found = differences_from_plan(script, observed)
    after = set(observed.pairs) - set(found.repair.removes) | set(found.repair.adds)
    assert set(script.final.pairs) <= after
    assert foreign <= after
    used = [port for pair in after for port in script.plant.ends(pair)]
    assert len(set(used)) == len(used)
    assert found.matches == (after == set(observed.pairs))
    again = differences_from_plan(script, Present.of(after, foreign))
    assert again.matches


def _clash(script, pair, foreign):
    taken = {port for other in foreign for port in script.plant.ends(other)}
    return bool(taken.intersection(script.plant.ends(pair)))


@settings(deadline=None, max_examples=40)
@given(scripts())
def test_a_plan_knows_how_far_it_is(script):
    state = set(script.base.pairs)
    assert differences_from_plan(script, Present.of(state)).stages_done == 0 or not script.steps
    for number, step in enumerate(script.steps, start=1):
        state = state - set(step.removes) | set(step.adds)
        assert differences_from_plan(script, Present.of(state)).stages_done == number
    assert differences_from_plan(script, script.final).matches


@settings(deadline=None, max_examples=20)
@given(scripts(), st.integers(0, 1))
def test_panels_that_nobody_looked_at_are_not_judged(script, panel):
    if panel < len(script.plant.panels):
        found = differences_from_plan(script, Present(), panels=[panel])
        assert {pair.panel for pair in found.missing} <= {panel}
