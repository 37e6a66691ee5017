"""Long work says how far it is, and ends when its listener says so."""

import pytest

from schedules import forestcoll
from schedules.collectives import make
from synth.build import build
from synth.fabrics import fabric
from synth.progress import listened, tell
from synth.recipe import parse

LONG = [build(parse("GeneralizedKautz(4, 40)")), fabric("mi250-2")]


class Stop(Exception):
    """What a listener raises here."""


@pytest.mark.parametrize("topology", LONG, ids=lambda topology: topology.name)
def test_every_stage_counts_up_to_its_total(topology) -> None:
    heard: dict[str, list[tuple[int, int]]] = {}
    with listened(lambda stage, done, total: heard.setdefault(stage, []).append((done, total))):
        make(topology, "allgather", "forestcoll")
    assert "packing trees" in heard
    assert ("removing switches" in heard) == bool(topology.switches)
    for words in heard.values():
        assert all(0 <= done <= total for done, total in words)
    roots = [done for done, _ in heard["packing trees"]]
    assert roots == list(range(len(topology.compute_nodes)))


@pytest.mark.parametrize("topology", LONG, ids=lambda topology: topology.name)
def test_a_listener_ends_the_work_at_any_word(topology) -> None:
    words = 0

    def count(*_: object) -> None:
        nonlocal words
        words += 1

    with listened(count):
        whole = forestcoll.allgather(topology)
    for last in range(0, words, max(1, words // 7)):
        left = last

        def stop(*_: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stop

        with pytest.raises(Stop), listened(stop):
            forestcoll.allgather(topology)
    assert forestcoll.allgather(topology) == whole


def test_after_the_block_nobody_listens() -> None:
    with pytest.raises(Stop), listened(lambda *_: (_ for _ in ()).throw(Stop)):
        tell("anything", 0, 1)
    tell("anything", 0, 1)
