"""Whatever is found is stored, and whatever is stored is read back: equal, and at equal cost.

The sizes are none that an example uses; among them are those whose best topologies have
recipes of hundreds of numbers.
"""

import json
import random
from fractions import Fraction

import pytest

from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import frontiers, topologies
from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.formats import WRITERS
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.search.frontier import frontier
from topoloom.synth.slack import check_slack_schedule, slack_schedule

ONE_WAY, TWO_WAY = "unidirectional", "bidirectional"
PARTS = 8
LONG_RECIPES = [
    (32, 4, ONE_WAY),
    (31, 4, ONE_WAY),
    (37, 4, ONE_WAY),
    (29, 2, ONE_WAY),
    (32, 4, TWO_WAY),
    (101, 2, ONE_WAY),
]
LARGE = [(128, 4, TWO_WAY), (100, 8, ONE_WAY), (512, 4, TWO_WAY), (500, 6, ONE_WAY),
         (1000, 7, ONE_WAY)]  # fmt: skip


def drawn(seed, count, largest, most):
    """Return sizes at random of which a graph exists, both kinds of links in turn."""
    source, found = random.Random(seed), []
    while len(found) < count:
        links = (ONE_WAY, TWO_WAY)[len(found) % 2]
        size = source.randint(9, largest), source.randint(2, most), links
        if size[0] > size[1] and (links == ONE_WAY or size[0] * size[1] % 2 == 0):
            found.append(size)
    return found


def named(size):
    return f"{size[0]}x{size[1]}-{size[2][:3]}"


def require_equal(read, entry):
    """Assert that a topology is the one of a point of a frontier."""
    made = build(parse(entry["recipe"]))
    assert read == made
    assert (read.name, read.recipe) == (entry["name"], made.recipe)


def require_costs(read, entry):
    """Assert that a topology is the one of a point of a frontier, at its costs."""
    require_equal(read, entry)
    costs = [Cost(one["steps"], Fraction(one["bandwidth"])) for one in (entry, entry["transpose"])]
    assert list(checked(read, entry.get("within_steps"))) == costs


def checked(topology, within):
    """Return the costs of both directions, by broadcast or as labels within some steps prove."""
    if within is None:
        return measure_both(topology)
    both = topology, topology.transpose()
    return tuple(check_slack_schedule(graph, slack_schedule(graph, within)) for graph in both)


def require_read_back(context, client, topoloom, folder, size):
    """Assert that all points of a frontier come back from the store, by HTTP and as files."""
    nodes, degree, links = size
    request = FrontierRequest(nodes=nodes, degree=degree, links=links)
    seen = set()
    for entry in frontiers.frontier(context, request).document()["frontier"]:
        if entry["topology_id"] in seen:
            # Another point on the same topology, whose name by now also stands for its file.
            require_costs(build(parse(entry["recipe"])), entry)
            continue
        seen.add(entry["topology_id"])
        stored = topologies.load(context, TopologySource(id=entry["topology_id"]))
        require_costs(stored.topology, entry)
        assert topologies.create(context, TopologySource(name=entry["name"])).id == stored.id
        answer = client.get(f"/v1/topologies/{entry['topology_id'][:12]}")
        require_equal(topology_from_document(answer.json()), entry)
        file = folder / f"{entry['name']}.json"
        assert topoloom("topology", entry["name"], "--out", str(file)).code == 0
        measured = topoloom("measure", str(file), "--json")
        assert (measured.code, measured.err) == (0, "")
        cost = json.loads(measured.out)
        # Measured by broadcast, which a point by labels is not.
        by_broadcast = ("steps", "bandwidth", "transpose") if entry["algorithm"] == "bfb" else ()
        for name in ("name", "nodes", "degree", *by_broadcast):
            assert cost[name] == entry[name], name
        file.unlink()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("size", [*LONG_RECIPES, *drawn(seed=1, count=34, largest=96, most=5)],
                         ids=named)  # fmt: skip
def test_every_point_of_a_frontier_is_read_back(context, client, topoloom, tmp_path, size):
    require_read_back(context, client, topoloom, tmp_path, size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [*LARGE, *drawn(seed=2, count=20, largest=256, most=8)],
                         ids=named)  # fmt: skip
def test_every_point_of_a_larger_frontier_is_read_back(context, client, topoloom, tmp_path, size):
    require_read_back(context, client, topoloom, tmp_path, size)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", LONG_RECIPES[:3] + drawn(seed=3, count=3, largest=40, most=4),
                         ids=named)  # fmt: skip
def test_a_design_is_made_where_recipes_are_long(client, size):
    nodes, degree, links = size
    asked = {"nodes": nodes, "degree": degree, "links": links}
    answer = client.post("/v1/designs", json={**asked, "collective": "allreduce", "bytes": "1MB"})
    assert answer.status_code == 201, answer.text
    best = answer.json()["best"]
    assert best["schedule"]["collective"] == "allreduce"
    stored = client.get(f"/v1/topologies/{best['topology_id']}").json()
    assert stored["recipe"] == best["recipe"]


def require_written_and_read(entries):
    for entry in entries:
        recipe = parse(entry.recipe)
        made = build(recipe)
        assert (made.node_count, made.degree) == (entry.nodes, entry.degree)
        again = topology_from_document(json.loads(WRITERS["json"](made)))
        assert (again, again.name, again.recipe) == (made, made.name, recipe)


@pytest.mark.slow
def test_a_spread_of_the_atlas_is_built_written_and_read_back():
    long = [entry for entry in bundled_atlas() if len(entry.recipe) > 200]
    assert len(long) > 400
    small = [entry for entry in bundled_atlas() if entry.nodes <= 200]
    require_written_and_read([*small[::40], *long[::20]])


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_atlas_is_built_written_and_read_back(part):
    require_written_and_read(list(bundled_atlas())[part::PARTS])


@pytest.mark.exhaustive
@pytest.mark.timeout(0)
@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize("degree", range(2, 9))
def test_every_size_has_its_design_or_a_reason(degree, links):
    answered = 0
    for nodes in range(2, 257):
        try:
            found = frontier(nodes, degree, links)
        except ImpossibleRequest as error:
            odd = links is Links.BIDIRECTIONAL and nodes * degree % 2
            assert nodes <= degree or odd, error
            continue
        answered += 1
        for point in found.points:
            made = build(point.recipe)
            again = topology_from_document(json.loads(WRITERS["json"](made)))
            assert (again, again.name, again.recipe) == (made, made.name, point.recipe)
            assert checked(again, point.within) == (point.cost, point.transpose)
    assert answered >= 120
