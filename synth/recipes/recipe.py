"""Recipes as text: the parser, and one import location for bases and operators.

A recipe describes the construction of a topology.  It is a value (`synth.families`,
`synth.recipes.operators`) with equality, hash and text; Python and text share one syntax.  The text
is canonical and identifies the topology; ``parse(str(r)) == r`` for every recipe whose text fits
the limit.  The grammar::

    recipe    = base | operator | graph
    base      = FAMILY "(" [ INTEGER { "," INTEGER } ] ")"
    operator  = OPERATOR "(" argument { "," argument } ")"
    argument  = INTEGER | recipe
    graph     = "@" NAME

Families and operators are the classes of `synth.families.FAMILIES` and
`synth.recipes.operators.OPERATORS`; their fields determine their arguments.  A NAME of letters,
digits and ``._/-`` refers to a graph passed to `parse`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from topoloom.synth.errors import InvalidRecipe, SynthError
from topoloom.synth.families import Base, family
from topoloom.synth.naming.paper_names import as_recipe
from topoloom.synth.naming.suggestions import did_you_mean
from topoloom.synth.naming.terms import MAX_DIGITS
from topoloom.synth.recipes.operators import (
    MAX_DEPTH,
    OPERATORS,
    Altered,
    Bidirected,
    DegreeExpansion,
    Inserted,
    LineGraph,
    Operator,
    Power,
    Product,
    Recipe,
    Removed,
    Shortened,
)
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "MAX_DEPTH",
    "MAX_TEXT",
    "Altered",
    "Base",
    "Bidirected",
    "DegreeExpansion",
    "Graphs",
    "Inserted",
    "LineGraph",
    "Operator",
    "Power",
    "Product",
    "Recipe",
    "Removed",
    "Shortened",
    "parse",
]

MAX_TEXT = 4096
_OPERATORS = {one.__name__: one for one in OPERATORS}

Graphs: TypeAlias = "Mapping[str, Topology | nx.Graph[Any]]"
"""Graphs by the names after ``@``; only referenced names are looked up."""


def parse(text: str, graphs: "Graphs | None" = None) -> Recipe:
    """Return the recipe that a text describes.

    Blanks between tokens do not matter.  ``LineGraph(R)`` means ``LineGraph(1, R)``, and ``@name``
    the graph of this name, converted to a base by `Base.of`.

    Args:
        text: At most `MAX_TEXT` characters.
        graphs: Graphs for names after ``@``.  The recipe holds the graph itself, not its name.

    Raises:
        InvalidRecipe: The text does not match the grammar; the rule names the column.  No family,
            operator or graph has the name, or a graph cannot be a base (`Base.of`).
        OutOfDomain: The arguments of a family or operator are outside its domain.

    >>> from topoloom.synth.families import Circulant
    >>> parse("LineGraph( 3,Circulant(16,3,4) )") == LineGraph(3, Circulant(16, 3, 4))
    True
    >>> parse("Power(2, )")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidRecipe: recipe: column 10: expected a name, not ')'
    >>> ring = Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    >>> parse("LineGraph(2, @my/ring)", {"my/ring": ring})
    LineGraph(2, Graph(3, 1, 4, 1))
    """
    if len(text) > MAX_TEXT:
        raise InvalidRecipe("recipe", f"must have at most {MAX_TEXT} characters, not {len(text)}")
    parser = _Parser(text, graphs)
    recipe = parser.recipe(0)
    parser.expect_end()
    return recipe


_TOKEN = re.compile(r"\s*(?:(@[A-Za-z0-9._/-]+|[A-Za-z][A-Za-z0-9]*)|([0-9]+)|([(),]))")


class _Parser:
    """Recursive descent over tokens; ``self.token`` is the next one, '' at the end."""

    def __init__(self, text: str, graphs: "Graphs | None") -> None:
        self._graphs = graphs
        self._named: dict[str, Base] = {}
        self._tokens = self._scan(text)
        self._advance()

    def _scan(self, text: str) -> Iterator[tuple[str, int]]:
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                column = position + len(text[position:]) - len(text[position:].lstrip())
                raise InvalidRecipe("recipe", f"column {column + 1}: unexpected {text[column]!r}")
            yield match.group().strip(), match.end() - len(match.group().strip())
            position = match.end()
        yield "", len(text)

    def _advance(self) -> None:
        self.token, self.column = next(self._tokens)

    def _fail(self, wanted: str) -> InvalidRecipe:
        found = repr(self.token) if self.token else "the end"
        return InvalidRecipe("recipe", f"column {self.column + 1}: expected {wanted}, not {found}")

    def _take(self, token: str) -> None:
        if self.token != token:
            raise self._fail(repr(token))
        self._advance()

    def expect_end(self) -> None:
        if self.token:
            raise self._fail("the end")

    def _integer(self) -> int:
        if not self.token.isdigit():
            raise self._fail("an integer")
        if len(self.token) > MAX_DIGITS:
            rule = f"column {self.column + 1}: must be an integer of at most {MAX_DIGITS} digits"
            raise InvalidRecipe("recipe", rule)
        value = int(self.token)
        self._advance()
        return value

    def recipe(self, depth: int) -> Recipe:
        if depth > MAX_DEPTH:
            raise InvalidRecipe("recipe", f"must nest at most {MAX_DEPTH} deep")
        name, column = self.token, self.column
        if name[:1] == "@":
            self._advance()
            return self._graph(name[1:], column)
        if not name[:1].isalpha():
            raise self._fail("a name")
        self._advance()
        self._take("(")
        if name in _OPERATORS:
            operands = self._operands(depth)
            self._take(")")
            return _OPERATORS[name](*operands)  # type: ignore[return-value]
        base = self._family(name, column)
        arguments = self._integers()
        self._take(")")
        return base(*arguments)

    def _family(self, name: str, column: int) -> type[Base]:
        try:
            return family(name)
        except InvalidRecipe as unknown:
            operator, written = did_you_mean(name, _OPERATORS), as_recipe(name)
            rule = f"no operator is called {name!r}{operator}" if operator else unknown.rule
            if written:
                rule = f"no family is called {name!r}{written}"
            raise InvalidRecipe("recipe", f"column {column + 1}: {rule}") from None

    def _integers(self) -> list[int]:
        if self.token == ")":
            return []
        values = [self._integer()]
        while self.token == ",":
            self._advance()
            values.append(self._integer())
        return values

    def _operands(self, depth: int) -> list[int | Recipe]:
        """Return counts and recipes; the operator checks whether they fit."""
        values: list[int | Recipe] = [self._operand(depth)]
        while self.token == ",":
            self._advance()
            values.append(self._operand(depth))
        return values

    def _operand(self, depth: int) -> int | Recipe:
        return self._integer() if self.token.isdigit() else self.recipe(depth + 1)

    def _graph(self, name: str, column: int) -> Base:
        if name not in self._named:
            try:
                found = ({} if self._graphs is None else self._graphs)[name]
            except KeyError:
                known = ", ".join(sorted(f"@{one}" for one in self._graphs or ()))
                known = f"given: {known}" if known else "no graphs are given"
                rule = f"column {column + 1}: no graph is called @{name}; {known}"
                raise InvalidRecipe("recipe", rule) from None
            try:
                self._named[name] = Base.of(found)
            except SynthError as refused:
                rule = f"column {column + 1}: @{name} cannot be a base: {refused}"
                raise InvalidRecipe("recipe", rule) from None
        return self._named[name]
