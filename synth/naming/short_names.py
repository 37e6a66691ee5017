"""Short names of topologies: what people read, remember and type instead of a recipe.

A name such as ``lg3-circulant-1024x4-6695`` lists the ingredients, the size and some digits of a
hash.  Names are derived from recipes and never parsed; a topology keeps its recipe in
`synth.topology.topology.Topology.recipe`.
"""

import hashlib
import re

from topoloom.synth.naming.terms import Term

MAX_NAME = 80
"""Most characters of a name in a document."""

HASH_DIGITS = 4
"""Digits of the hash: few to type, and enough to distinguish the topologies of one size."""

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
    """Return the short name of the topology of a recipe.

    Args:
        recipe: Any; its canonical text decides.
        nodes, degree: N and d of the topology.

    Returns:
        Lower-case letters, digits and hyphens, at most `MAX_NAME`: operators, abbreviated and
        with their counts, and families, in the order of the recipe, up to 40 characters; then
        ``NxD``; then `HASH_DIGITS` hexadecimal digits of the SHA-256 of the recipe's text.

    The name of a recipe is the same in every version.  Two recipes with equal prefixes share the
    hash with probability 1/65,536.

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
    """Return a name of at most `MAX_NAME` characters; truncated names stay distinct.

    >>> shortened("ring")
    'ring'
    >>> len(shortened("a cluster " * 20)), shortened("a" * 200)[-10:]
    (80, 'aaaaa~c2a9')
    """
    if len(name) <= MAX_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:HASH_DIGITS]
    return f"{name[: MAX_NAME - HASH_DIGITS - 1]}~{mark}"
