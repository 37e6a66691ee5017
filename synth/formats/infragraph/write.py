"""Write an infrastructure of InfraGraph, in JSON."""

import json
from collections import Counter
from fractions import Fraction
from typing import Any

from topoloom.synth.formats.cables import USUAL, LinkModel, assumptions, cables_of
from topoloom.synth.formats.infragraph.protobuf import to_text
from topoloom.synth.topology.topology import Topology

HOST, SWITCH, PORT = "host", "switch", "port"


def infragraph(topology: Topology, model: LinkModel = USUAL) -> str:
    """Return a topology as an infrastructure of InfraGraph.

    A compute node is a host with one ``xpu``, and every cable has a port at each end.  Instances
    have the order of ranks; InfraGraph has no names for single instances.  Source: InfraGraph
    3.1, OpenAPI schema "Infrastructure".

    >>> pair = Topology("ab", [("a", "b", 25), ("b", "a", 25)], bandwidth_unit="GB/s")
    >>> made = json.loads(infragraph(pair))
    >>> made["instances"], made["edges"][0]["ep2"]
    ([{'name': 'host', 'device': 'host', 'count': 2}], {'instance': 'host[1]', 'component': 'port[0]'})

    Raises:
        InvalidTopology: A link has no opposite link of equal capacity, or links share a limit.
    """  # noqa: E501
    cables = cables_of(topology, "infragraph", model)
    numbers = Counter[str]()
    places: list[tuple[str, int]] = []
    for node in topology.nodes:
        kind = SWITCH if node in topology.switches else HOST
        places.append((kind, numbers[kind]))
        numbers[kind] += 1
    used = Counter[int]()
    edges: list[dict[str, Any]] = []
    kinds_of_links: set[tuple[Fraction, Fraction]] = set()
    for one, other, gbps in cables:
        latency = model.latency_us(topology, one, other)
        kinds_of_links.add((gbps, latency))
        ends = []
        for at in (one, other):
            kind, number = places[at]
            ends.append({"instance": f"{kind}[{number}]", "component": f"{PORT}[{used[at]}]"})
            used[at] += 1
        ends_named = {"ep1": ends[0], "ep2": ends[1]}
        edges.append({**ends_named, "scheme": "one2one", "link": _link_name(gbps, latency)})
    ports = Counter[str]()
    for at, (kind, _) in enumerate(places):
        ports[kind] = max(ports[kind], used[at])
    kinds = [kind for kind in (HOST, SWITCH) if kind in numbers]
    document = json.dumps(
        {
            "name": "fabric",
            "description": " ".join(assumptions(topology, model)),
            "devices": [_device(kind, ports[kind]) for kind in kinds],
            "links": [_link(*kind) for kind in sorted(kinds_of_links)],
            "instances": [{"name": kind, "device": kind, "count": numbers[kind]} for kind in kinds],
            "edges": edges,
        },
        indent=1,
    )
    return f"{document}\n"


def infragraph_text(topology: Topology, model: LinkModel = USUAL) -> str:
    """Return a topology as an infrastructure of InfraGraph in protobuf text."""
    return to_text(infragraph(topology, model))


def _device(kind: str, ports: int) -> dict[str, Any]:
    core = "xpu" if kind == HOST else "switch"
    return {
        "name": kind,
        "components": [
            {"name": core, "count": 1, "choice": core, core: {}},
            {"name": PORT, "count": ports, "choice": PORT, PORT: {}},
        ],
        "links": [{"name": "internal"}],
        "edges": [
            {
                "ep1": {"component": f"{core}[0]"},
                "ep2": {"component": f"{PORT}[0:{ports}]"},
                "scheme": "many2many",
                "link": "internal",
            }
        ],
    }


def _link(gbps: Fraction, latency_us: Fraction) -> dict[str, Any]:
    return {
        "name": _link_name(gbps, latency_us),
        "physical": {
            "bandwidth": {
                "choice": "gigabits_per_second",
                "gigabits_per_second": _number(gbps),
            },
            "latency": {"choice": "us", "us": _number(latency_us)},
        },
    }


def _link_name(gbps: Fraction, latency_us: Fraction) -> str:
    """Return the name of a link; the schema allows letters, digits, blanks and few signs.

    >>> _link_name(Fraction(425, 2), Fraction(10))
    'cable-425_2-gbps-10-us'
    """
    return f"cable-{gbps}-gbps-{latency_us}-us".replace("/", "_")


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
