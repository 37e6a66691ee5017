"""How a topology is made, as data: bases and operators, their text, their parser.

A recipe is a value: it can be compared, hashed, printed and stored.  Its text is
canonical and identifies the topology; ``parse(str(r)) == r`` for every recipe.
What the names mean is not decided here but in `synth.bases` and
`synth.expansions`; this module knows the grammar only::

    recipe    = base | operator
    base      = NAME "(" [ INTEGER { "," INTEGER } ] ")"
    operator  = "LineGraph" "(" [ INTEGER "," ] recipe ")"
              | "DegreeExpansion" "(" INTEGER "," recipe ")"
              | "Power" "(" INTEGER "," recipe ")"
              | "Product" "(" recipe "," recipe { "," recipe } ")"
              | "Bidirected" "(" recipe ")"
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from synth.errors import InvalidRecipe

__all__ = [
    "Base",
    "Bidirected",
    "DegreeExpansion",
    "LineGraph",
    "Power",
    "Product",
    "Recipe",
    "parse",
]

MAX_TEXT = 4096
MAX_DEPTH = 24
_OPERATORS = ("LineGraph", "DegreeExpansion", "Power", "Product", "Bidirected")


@dataclass(frozen=True, slots=True)
class Base:
    """A member of a family of the catalogue.

    >>> str(Base("Circulant", (16, 3, 4)))
    'Circulant(16, 3, 4)'
    """

    family: str
    arguments: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.family}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class LineGraph:
    """The line graph taken ``times`` times; ``times`` is at least 1.

    >>> str(LineGraph(3, Base("Circulant", (16, 3, 4))))
    'LineGraph(3, Circulant(16, 3, 4))'
    """

    times: int
    of: "Recipe"

    def __str__(self) -> str:
        return f"LineGraph({self.times}, {self.of})"


@dataclass(frozen=True, slots=True)
class DegreeExpansion:
    """Every node replaced by ``factor`` copies, every link by all links between copies."""

    factor: int
    of: "Recipe"

    def __str__(self) -> str:
        return f"DegreeExpansion({self.factor}, {self.of})"


@dataclass(frozen=True, slots=True)
class Power:
    """The Cartesian product of ``times`` copies of one topology."""

    times: int
    of: "Recipe"

    def __str__(self) -> str:
        return f"Power({self.times}, {self.of})"


@dataclass(frozen=True, slots=True)
class Product:
    """The Cartesian product of two or more topologies.

    >>> str(Product((Base("UniRing", (4,)), Base("UniRing", (8,)))))
    'Product(UniRing(4), UniRing(8))'
    """

    factors: tuple["Recipe", ...]

    def __str__(self) -> str:
        return f"Product({', '.join(map(str, self.factors))})"


@dataclass(frozen=True, slots=True)
class Bidirected:
    """The graph with a partner the other way for every link.

    >>> str(Bidirected(Base("GeneralizedKautz", (2, 9))))
    'Bidirected(GeneralizedKautz(2, 9))'
    """

    of: "Recipe"

    def __str__(self) -> str:
        return f"Bidirected({self.of})"


Recipe: TypeAlias = Base | LineGraph | DegreeExpansion | Power | Product | Bidirected


def parse(text: str) -> Recipe:
    """Return the recipe that a line of text describes.

    Blanks between the parts do not matter.  ``LineGraph(R)`` means ``LineGraph(1, R)``.
    Names of families and the domains of their arguments are checked when the recipe
    is built, not here.

    Raises
    ------
    InvalidRecipe
        With the column of the first character that does not fit.

    Examples
    --------
    >>> parse("LineGraph( 3,Circulant(16,3,4) )") == LineGraph(3, Base("Circulant", (16, 3, 4)))
    True
    >>> parse("Power(2, )")
    Traceback (most recent call last):
    ...
    synth.errors.InvalidRecipe: recipe: column 10: expected a name, not ')'
    """
    if len(text) > MAX_TEXT:
        raise InvalidRecipe("recipe", f"must have at most {MAX_TEXT} characters")
    parser = _Parser(text)
    recipe = parser.recipe(0)
    parser.expect_end()
    return recipe


_TOKEN = re.compile(r"\s*(?:([A-Za-z][A-Za-z0-9]*)|([0-9]{1,12})|([(),]))")


class _Parser:
    """Recursive descent over tokens; ``self.token`` is the next one, '' at the end."""

    def __init__(self, text: str) -> None:
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
        value = int(self.token)
        self._advance()
        return value

    def recipe(self, depth: int) -> Recipe:
        if depth > MAX_DEPTH:
            raise InvalidRecipe("recipe", f"must nest at most {MAX_DEPTH} deep")
        if not self.token[:1].isalpha():
            raise self._fail("a name")
        name = self.token
        self._advance()
        self._take("(")
        made = self._operator(name, depth) if name in _OPERATORS else Base(name, self._arguments())
        self._take(")")
        return made

    def _arguments(self) -> tuple[int, ...]:
        if self.token == ")":
            return ()
        values = [self._integer()]
        while self.token == ",":
            self._advance()
            values.append(self._integer())
        return tuple(values)

    def _operator(self, name: str, depth: int) -> Recipe:
        if name == "Product":
            factors = [self.recipe(depth + 1)]
            while self.token == ",":
                self._advance()
                factors.append(self.recipe(depth + 1))
            if len(factors) < 2:
                raise self._fail("',' and a second factor")
            return Product(tuple(factors))
        if name == "Bidirected":
            return Bidirected(self.recipe(depth + 1))
        if name == "LineGraph" and not self.token.isdigit():
            return LineGraph(1, self.recipe(depth + 1))
        column = self.column
        count = self._integer()
        if count < 1:
            raise InvalidRecipe(
                "recipe", f"column {column + 1}: {name} needs a count of at least 1"
            )
        self._take(",")
        operators = {"LineGraph": LineGraph, "DegreeExpansion": DegreeExpansion, "Power": Power}
        return operators[name](count, self.recipe(depth + 1))
