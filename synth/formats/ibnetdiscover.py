"""Reading what ``ibnetdiscover`` prints: switches and adapters of an InfiniBand subnet."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.topology.topology import Topology

GBIT_PER_LANE = {
    "SDR": Fraction(2),
    "DDR": Fraction(4),
    "QDR": Fraction(8),
    "FDR10": Fraction(10),
    "FDR": Fraction(225, 16) * 64 / 66,
    "EDR": Fraction(25),
    "HDR": Fraction(50),
    "NDR": Fraction(100),
    "XDR": Fraction(200),
}
"""Data rate of one lane, Gbit/s: InfiniBand Trade Association, "InfiniBand Roadmap"."""

_OWNER = re.compile(r'(Switch|Ca|Rt)\s+[0-9]+\s+"([SHR]-[0-9a-f]{1,16})"\s*#\s*"([^"]*)".*')
_PORT = re.compile(
    r'\[([0-9]{1,5})\](?:\([0-9a-f]+\))?\s+"([SHR]-[0-9a-f]{1,16})"\[([0-9]{1,5})\](.*)'
)
_SPEED = re.compile(r"\b([0-9]{1,2})x([A-Z]+[0-9]*)\b")
_AGGREGATION = "Aggregation Node"
"""SHARP's own adapter inside a switch."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """A switch or an adapter: its guid, the description, the place."""

    guid: str
    description: str
    place: str
    is_switch: bool


def ibnetdiscover(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of the output of ``ibnetdiscover``.

    Adapters whose descriptions begin with the same word are one compute node; a cable has the
    data rate of its width and speed, such as ``4xEDR``.  Adapters of SHARP in switches are left
    out.  Source: rdma-core, ibnetdiscover(8).

    >>> made = ibnetdiscover(
    ...     'Switch 2 "S-1"  # "leaf" port 0\n[1] "H-2"[1](2) # "a mlx5_0" lid 1 4xEDR\n'
    ...     '[2] "H-3"[1](3) # "b mlx5_0" lid 2 4xEDR\n'
    ...     'Ca 1 "H-2" # "a mlx5_0"\n[1](2) "S-1"[1] # lid 1 "leaf" 4xEDR\n'
    ...     'Ca 1 "H-3" # "b mlx5_0"\n[1](3) "S-1"[2] # lid 2 "leaf" 4xEDR\n')
    >>> made.nodes, made.capacities[0]
    (('leaf', 'a', 'b'), Fraction(25, 2))
    """
    owners, ports = _read(text)
    names = _names(owners)
    draft = GraphDraft(attributes, directed=False, default=False, kinds=True)
    first: dict[str, _Owner] = {}
    for guid, name in names.items():
        first.setdefault(name, owners[guid])
    for name, owner in first.items():
        draft.node(name, owner.place, {"kind": "switch" if owner.is_switch else "compute"})
    seen: set[frozenset[tuple[str, str]]] = set()
    for one, other, rest, place in ports:
        cable = frozenset((one, other))
        if one[0] not in names or cable in seen:
            continue
        if other[0] not in owners:
            raise wrong(place, f"must lead to a switch or an adapter of the text; not {other[0]!r}")
        seen.add(cable)
        if other[0] in names and names[one[0]] != names[other[0]]:
            draft.edge(names[one[0]], names[other[0]], place, _data(rest, place))
    draft.assume("Adapters whose descriptions begin with the same word are one compute node.")
    return draft.build({"bandwidth_unit": "GB/s"})


def _read(
    text: str,
) -> tuple[dict[str, _Owner], list[tuple[tuple[str, str], tuple[str, str], str, str]]]:
    """Return the owners by guid, and the rows of their ports: both ends, the rest, the place."""
    owners: dict[str, _Owner] = {}
    ports: list[tuple[tuple[str, str], tuple[str, str], str, str]] = []
    guid = ""
    for place, content in _rows(text):
        owner = _OWNER.fullmatch(content)
        if owner is not None:
            guid = owner[2]
            if guid in owners:
                raise wrong(place, f"{guid!r} must be described once")
            owners[guid] = _Owner(guid, owner[3].strip(), place, owner[1] == "Switch")
            continue
        port = _PORT.fullmatch(content)
        if port is None or not guid:
            raise wrong(place, f"must be a switch, an adapter or a port; not {content[:40]!r}")
        ports.append(((guid, port[1]), (port[2], port[3]), port[4], place))
    if not owners:
        raise wrong("", "must have a switch or an adapter")
    return owners, ports


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of owners and ports; others are comments and keys of identification."""
    for number, content in enumerate(console_lines(text), 1):
        bare = content.strip()
        if bare and not bare.startswith("#") and not re.match(r"[a-z]+=", bare):
            yield line(number), bare


def _names(owners: dict[str, _Owner]) -> dict[str, str]:
    """Return the id of every owner: a host for adapters, the description of switches if unique."""
    often = Counter(owner.description for owner in owners.values() if owner.is_switch)
    names: dict[str, str] = {}
    for guid, owner in owners.items():
        if owner.is_switch:
            usable = often[owner.description] == 1 and owner.description.isprintable()
            names[guid] = owner.description[:200] if usable and owner.description else guid
        elif _AGGREGATION not in owner.description:
            names[guid] = (owner.description.split() or [guid])[0][:200]
    return names


def _data(rest: str, place: str) -> dict[str, Fraction]:
    """Return the capacity of a cable in GB/s, from its width and speed."""
    found = _SPEED.search(rest.rpartition('"')[2]) or _SPEED.search(rest)
    if found is None or found[2] not in GBIT_PER_LANE or not int(found[1]):
        raise wrong(place, f"must end with a width and one of {', '.join(GBIT_PER_LANE)}")
    return {"capacity": int(found[1]) * GBIT_PER_LANE[found[2]] / 8}
