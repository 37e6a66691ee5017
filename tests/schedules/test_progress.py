"""Long work says how far it is, and ends when its listener says so."""

import random
import time
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import pytest

from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.link_values import link_values
from topoloom.schedules.trees import forestcoll
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.forests.forests_by_height import low_forests
from topoloom.synth.fabrics import fabric
from topoloom.synth.progress import progress_listener, report_progress
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

LONG = [build(parse("GeneralizedKautz(4, 40)")), fabric("mi250-2")]


class Stop(Exception):
    """What a listener raises here."""


@pytest.mark.parametrize("topology", LONG, ids=lambda topology: topology.name)
def test_every_stage_counts_up_to_its_total(topology) -> None:
    heard: dict[str, list[tuple[int, int]]] = {}
    with progress_listener(lambda stage, *done: heard.setdefault(stage, []).append(done)):
        make(topology, "allgather", "forestcoll")
    assert "packing trees" in heard
    assert ("removing switches" in heard) == bool(topology.switches)
    for words in heard.values():
        assert all(0 <= done <= total for done, total in words)
    # Trees of several roots may be packed between two words, never none.
    roots = [done for done, _ in heard["packing trees"]]
    assert roots[0] == 0 and roots == sorted(set(roots))
    assert {total for _, total in heard["packing trees"]} == {len(topology.compute_nodes)}


@pytest.mark.parametrize("topology", LONG, ids=lambda topology: topology.name)
def test_a_listener_ends_the_work_at_any_word(topology) -> None:
    words = 0

    def count(*_: object) -> None:
        nonlocal words
        words += 1

    with progress_listener(count):
        whole = forestcoll.allgather(topology)
    for last in range(0, words, max(1, words // 7)):
        left = last

        def stop(*_: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stop

        with pytest.raises(Stop), progress_listener(stop):
            forestcoll.allgather(topology)
    assert forestcoll.allgather(topology) == whole


LARGE = {
    "allgather": lambda t: forestcoll.allgather(t),
    "optimum": lambda t: forestcoll.optimum(t),
    "fewest trees": lambda t: forestcoll.optimum(t, max_gap=Fraction(1, 1000)),
    "allreduce": lambda t: make(t, "allreduce", "forestcoll"),
    "heights": lambda t: low_forests(t, demand_of(t)),
    "values": lambda t: link_values(t, Collective.ALLGATHER),
}


def irregular(nodes: int) -> Topology:
    rng = random.Random(0)
    around = [(node, (node + 1) % nodes, 7) for node in range(nodes)]
    more = [(s, t, rng.randint(1, 99)) for s in range(nodes) for t in rng.sample(range(nodes), 4)]
    return Topology(range(nodes), around + [link for link in more if link[0] != link[1]])


@pytest.mark.slow
@pytest.mark.parametrize("work", LARGE)
def test_work_that_is_too_long_ends_soon_after_it_is_told_to(work: str) -> None:
    """In seconds of this thread's processor; a listener tells it to end after one of them."""
    LARGE[work](irregular(12))  # compiles what is not compiled yet
    begun, heard = time.thread_time(), [time.thread_time()]

    def stop(*_: object) -> None:
        heard.append(time.thread_time())
        if heard[-1] - begun > 1:
            raise Stop

    with suppress(Stop), progress_listener(stop):
        LARGE[work](irregular(90))
    waits = [later - sooner for sooner, later in pairwise([*heard, time.thread_time()])]
    assert max(waits) < 2


def test_after_the_block_nobody_listens() -> None:
    with pytest.raises(Stop), progress_listener(lambda *_: (_ for _ in ()).throw(Stop)):
        report_progress("anything", 0, 1)
    report_progress("anything", 0, 1)
