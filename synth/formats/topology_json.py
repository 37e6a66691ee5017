"""topology/1, the format of our own: it keeps everything."""

import json
from collections.abc import Callable
from typing import Any

from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.naming.unique_names import unique_members
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.topology import Topology


def document(text: str) -> Topology:
    """Return the topology of a topology/1 document."""
    return topology_from_document(parse_json(text, float))


def parse_json(text: str, decimal: Callable[[str], Any]) -> Any:
    """Return the value of a JSON text; ``decimal`` converts its decimals.

    Raises:
        InvalidTopology: The text is no JSON, nests too deep, or an object gives a name twice.
    """
    try:
        return json.loads(text, parse_float=decimal, object_pairs_hook=unique_members)
    except RecursionError:
        raise wrong("", "must not nest so deep") from None
    except json.JSONDecodeError as error:
        raise wrong(line(error.lineno), f"must be JSON: {error.msg}") from None
    except ValueError as error:
        raise wrong("", f"must be JSON: {error}") from None


def to_json(topology: Topology) -> str:
    """Return the topology/1 document, one node or link a line.

    >>> from fractions import Fraction
    >>> print(to_json(Topology(["a", "b"], [("a", "b", Fraction(1, 2))], name="half")))
    {
    "schema": "topology/1",
    "name": "half",
    "bandwidth_unit": "link",
    "nodes": [
    {"id": "a", "kind": "compute"},
    {"id": "b", "kind": "compute"}
    ],
    "links": [
    {"source": "a", "target": "b", "capacity": "1/2"}
    ]
    }
    <BLANKLINE>
    """
    members: list[str] = []
    for key, value in topology.to_document().items():
        text = json.dumps(value)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
        members.append(f'"{key}": {text}')
    return "{\n" + ",\n".join(members) + "\n}\n"
