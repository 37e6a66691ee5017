"""Names of topologies in arXiv:2202.03356 and on lists of distance-regular graphs, as recipes.

Zhao et al., "Efficient direct-connect topologies for collective communications", state the degree
d before the size N; recipes state the size first.
"""

from collections.abc import Mapping
from types import MappingProxyType

PAPER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "K": "Complete(d + 1), or CompleteBipartite(d) for K(d, d)",
        "C": "Circulant(N, m, m + 1)",
        "Pi": "GeneralizedKautz(d, N)",
        "DBJ": "DeBruijn(d, k)",
        "DBJMod": "ModifiedDeBruijn(d, k)",
        "Q": "Hypercube(k)",
        "Cube": "Hypercube(k)",
        "H": "Power(k, Complete(q)) for H(k, q)",
        "Hamming": "Power(k, Complete(q)) for H(k, q)",
        "J": "Johnson(n, k)",
        "O": "Odd(k)",
        "Octahedron": "CompleteMultipartite(3, 2)",
        "Petersen": "Odd(3)",
        "Heawood": "ProjectivePlane(2)",
        "Tutte8": "GeneralizedQuadrangle(2)",
        "PG": "ProjectivePlane(q) for the incidence graph of PG(2, q)",
        "AG": "AffinePlane(q) for the incidence graph of AG(2, q)",
        "L": "LineGraph(times, G)",
        "Line": "LineGraph(times, G)",
        "Deg": "DegreeExpansion(factor, G) for G * factor",
        "Car": "Power(times, G), or Product(G, H) for two topologies",
        "Cartesian": "Power(times, G), or Product(G, H) for two topologies",
    }
)
"""Name in the paper -> how a recipe says it."""

_FOLDED = {name.casefold(): text for name, text in PAPER_NAMES.items()}


def as_recipe(name: str) -> str:
    """Return the end of a sentence that states the recipe of a paper's name; empty if unknown.

    >>> as_recipe("DBJMod")
    '; write ModifiedDeBruijn(d, k)'
    >>> as_recipe("Moebius")
    ''
    """
    text = _FOLDED.get(name.casefold())
    return f"; write {text}" if text else ""
