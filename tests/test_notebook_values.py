"""The main answers show themselves in notebooks: small, escaped, well-formed."""

from xml.etree import ElementTree

import pytest

import topoloom
from topoloom.synth.topology.notebook import ROWS
from topoloom.synth.topology.topology import Topology


def ring(count):
    return Topology(range(count), [(n, (n + 1) % count) for n in range(count)], name="ring")


ANSWERS = {
    "topology": lambda: topoloom.build("BiRing(6)"),
    "frontier": lambda: topoloom.frontier(8, 2),
    "design": lambda: topoloom.design(8, 2, "allreduce", "1MB"),
    "steps": lambda: topoloom.schedule("BiRing(6)", "allgather"),
    "trees": lambda: topoloom.schedule("dgx-a100-2", "reduce", root="0.gpu3"),
    "sequence": lambda: topoloom.schedule("BiRing(6)", "allreduce"),
    "routes": lambda: topoloom.schedule("BiRing(6)", "all-to-all"),
    "patch plan": lambda: topoloom.plan_moves("BiRing(16)"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_small_well_formed_table(name):
    html = ANSWERS[name]()._repr_html_()
    document = ElementTree.fromstring(f"<div>{html}</div>")
    rows = document.findall(".//tr")
    assert 2 <= len(rows) <= ROWS + 2
    assert document.find(".//caption").text
    assert len(html) < 20_000


def test_a_table_says_how_many_rows_it_leaves_out():
    plan = topoloom.plan_moves("BiRing(16)")
    assert plan.moves > ROWS
    assert f"and {plan.moves - ROWS} more" in plan._repr_html_()


def test_names_are_escaped():
    evil = "<script>alert(1)</script>"
    html = Topology([evil, "b"], [(evil, "b")], name=evil)._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 2  # the caption, and the title of a circle


def test_the_drawing_has_a_circle_for_every_node_and_a_line_for_every_joined_pair():
    drawing = ElementTree.fromstring(ring(6)._repr_svg_())
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawing.findall(f".//{space}circle")) == 6
    assert len(drawing.findall(f".//{space}line")) == 6


def test_a_large_topology_has_facts_and_no_drawing():
    large = ring(65)
    assert large._repr_svg_() is None
    assert "<svg" not in large._repr_html_()
    assert "<td>65</td>" in large._repr_html_()
