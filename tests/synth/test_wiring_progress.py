"""Plans say how far they are, and end where whoever listens raises."""

import threading

import numpy as np
import pytest

from topoloom.synth.progress import progress_listener, run_in_thread
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Objective, duplex, plan_moves, to_document, uniform
from topoloom.synth.wiring.operations.worst_failures import survey
from topoloom.synth.wiring.placement.host_placement import plan_placed
from topoloom.synth.wiring.plans.stages import Limits


class Stopped(Exception):
    """Somebody had enough."""


def regular(size, seed):
    rng = np.random.default_rng(seed)
    cycles = np.concatenate([rng.permutation(size).reshape(1, -1) for _ in range(3)])
    return Topology.direct(size, cycles.ravel(), np.roll(cycles, -1, axis=1).ravel())


def today(size=40):
    plant = uniform("per-port", size, 3)
    return plant.with_present(plan_moves(regular(size, 1), plant).final)


def petersen():
    ends = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
    ends += [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return Topology(range(10), [*ends, *(end[::-1] for end in ends)])


def far_away():
    return plan_moves(regular(40, 2), today())


WORK = {
    "fewest moves": far_away,
    "least time": lambda: plan_moves(regular(40, 2), today(), objective=Objective.SECONDS),
    "hosts chosen": lambda: plan_placed(regular(40, 2), today()),
    "edge colouring": lambda: plan_moves(petersen(), duplex(10, 4)),
    "stages": lambda: to_document(far_away(), Limits(max_links_down=5)),
    "survey": lambda: survey(far_away()),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_work_says_how_far_it_is_and_ends_in_any_stage_of_it(work):
    said = []
    with progress_listener(lambda *words: said.append(words)):
        work()
    assert said
    assert all(0 <= done <= total and stage for stage, done, total in said)
    for stage in {stage for stage, _, _ in said}:

        def stop(what, done, total, stage=stage):
            if what == stage:
                raise Stopped

        with pytest.raises(Stopped), progress_listener(stop):
            work()


def test_listening_changes_no_plan():
    alone = plan_placed(regular(40, 2), today())
    with progress_listener(lambda *words: None):
        assert plan_placed(regular(40, 2), today()).wiring.routes == alone.wiring.routes


def test_what_says_nothing_itself_is_attended_and_left_where_whoever_listens_raises():
    held = threading.Event()
    heard = []

    def listener(*words):
        heard.append(words)
        if len(heard) == 3:
            raise Stopped

    with pytest.raises(Stopped), progress_listener(listener):
        run_in_thread("waiting", held.wait)
    held.set()
    assert heard == [("waiting", 0, 1)] * 3
    with pytest.raises(ZeroDivisionError):
        run_in_thread("dividing", lambda: 1 // 0)
