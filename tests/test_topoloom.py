"""The face for people who program: what it names, what it loads, what it takes."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topoloom
from tests.schedule_oracles import direct_topologies
from topoloom.schedules.model.transcript import Transcript
from topoloom.synth.errors import InvalidTopology, SynthError
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

ROOT = Path(__file__).parent.parent
RECIPE = "Kautz(2, 2)"


def test_importing_it_loads_nothing_heavy_and_costs_next_to_nothing():
    program = """
import time, sys
before = time.process_time()
import topoloom
spent = time.process_time() - before
heavy = {"numpy", "numba", "scipy", "networkx", "fastapi", "sqlalchemy", "pydantic", "matplotlib"}
print(sorted(heavy & sys.modules.keys()), spent < 0.05, callable(topoloom.design))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == "[] True True"


def test_it_names_only_what_exists_and_every_name_has_an_example():
    assert list(topoloom.__all__) == sorted(topoloom.__all__) == dir(topoloom)
    for name in topoloom.__all__:
        found = getattr(topoloom, name)
        module = found.__module__
        assert module.startswith("topoloom.") or module in topoloom._CLASSES.values()
        assert ">>> " in (found.__doc__ or ""), name
    own = {
        name
        for name, value in vars(topoloom).items()
        if callable(value) and getattr(value, "__module__", "").startswith("topoloom")
    }
    assert {name for name in own if not name.startswith("_")} <= set(topoloom.__all__)
    with pytest.raises(AttributeError):
        topoloom.nothing  # noqa: B018


@pytest.mark.parametrize(
    "source", [RECIPE, parse(RECIPE), topoloom.build(RECIPE)], ids=["text", "recipe", "topology"]
)
def test_every_way_to_name_a_topology_means_the_same(source):
    assert topoloom.build(source) == topoloom.build(RECIPE)
    assert topoloom.measure(source, "allreduce").steps == 4
    assert topoloom.optimum(source).nodes == 6
    assert topoloom.verify(topoloom.schedule(source, "allreduce"), source) == []
    assert topoloom.plan_moves(source).moves == 12
    assert topoloom.to_networkx(source).number_of_edges() == 12


def test_every_collective_can_be_asked_of_a_fabric():
    for collective in ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"):
        root = {"root": "0.gpu1"} if collective in ("broadcast", "reduce") else {}
        made = topoloom.schedule("dgx-a100-2", collective, **root)
        assert topoloom.verify(made, "dgx-a100-2") == []
        assert topoloom.simulate(made, "dgx-a100-2", size="1MiB").seconds > 0
    exchange = topoloom.schedule("BiRing(5)", "all-to-all")
    assert topoloom.verify(exchange, "BiRing(5)") == []


def test_sizes_and_rates_are_taken_as_they_are_written():
    made = topoloom.schedule("UniRing(3)", "allgather")

    def seconds(**options):
        return topoloom.simulate(made, "UniRing(3)", **options).seconds

    exact = seconds(size=3_000_000, alpha_us="1/10", node_gbps=80, synchronous=True)
    assert exact == 2 * (Fraction(1, 10**7) + Fraction(10**6, 10**10))
    assert exact == seconds(size="3 MB", alpha_us=0.1, link_gbps="80")
    assert exact + Fraction(2, 10**6) == seconds(
        size="3MB", alpha_us=0.1, node_gbps=80.0, overhead_us=1, synchronous=True
    )


def test_a_design_is_the_exact_value_of_the_main_job():
    found = topoloom.design(
        nodes=24, degree=4, collective="allgather", size="4MiB", links="bidirectional"
    )
    assert found.best in found.points
    assert found.best_seconds == min(point.usual_seconds for point in found.points)
    assert found.schedule.facts.steps == found.best.measured.cost.steps
    assert found.bound_seconds <= found.best_seconds
    assert topoloom.build(found.best.measured.recipe).node_count == 24


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: topoloom.build("Nonsense(3)"), "Nonsense"),
        (lambda: topoloom.build("no-such-fabric"), "fabric"),
        (lambda: topoloom.frontier(9, 3, links="sideways"), "links: must be one of"),
        (lambda: topoloom.frontier(1, 3), "nodes"),
        (lambda: topoloom.frontier("9", 3), "nodes: must be an integer"),  # type: ignore[arg-type]
        (lambda: topoloom.design(12, 4.5), "degree: must be an integer"),  # type: ignore[arg-type]
        (lambda: topoloom.read(b"a b"), "text: must be a text"),  # type: ignore[arg-type]
        (lambda: topoloom.measure(RECIPE, "broadcast"), "allgather, reduce-scatter, allreduce"),
        (lambda: topoloom.schedule(RECIPE, "gossip"), "collective"),
        (lambda: topoloom.schedule(RECIPE, "allgather", algorithm="bfb", root=0), "root"),
        (lambda: topoloom.design(12, 4, "allreduce", "a lot"), "size: "),
        (lambda: topoloom.design(12, 4, size=True), "size: "),
        (lambda: topoloom.design(12, 4, node_gbps=float("nan")), "node_gbps: "),
        (lambda: topoloom.design(12, 4, alpha_us=-1), "alpha_us: must not be negative"),
        (lambda: topoloom.design(12, 4, alpha_us=True), "alpha_us: must be a number"),
        (lambda: topoloom.plan_moves(RECIPE, panels="round"), "panels: must be one of"),
        (lambda: topoloom.plot(topoloom.schedule(RECIPE, "allgather"), "x.svg"), "source: "),
        (lambda: topoloom.build("x.json"), r"source: read a file by read\(pathlib.Path\('x.json'"),
        (lambda: topoloom.read("no/such.json"), r"give a file as pathlib.Path\('no/such.json'"),
        (lambda: topoloom.read("a b", "edgelst"), "format: must be one of"),
        (lambda: topoloom.iteration("mixtral-8x7b", 1, 4), "nodes: must be at least 2"),
        (lambda: topoloom.iteration("mixtral-8x7b", 8, 0), "degree: must be at least 1"),
        (lambda: topoloom.optimum(RECIPE, groups={"data": 6}, traffic={"data": "64MiB"}),  # type: ignore
            "traffic: data must have a collective and a size"),
        (
            lambda: topoloom.simulate(None, RECIPE, size=1, node_gbps=1, link_gbps=1),  # type: ignore[arg-type]
            "node_gbps, link_gbps",
        ),
    ],
)  # fmt: skip
def test_wrong_input_is_one_error_that_names_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_value_of_another_type_is_one_error_that_names_the_argument():
    made = topoloom.schedule(RECIPE, "allgather")
    calls: dict[str, list[Callable[..., object]]] = {
        "schedule": [
            lambda wrong: topoloom.verify(wrong, RECIPE),
            lambda wrong: topoloom.simulate(wrong, RECIPE, size=1),
            lambda wrong: topoloom.execute(wrong),
        ],
        "limit": [lambda wrong: topoloom.verify(made, RECIPE, limit=wrong)],
        "chunks": [lambda wrong: topoloom.simulate(made, RECIPE, size=1, chunks=wrong)],
        "channels": [lambda wrong: topoloom.simulate(made, RECIPE, size=1, channels=wrong)],
        "repeat": [lambda wrong: topoloom.execute(made, repeat=wrong)],
        "timeout_seconds": [lambda wrong: topoloom.execute(made, timeout_seconds=wrong)],
        "graph": [lambda wrong: topoloom.from_networkx(wrong)],
        "nodes": [lambda wrong: topoloom.iteration("mixtral-8x7b", wrong, 4)],
        "degree": [lambda wrong: topoloom.iteration("mixtral-8x7b", 8, wrong)],
        "max_steps": [lambda wrong: topoloom.frontier(12, 4, max_steps=wrong)],
        "families": [lambda wrong: topoloom.frontier(12, 4, families=wrong)],
        "shards": [
            lambda wrong: topoloom.optimum(RECIPE, shards=wrong),
            lambda wrong: topoloom.schedule(RECIPE, "allgather", shards=wrong),
            lambda wrong: topoloom.link_values(RECIPE, shards=wrong),
        ],
        "trees_per_root": [lambda wrong: topoloom.optimum(RECIPE, trees_per_root=wrong)],
        "design": [lambda wrong: topoloom.files(wrong), lambda wrong: topoloom.runnable(wrong)],
        "what": [lambda wrong: topoloom.plot(wrong, "x.svg", RECIPE)],
        "headers": [lambda wrong: topoloom.verify_webhook(wrong, b"", "secret")],
        "body": [lambda wrong: topoloom.verify_webhook({}, wrong, "secret")],
        "boxes": [lambda wrong: topoloom.design_boxes("mi300x", wrong, 4)],
    }
    for name, ways in calls.items():
        for call in ways:
            with pytest.raises(ValueError, match=f"^{name}: must be "):
                call("x")
    for call in (
        lambda: topoloom.optimum(RECIPE, participants=3),  # type: ignore[arg-type]
        lambda: topoloom.optimum(RECIPE, groups=3),  # type: ignore[arg-type]
        lambda: topoloom.design_boxes(3, 2, 4),  # type: ignore[arg-type]
        lambda: topoloom.iteration(3, 8, 4),  # type: ignore[arg-type]
        lambda: topoloom.network_curves(3),  # type: ignore[arg-type]
        lambda: topoloom.verify_webhook({}, b"", None),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"^[a-z]+: must be "):
            call()


def test_a_unit_of_networkx_may_be_spelled_in_the_usual_ways():
    graph = nx.DiGraph([(0, 1), (1, 0)])
    assert topoloom.from_networkx(graph, bandwidth_unit="gbps").bandwidth_unit == "Gbit/s"
    graph.graph["bandwidth_unit"] = "GBps"
    assert topoloom.from_networkx(graph).bandwidth_unit == "GB/s"


def test_plots_are_files(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    made = topoloom.schedule(RECIPE, "allgather", algorithm="forestcoll")
    for name, what, options in (
        ("frontier.svg", topoloom.frontier(12, 3), {}),
        ("load.svg", made, {"source": RECIPE}),
        ("tree.svg", made, {"source": RECIPE, "root": 2}),
    ):
        assert topoloom.plot(what, tmp_path / name, **options).read_text().startswith("<?xml")
    with pytest.raises(ValueError, match="svg"):
        topoloom.plot(made, tmp_path / "x.pdf", RECIPE)


@pytest.mark.slow
def test_schedules_and_programs_are_executed():
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    from topoloom.schedules.formats import Options, write
    from topoloom.schedules.formats.inspection.check_program import transcript_of

    made = topoloom.schedule("UniRing(3)", "allreduce")
    text = "".join(write("msccl-xml", made, topoloom.build("UniRing(3)"), Options()))
    sent = transcript_of("msccl-xml", [text.encode()])
    assert isinstance(sent, Transcript)
    for one in (made, sent):
        assert topoloom.execute(one, size="3KiB").exact


@given(
    direct_topologies(6), st.sampled_from(["capacity", "gbps"]), st.sampled_from(["kind", "role"])
)
def test_graphs_of_networkx_come_back_by_any_names(topology, capacity, kind):
    graph = topoloom.to_networkx(topology, capacity=capacity, kind=kind)
    assert topoloom.from_networkx(graph, capacity=capacity, kind=kind) == topology


def test_switches_fractions_and_units_survive_networkx():
    links = [("a", "s", Fraction(1, 3)), ("s", "b", 2), ("b", "a", 1), ("b", "a", 1)]
    there = Topology("abs", links, switches="s", name="three", bandwidth_unit="GB/s")
    back = topoloom.from_networkx(topoloom.to_networkx(there))
    assert (back, back.name, back.bandwidth_unit) == (there, "three", "GB/s")
    assert topoloom.from_networkx(topoloom.to_networkx(there), name="other").name == "other"


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_undirected_edges_are_links_both_ways(kind):
    graph = kind([(0, 1, {"capacity": "3/2"}), (1, 2, {"capacity": 4.0})])
    found = topoloom.from_networkx(graph)
    assert found.link_count == (2 if graph.is_directed() else 4)
    assert set(found.capacities) == {Fraction(3, 2), 4}


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ([(0, {"kind": "router"})], []),
        ([((0, 1), {})], []),
        ([], [(0, 1, {"capacity": 0})]),
        ([], [(0, 1, {"capacity": -1})]),
        ([], [(0, 1, {"capacity": 0.1})]),
        ([], [(0, 1, {"capacity": float("inf")})]),
        ([], [(0, 1, {"capacity": "fast"})]),
        ([], [(0, 1, {"capacity": True})]),
        ([], [(0, 1, {"capacity": None})]),
        ([], [(0, 0, {})]),
    ],
)
def test_what_is_no_topology_is_refused(nodes, edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    with pytest.raises(InvalidTopology):
        topoloom.from_networkx(graph)
    assert issubclass(InvalidTopology, SynthError)
