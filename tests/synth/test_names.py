"""Short names: read, remembered and typed by people, and never read by the program."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import WRITERS, read
from topoloom.synth.naming.short_names import MAX_NAME, short_name, shortened
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import MAX_RECIPE, Topology

SHORT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9]+x[0-9]+-[0-9a-f]{4}")
RECIPES = (
    "Circulant(16, 3, 4)",
    "LineGraph(3, Circulant(16, 3, 4))",
    "Product(UniRing(4), UniRing(8))",
    "Product(" + ", ".join(["UniRing(2)"] * 8) + ")",
    "Power(2, DegreeExpansion(2, LineGraph(1, Bidirected(UniRing(5)))))",
    "Diamond()",
)
LONGEST = max(bundled_atlas(), key=lambda entry: len(entry.recipe)).recipe


@pytest.mark.parametrize("text", [*RECIPES, LONGEST])
def test_a_built_topology_has_a_name_that_can_be_typed(text):
    made = build(parse(text))
    assert SHORT.fullmatch(made.name), made.name
    assert len(made.name) <= 60
    assert made.name.split("-")[-2] == f"{made.node_count}x{made.degree}"
    assert (made.recipe, str(made.recipe)) == (parse(text), text)


def test_a_name_says_operators_with_their_counts_and_families():
    assert short_name(parse(RECIPES[4]), 0, 0).startswith("pow2-deg2-lg1-bi-uniring-0x0-")


@pytest.mark.slow
def test_no_two_discovered_bases_share_a_name():
    sizes = {parse(entry.recipe): (entry.nodes, entry.degree) for entry in bundled_atlas()}
    names = Counter(short_name(recipe, *size) for recipe, size in sizes.items())
    assert len(names) == len(sizes) > 2000
    assert all(SHORT.fullmatch(name) for name in names)


@given(st.text(max_size=300))
def test_a_shortened_name_fits_and_a_short_one_is_kept(name):
    found = shortened(name)
    assert len(found) <= MAX_NAME
    assert (found == name) == (len(name) <= MAX_NAME)
    assert shortened(found) == found


def test_long_names_stay_apart_when_they_are_cut():
    assert shortened("a" * 200 + "b") != shortened("a" * 200 + "c")


def test_recipe_and_name_are_kept_by_renaming_and_turning_round_and_are_no_identity():
    made = build(parse("LineGraph(1, Kautz(2, 1))"))
    assert made.transpose().recipe == made.recipe == made.renamed("mine").recipe
    assert made.transpose().name == made.name
    assert made.with_recipe(None) == made
    assert made.with_recipe(None).digest == made.digest


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", ["json", "graphml", "gml", "gexf", "node-link"])
@pytest.mark.parametrize("text", [*RECIPES, LONGEST])
def test_a_file_carries_the_recipe_and_gives_it_back(form, text):
    made = build(parse(text))
    again = read(WRITERS[form](made))
    assert (again.name, again.recipe) == (made.name, made.recipe)
    if form == "json":
        assert again == made


def test_a_drawing_has_the_recipe_as_a_comment():
    assert '  comment="UniRing(3)";' in WRITERS["dot"](build(parse("UniRing(3)")))
    assert "comment" not in WRITERS["dot"](Topology("ab", ["ab", "ba"]))


def test_node_link_json_carries_the_recipe():
    import json

    import networkx as nx

    made = build(parse("BiRing(5)"))
    again = read(json.dumps(nx.node_link_data(made.to_networkx(), edges="edges")), "node-link")
    assert (again, again.name, again.recipe) == (made, made.name, made.recipe)


@pytest.mark.parametrize("text", [*RECIPES, LONGEST])
def test_a_document_of_before_gets_its_recipe_from_its_name_and_a_short_name(text):
    made = build(parse(text))
    document = made.to_document() | {"name": text}
    del document["recipe"]
    again = topology_from_document(document)
    assert (again, again.name, again.recipe) == (made, made.name, made.recipe)
    turned = made.transpose().to_document() | {"name": text}
    del turned["recipe"]
    assert topology_from_document(turned).recipe == made.recipe


@pytest.mark.parametrize(
    "name",
    ["", "ring", "UniRing(4)", "Nothing(3)", "UniRing(0)", "UniRing(", "ring (3)", "x" * 200],
)
def test_any_other_name_is_kept_as_it_is(name):
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)], name=name).to_document()
    again = topology_from_document(ring | {"name": name})
    assert (again.name, again.recipe) == (name, None)
    assert topology_from_document(again.to_document()).name == shortened(name)


def test_a_name_is_not_read_where_a_recipe_is_given():
    ring = build(parse("UniRing(3)")).to_document()
    again = topology_from_document(ring | {"name": "BiRing(3)"})
    assert (again.name, again.recipe) == ("BiRing(3)", parse("UniRing(3)"))


def test_a_recipe_of_a_later_version_is_not_needed_to_read_the_graph():
    ring = build(parse("UniRing(3)"))
    for recipe in ("", "UniRing(3) at night", "Braid[3]", "LineGraph(0, UniRing(3))"):
        again = topology_from_document(ring.to_document() | {"recipe": recipe})
        assert (again, again.recipe) == (ring, None)


@pytest.mark.parametrize("recipe", [None, 3, ["UniRing(3)"], "x\ny", "U" * (MAX_RECIPE + 1)])
def test_a_recipe_that_is_no_short_printable_text_is_refused(recipe):
    with pytest.raises(InvalidTopology, match="at most 4096 characters") as caught:
        topology_from_document(build(parse("UniRing(3)")).to_document() | {"recipe": recipe})
    assert caught.value.field == "/recipe"


def test_a_recipe_too_long_to_be_read_is_not_written():
    ring = build(parse("UniRing(3)"))
    huge = Topology.direct(3, ring.sources, ring.targets, name="huge", recipe=_Long())
    assert "recipe" not in huge.to_document()
    assert topology_from_document(huge.to_document()) == ring


class _Long:
    def __str__(self) -> str:
        return "U" * (MAX_RECIPE + 1)


def test_a_recipe_that_lies_moves_no_link():
    chain = Topology(range(4), [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    lying = topology_from_document(chain.to_document() | {"recipe": "UniRing(4)"})
    assert lying.recipe == parse("UniRing(4)")
    assert semiregular_group(lying).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("text", RECIPES)
def test_the_size_in_a_name_is_known_before_anything_is_built(text):
    recipe = parse(text)
    assert build(recipe).name == short_name(recipe, *size(recipe))
