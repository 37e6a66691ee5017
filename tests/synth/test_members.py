"""A recipe is a value, written in Python as in text: members of every family, drawn."""

import dataclasses
import hashlib
import pickle
import random
from functools import cache
from pathlib import Path

import pytest

from tests.cases import for_every
from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.families import (
    FAMILIES,
    Base,
    Circulant,
    Complete,
    Crown,
    Graph,
    Hypercube,
    UniRing,
)
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.operators import OPERATORS
from topoloom.synth.recipes.recipe import parse

GOLDEN = Path(__file__).parent.parent / "golden" / "recipes.tsv"
NAMESPACE = {one.__name__: one for one in (*FAMILIES, *OPERATORS)}

# Where numbers drawn blindly are hardly ever in the domain, some drawn by hand or by search.
STARTS = {
    "CayleyMatrix": [(3, 1, 2, 2), (2, 2, 3, 0, 1, 1, 1), (5, 1, 4, 3)],
    "CayleyNested": [(7, 3, 2, 2, 6, 1), (5, 2, 2, 4, 1, 1), (3, 2, 1, 2, 1, 1)],
    "CayleyPolycyclic": [(2, 4, 2, 2, 3), (3, 2, 2, 3, 0, 1, 0, 2, 3), (2, 9, 2, 0, 8)],
    "CayleyMetacyclic": [(8, 7, 2, 4), (6, 5, 2, 3), (7, 1, 3, 2)],
    "Cayley": [(8, 3, 2), (7, 2, 3), (15, 1, 1), (5, 4, 2)],
    "CayleyLinear": [(3,)],
    "CayleyAlternating": [(4,), (5,)],
    "CayleySymmetric": [(3,), (4,)],
}


@cache
def drawn(family: type[Base]) -> list[Base]:
    """Return up to 12 different members of at most 130 nodes, the same every time."""
    rng = random.Random(family.__name__)
    names = family.signature().partition("(")[2].rstrip(")").split(", ")
    found: dict[Base, None] = {}
    for _ in range(6000):
        start = rng.choice(STARTS.get(family.__name__, [()]))
        least = sum(name[-1:] not in "?*" for name in names if name)
        count = max(least, len(start)) + rng.randrange(1 + 5 * any(n[-1:] in "?*" for n in names))
        most = rng.choice([3, 7, 12, 40])
        numbers = [rng.randint(0, most) for _ in range(count - len(start))]
        if family.__name__.endswith("Circulant"):
            numbers[1:] = sorted(numbers[1:])
        try:
            member = family(*start, *numbers)
        except OutOfDomain:
            continue
        if member.nodes <= 130 and member.degree <= 14:
            found[member] = None
        if len(found) == 12:
            break
    return list(found)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_members_are_drawn_of_every_family(family):
    assert drawn(family)


@for_every("family", FAMILIES)
def test_a_drawn_member_builds_prints_and_is_read_back(family):
    for member in drawn(family):
        assert repr(member) == str(member)
        assert parse(str(member)) == member
        assert eval(str(member), dict(NAMESPACE)) == member
        assert pickle.loads(pickle.dumps(member)) == member
        graph = build(member)
        assert (graph.node_count, graph.degree) == (member.nodes, member.degree) == size(member)
        sources, targets = member.links()
        assert len(sources) == len(targets) == graph.link_count


@for_every("family", FAMILIES)
def test_a_drawn_member_costs_what_it_claims_on_the_graph_and_on_its_transpose(family):
    for member in drawn(family):
        graph = build(member)
        for found, turned in ((claim(member), graph), (claim_transpose(member), graph.transpose())):
            if found is not None:
                assert found.covers(measure(turned))


@for_every("kind", [*FAMILIES, *OPERATORS])
def test_help_and_fields_are_one_list(kind):
    names = [field.name for field in dataclasses.fields(kind)]
    shown = kind.signature().partition("(")[2].rstrip(")").split(", ")
    assert [name.rstrip("?*") for name in shown if name] == names
    assert kind.__name__ == kind.signature().partition("(")[0]
    assert kind.title
    assert kind.source


def test_fields_hold_what_was_written():
    member = Circulant(16, 3, 4)
    assert (member.n, member.offsets, member.arguments) == (16, (3, 4), (16, 3, 4))
    assert (UniRing(5).width, UniRing(5, 2).width) == (1, 2)
    with pytest.raises(AttributeError):
        member.n = 17  # type: ignore[misc]


def test_what_may_be_left_out_makes_no_difference():
    assert UniRing(5, 1) == UniRing(5)
    assert str(UniRing(5, 1)) == "UniRing(5)"
    assert hash(UniRing(5, 1)) == hash(UniRing(5))


def test_members_of_different_families_differ_though_their_arguments_are_equal():
    assert len({UniRing(4), Complete(4), Hypercube(4), Crown(4)}) == 4


@for_every("line", GOLDEN.read_text().splitlines())
def test_recipes_of_before_make_the_same_topologies_with_the_same_numbering(line):
    digest, text = line.split("\t")
    recipe = parse(text)
    graph = build(recipe)
    found = hashlib.blake2b(f"{graph.node_count},".encode(), digest_size=8)
    found.update(graph.sources.astype("<i4").tobytes() + graph.targets.astype("<i4").tobytes())
    assert found.hexdigest() == digest
    assert parse(str(recipe)) == eval(str(recipe), dict(NAMESPACE)) == recipe


def test_every_family_but_that_of_given_graphs_and_every_operator_is_among_the_recipes_of_before():
    text = GOLDEN.read_text()
    absent = {kind for kind in (*FAMILIES, *OPERATORS) if f"\t{kind.__name__}(" not in text}
    assert absent == {Graph}


def test_members_of_the_atlas_are_read_as_the_parser_reads_them():
    bases = [entry for entry in bundled_atlas() if issubclass(NAMESPACE[entry.family], Base)]
    for entry in bases[::97]:
        assert NAMESPACE[entry.family](*entry.arguments) == parse(entry.recipe)
