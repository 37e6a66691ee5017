"""Pictures of schedules: loads of links, trees and steps, every rank once."""

from collections import Counter

import pytest

from tests.app.figures import require_legible, topology_of
from topoloom.app.plots import broadcasts, canvas, link_load, tree
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.generate.collectives import make
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("dgx-a100-2", "forestcoll"), ("mi250-2", "forestcoll"),
     ("GeneralizedKautz(3, 50)", "bfb"), ("Kautz(2, 2)", "bfb"), ("BiRing(120)", "bfb")],
)  # fmt: skip
@pytest.mark.one_in(3)
def test_loads_are_drawn_cell_by_cell(tmp_path, name, algorithm):
    topology = topology_of(name)
    schedule = make(topology, "allgather", algorithm)
    with canvas.saved_figure(tmp_path / "plot.png", *link_load.SIZE) as figure:
        link_load.draw(figure, schedule, topology)
    found = require_legible(figure)
    assert any(topology.name in text for text in found)
    cells = figure.axes[0].get_images()[0].get_array()
    pairs = {(link.source, link.target) for link in topology.links}
    assert cells.count() == len(pairs)
    order = [*topology.compute_nodes, *sorted(topology.switches)]
    for source, target in pairs:
        assert cells[order.index(source), order.index(target)] > 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize(
    ("name", "algorithm", "root"),
    [
        ("dgx-a100-2", "forestcoll", "1.gpu7"),
        ("dgx-a100-4", "forestcoll", "0.gpu0"),
        ("mi250-2", "forestcoll", "0.gpu3"),
        ("Torus(4, 4)", "bfb", "5"),
        ("UniRing(16)", "bfb", "0"),
        ("GeneralizedKautz(3, 50)", "bfb", "49"),
        ("UniRing(2)", "bfb", "1"),
    ],
)
def test_a_tree_shows_every_rank_once_and_every_way(tmp_path, name, algorithm, root, collective):
    topology = topology_of(name)
    schedule = make(topology, collective, algorithm)
    broadcast = broadcasts.broadcast_of(schedule, root)
    with canvas.saved_figure(tmp_path / "plot.png", *tree.size(broadcast), arrange=False) as figure:
        tree.draw(figure, broadcast, topology)
    found = Counter(require_legible(figure))
    assert all(found[str(rank)] == 1 for rank in topology.compute_nodes)
    assert broadcast.depth.keys() == set(topology.compute_nodes)
    arrows = [child for child in figure.axes[0].texts if getattr(child, "arrow_patch", None)]
    assert len(arrows) == len(broadcast.arcs)
    places = {(broadcast.depth[rank], broadcast.row[rank]) for rank in broadcast.depth}
    assert len(places) == len(broadcast.depth)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_each_rank_is_reached_by_a_whole_shard_from_the_rank_before(collective):
    schedule = make(topology_of("Torus(4, 4)"), collective)
    found = broadcasts.broadcast_of(schedule, "3")
    assert found.outward == (collective == "allgather")
    assert found.columns == tuple(
        f"step {number}" for number in ((1, 2, 3, 4) if found.outward else (4, 3, 2, 1))
    )
    arriving = Counter()
    for arc in found.arcs:
        assert found.depth[arc.far] == found.depth[arc.near] + 1
        arriving[arc.far] += arc.share
    assert arriving == dict.fromkeys(set(range(16)) - {3}, 1)


def test_trees_come_heaviest_first_and_parts_by_number():
    schedule = make(fabric("mi250-2"), "allreduce", "forestcoll")
    weights = sorted(
        (t.weight for t in schedule.parts[1].trees if t.root == "0.gpu3"), reverse=True
    )
    for number, weight in enumerate(weights, start=1):
        title = broadcasts.broadcast_of(schedule, "0.gpu3", number).title
        assert title.startswith(f"allgather: tree {number} of {len(weights)} of rank 0.gpu3")
        assert f"{weight}/" in title
    assert not broadcasts.broadcast_of(schedule, "0.gpu3", part=1).outward
    for options in ({"tree": 0}, {"tree": len(weights) + 1}, {"part": 0}, {"part": 3}):
        with pytest.raises(NoSchedule) as error:
            broadcasts.broadcast_of(schedule, "0.gpu3", **options)
        assert error.value.field == f"/{next(iter(options))}"


@pytest.mark.slow
def test_a_broadcast_has_trees_of_its_root_only(tmp_path):
    boxes = fabric("dgx-a100-2")
    for collective, outward in (("broadcast", True), ("reduce", False)):
        schedule = make(boxes, collective, "forestcoll", root="0.gpu3")
        found = broadcasts.broadcast_of(schedule, "0.gpu3")
        assert found.outward == outward
        assert found.depth.keys() == set(boxes.compute_nodes)
        with pytest.raises(NoSchedule) as error:
            broadcasts.broadcast_of(schedule, "0.gpu4")
        assert error.value.field == "/root"
        with canvas.saved_figure(tmp_path / "plot.png", *link_load.SIZE) as figure:
            link_load.draw(figure, schedule, boxes)
        require_legible(figure)


def test_without_links_there_is_no_load():
    with pytest.raises(NoSchedule):
        link_load.draw(None, None, Topology([0], []))


def test_what_is_too_large_to_be_read_is_refused():
    ring = Topology(range(600), [(i, (i + 1) % 600) for i in range(600)])
    with pytest.raises(TooLarge):
        link_load.draw(None, None, ring)
    schedule = make(Topology(range(300), [(i, (i + 1) % 300) for i in range(300)]), "allgather")
    with pytest.raises(TooLarge):
        tree.size(broadcasts.broadcast_of(schedule, "0"))
