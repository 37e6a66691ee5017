"""Names of the paper: recipes that they are, and the hint of the parser."""

import re

import pytest

from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.families import FAMILIES
from topoloom.synth.naming.paper_names import PAPER_NAMES
from topoloom.synth.recipes.operators import OPERATORS
from topoloom.synth.recipes.recipe import parse

KNOWN = {one.__name__ for one in (*FAMILIES, *OPERATORS)}


@pytest.mark.parametrize("name", PAPER_NAMES)
def test_a_name_of_the_paper_is_refused_with_a_recipe_of_known_families(name):
    assert name not in KNOWN
    with pytest.raises(InvalidRecipe, match=re.escape(f"; write {PAPER_NAMES[name]}")):
        parse(f"LineGraph(2, {name.lower()}(2, 3))")
    written = re.findall(r"([A-Z][A-Za-z]+)\(", PAPER_NAMES[name])
    assert written
    assert {one for one in written if len(one) > 2} <= KNOWN
