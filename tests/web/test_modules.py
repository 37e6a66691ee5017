"""Modules of the page alone, in a real browser: numbers, recipes and places."""

import json
import math
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from networkx.algorithms.isomorphism import DiGraphMatcher

import topoloom
from topoloom.schedules.formats import Options, write

pytestmark = pytest.mark.slow


STATIC = Path(__file__).parent.parent.parent / "app" / "web" / "static"


@pytest.fixture(scope="module")
def call(chromium):
    """Return a function that calls an exported function of a module of the page."""
    page = chromium.new_page()

    def served(route):
        name = route.request.url.rpartition("/")[2]
        if name.endswith(".js"):
            route.fulfill(path=STATIC / name)
        else:
            route.fulfill(body="", content_type="text/html")

    page.route("**/*", served)
    page.goto("http://page.test/")

    def called(module, name, *values):
        return page.evaluate(
            "async ([path, name, values]) => (await import(path))[name](...values)",
            [f"/{module}.js", name, list(values)],
        )

    yield called
    page.close()


@pytest.mark.parametrize(
    ("function", "value", "said"),
    [
        ("seconds", 0.0027, "2.70 ms"),
        ("seconds", 0.000186666, "187 µs"),
        ("seconds", 12.3456, "12.3 s"),
        ("seconds", 0.9999, "1.00 s"),
        ("bytes", 1048576, "1 MiB"),
        ("bytes", 1000000, "1 MB"),
        ("bytes", 40985600, "39.1 MiB"),
        ("bytes", 12, "12 B"),
        ("bytes", 0, "0 B"),
        ("digits", 346.6667, "347"),
        ("digits", 12345.6, "12,346"),
        ("percent", 1.0517, "5.2%"),
        ("fraction", "277/256", "1.08"),
    ],
)
def test_numbers_have_three_digits_and_a_unit(call, function, value, said):
    assert call("numbers", function, value).replace("\u00a0", " ") == said


def test_a_recipe_is_a_tree_of_operators_and_bases(call):
    recipe = "Power(2, Product(UniRing(4), LineGraph(1, Diamond())))"
    found = call("recipes", "parse", recipe)

    def shown(term):
        parts = ", ".join(part.get("text") or shown(part) for part in term["parts"])
        return f"{term['name']}({parts})"

    assert shown(found) == recipe


def test_a_torus_stands_on_a_grid_and_a_circulant_on_a_circle(call):
    nodes = [{"id": number} for number in range(12)]
    torus = call("layout", "arrange", {"recipe": "Torus(3, 4)", "nodes": nodes, "links": []})
    assert torus["name"] == "grid"
    assert len({round(y, 6) for _, y in torus["places"]}) == 3
    assert len({round(x, 6) for x, _ in torus["places"]}) == 4
    ring = call("layout", "arrange", {"recipe": "UniRing(12)", "nodes": nodes, "links": []})
    assert ring["name"] == "circle"
    radii = {round((x - 0.5) ** 2 + (y - 0.5) ** 2, 6) for x, y in ring["places"]}
    assert len(radii) == 1


@pytest.mark.parametrize(
    ("recipe", "count", "degree", "sizes"),
    [
        ("LineGraph(2, Circulant(12, 2, 3))", 192, 4, [12, 4, 4]),
        ("Product(UniRing(6), UniRing(8))", 48, 2, [6, 8]),
        ("Power(2, UniRing(20))", 400, 2, [20, 20]),
        ("Lift(4, 3, 2, 2, 0, 1, 0, 4, 1, 1, 1, 5)", 16, 3, [2, 2, 4]),
        ("Shortened(4, 9, 1, LineGraph(1, @my))", 64, 4, [16, 4]),
        ("DegreeExpansion(2, @my)", 64, 4, [64]),
        ("RandomRegular(100, 4, 1)", 100, 4, [100]),
        (None, 100, 4, [100]),
    ],
)
def test_a_recipe_states_the_nested_blocks_of_its_nodes(call, recipe, count, degree, sizes):
    assert call("recipes", "blocksOf", recipe, count, degree) == sizes


def test_blocks_have_gaps_on_the_circle_and_links_between_two_blocks_run_together(call):
    circle = call("layout", "circle", [4, 16])
    angles = [math.atan2(y - 0.5, x - 0.5) for x, y in circle["places"]]
    steps = [(after - before) % math.tau for before, after in pairwise(angles)]
    assert min(steps[15::16]) > 1.5 * max(steps[:15])
    first, second = (call("layout", "bundled", circle, 3, other) for other in (20, 30))
    assert first == second
    assert call("layout", "bundled", call("layout", "circle", [64]), 3, 20) is None


def test_hops_are_those_of_shortest_paths(call):
    out = [[1], [2], [3], [0, 4], [], [0]]
    into = [[source for source in range(6) if node in out[source]] for node in range(6)]
    graph = {"nodes": [{"id": number} for number in range(6)], "out": out, "into": into}
    assert call("layout", "hops", out, 0)[:5] == [0, 1, 2, 3, 4]
    assert call("layout", "rings", graph, 4, True)["distance"] == [4, 3, 2, 1, 0, 5]
    tree = call("layout", "rings", graph, 0)
    assert tree["parents"] == [-1, 0, 1, 2, 3, -1]
    assert tree["farthest"] == 4


@pytest.mark.parametrize("length", [1, 7, 1000])
def test_a_schedule_read_in_pieces_is_the_schedule_read_at_once(call, length):
    topology = topoloom.build("Circulant(8, 1, 2)")
    made = topoloom.schedule(topology, "allreduce")
    text = "".join(write("json", made, topology, Options()))
    schedule = json.loads(text)
    pieces = [text[at : at + length] for at in range(0, len(text), length)]
    read = call("schedule", "read", pieces, list(topology.nodes))
    assert [part["collective"] for part in read] == ["reduce-scatter", "allgather"]
    for part, document in zip(read, schedule["parts"], strict=True):
        assert part["unit"] == document["chunks_per_shard"]
        for columns, sends in zip(part["steps"], document["steps"], strict=True):
            assert columns["length"] == len(sends)
            for name in ("source", "target", "shard", "count"):
                assert columns[name][: len(sends)] == [send[name] for send in sends]


@pytest.mark.parametrize("recipe", ["Circulant(12, 2, 3)", "Torus(3, 4)", "Diamond()"])
def test_links_of_one_orbit_are_in_one_class(call, recipe):
    graph = topoloom.to_networkx(topoloom.build(recipe))
    simple = nx.Graph(graph)
    swaps = list(DiGraphMatcher(nx.DiGraph(graph), nx.DiGraph(graph)).isomorphisms_iter())
    links = [{"source": a, "target": b, "capacity": 1} for a, b in graph.edges()]
    out = [[b for _, b in sorted(graph.out_edges(node))] for node in sorted(graph)]
    drawn = {"nodes": [{"id": node, "kind": "compute"} for node in sorted(graph)]}
    drawn |= {"out": out, "links": links}
    pairs = [sorted(pair) for pair in simple.edges()]
    classes = call("symmetry", "pairClasses", drawn, pairs)
    for pair, name in zip(pairs, classes, strict=True):
        orbit = [sorted((swap[pair[0]], swap[pair[1]])) for swap in swaps]
        assert {classes[pairs.index(other)] for other in orbit} == {name}


def test_labels_move_apart_and_stay_between_the_edges(call):
    labels = call("charts", "apart", [{"y": 50}, {"y": 51}, {"y": 99}, {"y": 100}], 12, 0, 100)
    places = sorted(label["y"] for label in labels)
    assert all(upper + 12 <= lower for upper, lower in pairwise(places))
    assert places[0] >= 0
    assert places[-1] <= 100
