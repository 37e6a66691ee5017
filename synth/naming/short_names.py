"""Short names of topologies: what people read, remember and type instead of a recipe.

A name says what a topology is made of, how large it is and, in a few digits, which of
those it is: ``lg3-circulant-1024x4-6695``.  It is made from a recipe and never read
back: what it means is kept beside it, in `synth.topology.topology.Topology.recipe`.
"""

import hashlib
import re

from topoloom.synth.naming.terms import Term

__all__ = ["HASH_DIGITS", "MAX_NAME", "short_name", "shortened"]

MAX_NAME = 80
"""Characters of a name in a document."""

HASH_DIGITS = 4
"""Digits of the hash: few enough to type, and enough to tell apart what one size has."""

_MAX_PARTS = 40
_OPERATORS = {
    "LineGraph": "lg",
    "DegreeExpansion": "deg",
    "Power": "pow",
    "Product": "prod",
    "Bidirected": "bi",
    "Inserted": "ins",
    "Removed": "rem",
    "Shortened": "short",
}
_PART = re.compile(r"([A-Za-z][A-Za-z0-9]*)\(([0-9]*)")


def short_name(recipe: Term, nodes: int, degree: int) -> str:
    """Return the name of the topology that a recipe makes.

    Parameters
    ----------
    recipe : Recipe
        Any; its canonical text decides.
    nodes, degree : int
        N and d of the topology.

    Returns
    -------
    str
        Lower case letters, digits and hyphens, at most `MAX_NAME`: the operators, short
        and with their counts, and the families, both as they stand in the recipe, as
        many as fit into 40 characters; then ``NxD``; then `HASH_DIGITS` hexadecimal
        digits of the SHA-256 of the recipe's text.

    Notes
    -----
    The same recipe has the same name in every version.  Two recipes that agree in all but
    the hash share it once in 65,536 pairs.

    Examples
    --------
    >>> from topoloom.synth.recipes.recipe import parse
    >>> short_name(parse("LineGraph(3, Circulant(16, 3, 4))"), 1024, 4)
    'lg3-circulant-1024x4-6695'
    >>> short_name(parse("Product(UniRing(4), Power(2, BiRing(3)))"), 36, 5)
    'prod-uniring-pow2-biring-36x5-e5cd'
    """
    text = str(recipe)
    parts = ""
    for match in _PART.finditer(text):
        operator = _OPERATORS.get(match[1])
        part = match[1].lower() if operator is None else operator + match[2]
        if parts and len(parts) + 1 + len(part) > _MAX_PARTS:
            break
        parts = f"{parts}-{part}" if parts else part
    mark = hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
    return f"{parts[:_MAX_PARTS]}-{nodes}x{degree}-{mark}"


def shortened(name: str) -> str:
    """Return a name of at most `MAX_NAME` characters; cut names stay different.

    >>> shortened("ring")
    'ring'
    >>> len(shortened("a cluster " * 20)), shortened("a" * 200)[-10:]
    (80, 'aaaaa~c2a9')
    """
    if len(name) <= MAX_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:HASH_DIGITS]
    return f"{name[: MAX_NAME - HASH_DIGITS - 1]}~{mark}"
