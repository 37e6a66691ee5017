"""The catalogue of base topologies: a file for every kind, all of them in ``FAMILIES``."""

from functools import lru_cache

from synth.bases.bi_ring import BiRing
from synth.bases.brought import brought
from synth.bases.cayley import (
    Cayley,
    CayleyAlternating,
    CayleyLinear,
    CayleyMatrix,
    CayleyMetacyclic,
    CayleyNested,
    CayleyPolycyclic,
    CayleySymmetric,
)
from synth.bases.circulant import Circulant
from synth.bases.complete import Complete
from synth.bases.complete_bipartite import CompleteBipartite
from synth.bases.cubes import FoldedCube, HalvedCube, TwistedHypercube
from synth.bases.cubic import ChordalRing, CubeConnectedCycles
from synth.bases.de_bruijn import DeBruijn
from synth.bases.diamond import Diamond
from synth.bases.directed_circulant import DirectedCirculant
from synth.bases.family import Arguments, Base, Ends, Graph
from synth.bases.generalized_de_bruijn import GeneralizedDeBruijn, GeneralizedDeBruijnRewired
from synth.bases.generalized_kautz import GeneralizedKautz, GeneralizedKautzRewired
from synth.bases.hypercube import Hypercube
from synth.bases.kautz import Kautz
from synth.bases.lifts import Digraph, Lift
from synth.bases.modified_de_bruijn import ModifiedDeBruijn
from synth.bases.moore import MooreLineGraph
from synth.bases.multipartite import CompleteMultipartite, Crown
from synth.bases.paley import Paley
from synth.bases.permutations import Arrangement, Pancake
from synth.bases.planes import AffinePlane, NonincidenceGraph, PolarFly, SlimFly
from synth.bases.polygons import (
    CollinearityGraph,
    FlagGraph,
    GeneralizedHexagon,
    GeneralizedQuadrangle,
    ProjectivePlane,
)
from synth.bases.random_graphs import RandomRegular, RandomRegularTwoWay
from synth.bases.subsets import DoubledOdd, Johnson, Kneser, Odd
from synth.bases.torus import Torus
from synth.bases.twisted_torus import TwistedTorus
from synth.bases.uni_ring import UniRing
from synth.errors import InvalidRecipe
from synth.near_names import did_you_mean

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
"""All families, in the order in which the search prefers equally good members; those that other
installed packages bring are the last, and are loaded when this is asked for."""

__all__ = [
    "FAMILIES",
    "AffinePlane",
    "Arguments",
    "Arrangement",
    "Base",
    "BiRing",
    "Cayley",
    "CayleyAlternating",
    "CayleyLinear",
    "CayleyMatrix",
    "CayleyMetacyclic",
    "CayleyNested",
    "CayleyPolycyclic",
    "CayleySymmetric",
    "ChordalRing",
    "Circulant",
    "CollinearityGraph",
    "Complete",
    "CompleteBipartite",
    "CompleteMultipartite",
    "Crown",
    "CubeConnectedCycles",
    "DeBruijn",
    "Diamond",
    "Digraph",
    "DirectedCirculant",
    "DoubledOdd",
    "Ends",
    "FlagGraph",
    "FoldedCube",
    "GeneralizedDeBruijn",
    "GeneralizedDeBruijnRewired",
    "GeneralizedHexagon",
    "GeneralizedKautz",
    "GeneralizedKautzRewired",
    "GeneralizedQuadrangle",
    "Graph",
    "HalvedCube",
    "Hypercube",
    "Johnson",
    "Kautz",
    "Kneser",
    "Lift",
    "ModifiedDeBruijn",
    "MooreLineGraph",
    "NonincidenceGraph",
    "Odd",
    "Paley",
    "Pancake",
    "PolarFly",
    "ProjectivePlane",
    "RandomRegular",
    "RandomRegularTwoWay",
    "SlimFly",
    "Torus",
    "TwistedHypercube",
    "TwistedTorus",
    "UniRing",
    "family",
]


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Base]]:
    own = {member.__name__: member for member in _OWN}
    return own | {member.__name__: member for member in brought(own)}


def __getattr__(name: str) -> tuple[type[Base], ...]:
    # Not sooner: a package that brings a family imports this one.
    if name == "FAMILIES":
        return tuple(_by_name().values())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def family(name: str) -> type[Base]:
    """Return the family of this name.

    Raises
    ------
    InvalidRecipe
        There is none; the message suggests the nearest name, or lists all.
    BrokenFamily
        An installed package brings something that is no family.

    Examples
    --------
    >>> family("Torus")(4, 2).degree
    3
    """
    try:
        return _by_name()[name]
    except (KeyError, TypeError):
        known = sorted(_by_name())
        end = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        raise InvalidRecipe("recipe", f"no family is called {name!r}{end}") from None
