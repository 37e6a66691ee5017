"""Operators as data: larger topologies made from smaller ones.

The docstring of an operator names the module of `synth.recipes.expansions` that defines its
effect on nodes, links and costs.
"""

from functools import cached_property
from typing import ClassVar, TypeAlias, get_args

from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.families import Base
from topoloom.synth.limits import MAX_TIMES
from topoloom.synth.naming.terms import Term, require, require_integer

MAX_DEPTH = 24
MAX_PARTS = 4096


class Operator(Term):
    """An operator applied to recipes; each subclass is a kind of operator.

    Fields of type ``int`` are counts of at least 1; all others are recipes.  The constructor
    raises for anything else, and above `MAX_DEPTH` nested operators or `MAX_PARTS` bases and
    operators.  Sizes are checked where the recipe is used.

    Attributes:
        title, source: One line of description, and the literature.

    Raises:
        OutOfDomain: A count is no integer of at least 1, or the number of arguments is wrong.
        InvalidRecipe: An argument that must be a recipe is none, or a limit is exceeded.

    >>> from topoloom.synth.families import UniRing
    >>> Power(2, "UniRing(3)")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidRecipe: of: must be a recipe, not str
    >>> Product(UniRing(4), UniRing(8)).operands
    (UniRing(4), UniRing(8))
    """

    title: ClassVar[str]
    source: ClassVar[str]

    def __init__(self, *arguments: "int | Recipe") -> None:
        super().__init__(*arguments)
        if self._depth > MAX_DEPTH:
            raise InvalidRecipe("recipe", f"must nest at most {MAX_DEPTH} deep")
        if self._parts > MAX_PARTS:
            raise InvalidRecipe("recipe", f"must have at most {MAX_PARTS} parts")

    @property
    def operands(self) -> "tuple[Recipe, ...]":
        """Recipes that the operator is applied to."""
        return tuple(operand for operand in self.arguments if isinstance(operand, Term))  # type: ignore[misc]

    # Operands exist before the operator and cache theirs: both are O(operands).
    @cached_property
    def _depth(self) -> int:
        return 1 + max(
            (operand._depth for operand in self.operands if isinstance(operand, Operator)),
            default=0,
        )

    @cached_property
    def _parts(self) -> int:
        return 1 + sum(
            operand._parts if isinstance(operand, Operator) else 1 for operand in self.operands
        )

    def _check_argument(self, name: str, value: object) -> None:
        if name in self._layout.integers:
            require_integer(name, value, least=1)
        elif not isinstance(value, Base | Operator):
            given = "an integer" if isinstance(value, int) else type(value).__name__
            raise InvalidRecipe(name, f"must be a recipe, not {given}")

    def check_domain(self) -> None:
        """Accept all counts and recipes; subclasses restrict them."""


class LineGraph(Operator):
    """LineGraph(times, of): the line graph taken ``times`` times, from 1 to 64.

    ``LineGraph(of)`` is ``LineGraph(1, of)``.  See `synth.recipes.expansions.line_graph`.

    >>> from topoloom.synth.families import Circulant, Diamond
    >>> LineGraph(3, Circulant(16, 3, 4)), LineGraph(Diamond())
    (LineGraph(3, Circulant(16, 3, 4)), LineGraph(1, Diamond()))
    """

    __match_args__ = ("times", "of")
    times: int
    of: "Recipe"
    title = "repeated line graph of a regular topology: links become nodes"
    source = "Harary and Norman 1960; line graph expansion in arXiv:2202.03356"

    def __init__(self, *arguments: "int | Recipe") -> None:
        once = len(arguments) == 1 and isinstance(arguments[0], Base | Operator)
        super().__init__(*((1, *arguments) if once else arguments))

    @classmethod
    def once_more(cls, of: "Recipe", times: int = 1) -> "LineGraph":
        """Return the line graph taken ``times`` times, merged with an outer line graph.

        >>> from topoloom.synth.families import Diamond
        >>> LineGraph.once_more(LineGraph(2, Diamond()))
        LineGraph(3, Diamond())
        """
        return cls(times + of.times, of.of) if isinstance(of, LineGraph) else cls(times, of)

    @classmethod
    def signature(cls) -> str:
        """Return the syntax of the operator: the first argument is optional."""
        return "LineGraph(times?, of)"

    def check_domain(self) -> None:
        """Limit the number of applications."""
        require(self.times <= MAX_TIMES, "times", f"must be at most {MAX_TIMES}")


class DegreeExpansion(Operator):
    """DegreeExpansion(factor, of): ``factor`` copies of every node, all links between copies.

    See `synth.recipes.expansions.degree_expansion`.

    >>> from topoloom.synth.families import BiRing
    >>> str(DegreeExpansion(2, BiRing(5)))
    'DegreeExpansion(2, BiRing(5))'
    """

    __match_args__ = ("factor", "of")
    factor: int
    of: "Recipe"
    title = "several copies of every node, with links between all copies of linked nodes"
    source = "degree expansion in arXiv:2202.03356"


class Power(Operator):
    """Power(times, of): the Cartesian product of ``times`` copies of one topology.

    See `synth.recipes.expansions.cartesian_product`.
    """

    __match_args__ = ("times", "of")
    times: int
    of: "Recipe"
    title = "Cartesian product of several copies of one topology"
    source = "Sabidussi 1960; Cartesian power expansion in arXiv:2202.03356"


class Product(Operator):
    """Product(first, second, ...): the Cartesian product of two or more topologies.

    See `synth.recipes.expansions.cartesian_product`.

    >>> from topoloom.synth.families import UniRing
    >>> str(Product(UniRing(4), UniRing(8)))
    'Product(UniRing(4), UniRing(8))'
    """

    __match_args__ = ("factors",)
    factors: tuple["Recipe", ...]
    title = "Cartesian product: a node is a tuple, a link changes one component"
    source = "Sabidussi 1960; Cartesian product expansion in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require two factors."""
        require(len(self.factors) >= 2, "factors", "must be at least 2")


class Bidirected(Operator):
    """Bidirected(of): the graph with a partner the other way for every link.

    See `synth.recipes.expansions.bidirected`.

    >>> from topoloom.synth.families import GeneralizedKautz
    >>> str(Bidirected(GeneralizedKautz(2, 9)))
    'Bidirected(GeneralizedKautz(2, 9))'
    """

    __match_args__ = ("of",)
    of: "Recipe"
    title = "every link gets a partner the other way, unless it has one"
    source = "from unidirectional to bidirectional topologies in arXiv:2202.03356"


class Altered(Operator):
    """Local changes to a regular graph; the result has no known structure."""


class Inserted(Altered):
    """Inserted(more, depth, seed, of): ``more`` nodes inserted into links of a regular graph.

    See `synth.recipes.expansions.node_insertion`.

    >>> from topoloom.synth.families import Kautz
    >>> str(Inserted(1, 4, 1, Kautz(3, 3)))
    'Inserted(1, 4, 1, Kautz(3, 3))'
    """

    __match_args__ = ("more", "depth", "seed", "of")
    more: int
    depth: int
    seed: int
    of: "Recipe"
    title = "nodes inserted into links, with few pairs more than depth links apart"
    source = "subdivided links as in Imase, Soneoka and Okada 1985; positions by local search"


class Removed(Altered):
    """Removed(fewer, depth, seed, of): a regular graph without ``fewer`` of its nodes.

    See `synth.recipes.expansions.node_removal`.

    >>> from topoloom.synth.families import Kautz
    >>> str(Removed(1, 4, 1, Kautz(3, 3)))
    'Removed(1, 4, 1, Kautz(3, 3))'
    """

    __match_args__ = ("fewer", "depth", "seed", "of")
    fewer: int
    depth: int
    seed: int
    of: "Recipe"
    title = "nodes removed and their links joined, with few pairs more than depth links apart"
    source = "the reverse of subdivided links; nodes by local search"


class Shortened(Altered):
    """Shortened(depth, exchanges, seed, of): edge swaps of a regular graph.

    See `synth.recipes.expansions.targeted_swaps`.

    >>> from topoloom.synth.families import Kautz
    >>> str(Shortened(4, 100, 1, Removed(1, 4, 1, Kautz(3, 3))))
    'Shortened(4, 100, 1, Removed(1, 4, 1, Kautz(3, 3)))'
    """

    __match_args__ = ("depth", "exchanges", "seed", "of")
    depth: int
    exchanges: int
    seed: int
    of: "Recipe"
    title = "edge swaps that join pairs of nodes more than depth links apart"
    source = "local search aimed at single pairs of nodes"


Recipe: TypeAlias = (
    Base
    | LineGraph
    | DegreeExpansion
    | Power
    | Product
    | Bidirected
    | Inserted
    | Removed
    | Shortened
)

OPERATORS: tuple[type[Operator], ...] = get_args(Recipe)[1:]
"""All operators."""
