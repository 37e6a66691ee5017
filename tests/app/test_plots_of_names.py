"""Names in pictures are drawn as they are: no TeX, no warning, in PNG and in SVG."""

from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import NAMES
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.plots import broadcasts, canvas, link_load, tree
from topoloom.schedules.generate.collectives import make
from topoloom.synth.topology.topology import Topology

pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")

SHOWN = [name for name in NAMES if name.isprintable() and name.strip() and len(name) <= 200]
"""The hostile names that a topology may have."""
TOPOLOGY = {
    "schema": "topology/1",
    "name": "$x^{$",
    "nodes": [{"id": name} for name in SHOWN] + [{"id": r"$\sw{$", "kind": "switch"}],
    "links": [
        {"source": one, "target": other}
        for name in SHOWN
        for one, other in ((name, r"$\sw{$"), (r"$\sw{$", name))
    ],
}


def texts(svg):
    """Return the texts of an SVG picture."""
    root = ElementTree.fromstring(svg)
    return {"".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Every picture of a topology with hostile names, as the service draws it."""
    url = f"sqlite:///{tmp_path_factory.mktemp('names') / 't.db'}"
    with TestClient(create_app(Settings(database_url=url)), base_url="http://localhost") as client:
        asked = {"topology": {"document": TOPOLOGY}, "collective": "allgather"}
        schedule = client.post("/v1/schedules", json=asked)
        assert schedule.status_code == 201, schedule.text
        identity = schedule.json()["id"]
        sweep = client.post(
            "/v1/sweeps",
            json={"kind": "fault-analysis", "topology": asked["topology"], "lost": ["host"],
                  "template": {"collective": "allgather"}},
        )  # fmt: skip
        assert sweep.status_code == 201, sweep.text
        fault = sweep.headers["Location"].rpartition("/")[2]
        found = {
            "load": client.post("/v1/plots/load", json={"schedule_id": identity}),
            "survey": client.post("/v1/plots/fault-analysis", json={"sweep_id": fault}),
        }
        for name in SHOWN[:2]:
            asked = {"schedule_id": identity, "root": name}
            found[f"tree of {name}"] = client.post("/v1/plots/tree", json=asked)
        yield found


@pytest.mark.slow
def test_every_name_is_drawn_by_the_service_letter_by_letter(pictures):
    for kind, answer in pictures.items():
        assert answer.status_code == 201, (kind, answer.text)
    assert {canvas.short(name, 16) for name in SHOWN} <= texts(pictures["load"].text)
    for name in SHOWN[:2]:
        found = texts(pictures[f"tree of {name}"].text)
        assert {canvas.short(one, 12) for one in SHOWN} <= found
        assert any(f"of rank {name}" in text for text in found)
    assert any("$x^{$" in text for text in texts(pictures["load"].text))
    assert any("$" in text for text in texts(pictures["survey"].text))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg"])
@settings(max_examples=5)
@given(
    names=st.lists(
        st.sampled_from(SHOWN) | st.text(min_size=1, max_size=200).filter(str.isprintable),
        min_size=2,
        max_size=4,
        unique=True,
    )
)
def test_any_names_at_all_are_drawn_without_a_warning(tmp_path_factory, suffix, names):
    out = tmp_path_factory.getbasetemp() / f"names{suffix}"
    ring = Topology(names, list(zip(names, names[1:] + names[:1], strict=True)), name=names[0][:80])
    schedule = make(ring, "allgather", "bfb")
    with canvas.saved_figure(out, *link_load.SIZE) as figure:
        link_load.draw(figure, schedule, ring)
    way = broadcasts.broadcast_of(schedule, names[0])
    with canvas.saved_figure(out, *tree.size(way), arrange=False) as figure:
        tree.draw(figure, way, ring)
    if suffix == ".svg":
        assert {canvas.short(name, 12) for name in names} <= texts(out.read_text())
