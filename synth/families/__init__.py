"""The catalog of base topologies: a module per kind, all of them in ``FAMILIES``."""

from functools import lru_cache

from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.families.cayley import (
    Cayley,
    CayleyAlternating,
    CayleyLinear,
    CayleyMatrix,
    CayleyMetacyclic,
    CayleyNested,
    CayleyPolycyclic,
    CayleySymmetric,
)
from topoloom.synth.families.circulant import Circulant
from topoloom.synth.families.complete import (
    Complete,
    CompleteBipartite,
    CompleteMultipartite,
    Crown,
)
from topoloom.synth.families.cubes import FoldedCube, HalvedCube, TwistedHypercube
from topoloom.synth.families.cubic import ChordalRing, CubeConnectedCycles
from topoloom.synth.families.de_bruijn import DeBruijn, ModifiedDeBruijn
from topoloom.synth.families.directed_circulant import Diamond, DirectedCirculant
from topoloom.synth.families.family import Base, Graph
from topoloom.synth.families.generalized_de_bruijn import (
    GeneralizedDeBruijn,
    GeneralizedDeBruijnRewired,
)
from topoloom.synth.families.hypercube import Hypercube
from topoloom.synth.families.kautz import GeneralizedKautz, GeneralizedKautzRewired, Kautz
from topoloom.synth.families.lifts import Digraph, Lift
from topoloom.synth.families.moore import MooreLineGraph
from topoloom.synth.families.paley import Paley
from topoloom.synth.families.permutations import Arrangement, Pancake
from topoloom.synth.families.planes import AffinePlane, NonincidenceGraph, PolarFly, SlimFly
from topoloom.synth.families.plugins import installed_families
from topoloom.synth.families.polygons import (
    CollinearityGraph,
    FlagGraph,
    GeneralizedHexagon,
    GeneralizedQuadrangle,
    ProjectivePlane,
)
from topoloom.synth.families.random_graphs import RandomRegular, RandomRegularTwoWay
from topoloom.synth.families.rings import BiRing, UniRing
from topoloom.synth.families.subsets import DoubledOdd, Johnson, Kneser, Odd
from topoloom.synth.families.torus import Torus, TwistedTorus
from topoloom.synth.naming.suggestions import did_you_mean

_OWN: tuple[type[Base], ...] = (
    UniRing,
    BiRing,
    Complete,
    CompleteBipartite,
    Circulant,
    DirectedCirculant,
    Torus,
    Hypercube,
    Kautz,
    GeneralizedKautz,
    GeneralizedKautzRewired,
    DeBruijn,
    ModifiedDeBruijn,
    Diamond,
    GeneralizedDeBruijnRewired,
    GeneralizedDeBruijn,
    CompleteMultipartite,
    Crown,
    Paley,
    Odd,
    DoubledOdd,
    Johnson,
    Kneser,
    Arrangement,
    FoldedCube,
    HalvedCube,
    ProjectivePlane,
    AffinePlane,
    NonincidenceGraph,
    GeneralizedQuadrangle,
    GeneralizedHexagon,
    FlagGraph,
    CollinearityGraph,
    MooreLineGraph,
    SlimFly,
    PolarFly,
    TwistedTorus,
    TwistedHypercube,
    ChordalRing,
    CubeConnectedCycles,
    Pancake,
    Cayley,
    CayleyMetacyclic,
    CayleyMatrix,
    CayleyNested,
    CayleyPolycyclic,
    CayleyLinear,
    CayleyAlternating,
    CayleySymmetric,
    Lift,
    Digraph,
    RandomRegular,
    RandomRegularTwoWay,
    Graph,
)

FAMILIES: tuple[type[Base], ...]
"""All families, in the order in which the search prefers equally good members.  Families of
other installed packages come last, and are loaded on the first access."""


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Base]]:
    own = {member.__name__: member for member in _OWN}
    return own | {member.__name__: member for member in installed_families(own)}


def __getattr__(name: str) -> tuple[type[Base], ...]:
    # Deferred: a package that provides a family imports this module.
    if name == "FAMILIES":
        return tuple(_by_name().values())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def family(name: str) -> type[Base]:
    """Return the family of a name.

    Raises:
        InvalidRecipe: No family has the name; the message suggests the nearest name, or the command
            that lists all.
        BrokenFamily: An installed package provides something that is no family.

    >>> family("Torus")(4, 2).degree
    3
    """
    try:
        return _by_name()[name]
    except (KeyError, TypeError):
        end = did_you_mean(name, _by_name()) or "; `topoloom catalog families` lists all"
        raise InvalidRecipe("recipe", f"no family is called {name!r}{end}") from None
