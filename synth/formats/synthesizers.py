"""Topologies of the schedule synthesizers SCCL, msccl-tools, TACCL and TE-CCL, as JSON.

All but TE-CCL hold square matrices whose row is the target of a link and whose column is the source
(``Topology.link`` in msccl/topologies/topology.py and taccl/topologies/topology.py).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.fabrics import LARGEST, fabric
from topoloom.synth.formats.attributes import PLAIN, Attributes, number
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.tables import MAX_ROWS
from topoloom.synth.formats.topology_draft import list_at, wrong
from topoloom.synth.formats.topology_json import parse_json
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.rates import unit_name
from topoloom.synth.topology.topology import Topology

GB_PER_SECOND = 1000
"""One MB of 10**6 bytes in one microsecond."""


def msccl_tools(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology that msccl-tools, or SCCL before it, stores.

    ``msccl_type``, or ``sccl_type``, is ``"topology"``.

    A number in ``links`` is the chunks that a link takes in one round.  An entry of
    ``switches``, sources, targets, chunks and a name, is a limit that the links from these
    sources to these targets share (``bandwidth_constraints``).

    >>> made = msccl_tools('{"msccl_type": "topology", "name": "pair", "switches": [],'
    ...                    ' "links": [[0, 2], [1, 0]]}')
    >>> made.links
    (Link(source=0, target=1, capacity=1), Link(source=1, target=0, capacity=2))
    """
    document = _object(text)
    chunks = _square(document, "links")
    draft = GraphDraft(attributes, directed=True, default=True, kinds=False)
    for node in range(len(chunks)):
        draft.node(node, f"/links/{node}")
    for source, target, place in _links(chunks):
        draft.edge(source, target, place, {"capacity": chunks[target][source]})
    for index, entry in enumerate(list_at(document.get("switches", []), "/switches")):
        place = f"/switches/{index}"
        if not isinstance(entry, list) or len(entry) != 4:
            raise wrong(place, "must be sources, targets, a bandwidth and a name")
        sources, targets = (list_at(ends, f"{place}/{at}") for at, ends in enumerate(entry[:2]))
        pairs = [
            (source, target)
            for source, target, _ in _links(chunks)
            if source in sources and target in targets
        ]
        draft.limit(pairs, number(entry[2], f"{place}/2"), place)
    if attributes.unit is None:
        draft.assume("Bandwidths of msccl-tools are chunks in one round: 1 is one link.", "unit")
    return draft.build({"name": document.get("name"), "bandwidth_unit": "link"})


def taccl(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of one machine that a TACCL profile with ``links`` describes.

    A link has as many lanes as ``links`` states, each of one MB in ``betas`` microseconds
    (INPUT_GUIDE.md of TACCL).  The file states neither the size that betas are for nor how many
    machines there are.

    >>> made = taccl('{"name": "pair", "gpus_per_node": 2, "links": [[0, 1], [1, 0]],'
    ...              ' "betas": [[0, 20], [20, 0]]}')
    >>> made.capacities, made.bandwidth_unit
    ((50, 50), 'GB/s')
    """
    document = _object(text)
    lanes, betas = _square(document, "links"), _square(document, "betas")
    if len(lanes) != len(betas):
        raise wrong("/betas", f"must have {len(lanes)} rows, as links has")
    draft = GraphDraft(attributes, directed=True, default=True, kinds=False)
    for node in range(len(lanes)):
        draft.node(node, f"/links/{node}")
    for source, target, place in _links(lanes):
        beta = betas[target][source]
        if not beta:
            raise wrong(f"/betas/{target}/{source}", "must be positive where there is a link")
        count = lanes[target][source]
        data = {"capacity": count * GB_PER_SECOND / beta, "links": count}
        draft.edge(source, target, place, data)
    about = {"name": document.get("name")}
    if attributes.capacity is None:
        draft.assume(
            "Costs in betas are taken as microseconds of one MB, 10**6 bytes.", "capacity_attribute"
        )
        about["bandwidth_unit"] = "GB/s"
    if isinstance(document.get("nics_per_node"), int) and document["nics_per_node"] > 0:
        draft.assume("The file is read as one machine: its network between machines is left out.")
    return draft.build(about)


def teccl(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the fabric whose machine an input of TE-CCL names: ``TopologyParams``.

    The file holds no links: NDv2, DGX1 and DGX2 are `synth.fabrics`; its other machines are
    known to TE-CCL only.

    >>> teccl('{"TopologyParams": {"name": "NDv2", "chassis": 2}}').name
    'ndv2-2'

    Raises:
        InvalidTopology: The file names no such machine, or too many.
    """
    given = _object(text).get("TopologyParams")
    name = given.get("name") if isinstance(given, dict) else None
    chassis = str(given.get("chassis", 1)) if isinstance(given, dict) else ""
    known = {"ndv2": f"ndv2-{chassis}", "dgx1": "dgx-1v", "dgx2": "dgx-2"}
    if not isinstance(name, str) or name.lower() not in known:
        raise wrong("/TopologyParams/name", "must be NDv2, DGX1 or DGX2")
    if chassis != "1" and name.lower() != "ndv2":
        raise wrong("/TopologyParams/chassis", f"must be 1 for {name}")
    try:
        found = fabric(known[name.lower()])
    except InvalidRecipe:
        raise wrong("/TopologyParams/chassis", f"must be from 1 to {LARGEST}") from None
    text = f"The file names {name} and holds no links: it is read as the fabric {found.name}."
    return Topology(
        found.nodes,
        found.links,
        switches=found.switches,
        name=found.name,
        bandwidth_unit=unit_name(attributes.unit or found.bandwidth_unit),
        assumed=[Assumption(text)],
    )


def _object(text: str) -> dict[str, Any]:
    # Decimals stay as written: no binary fraction comes between.
    document = parse_json(text, str)
    if not isinstance(document, dict):
        raise wrong("", "must be a JSON object with links")
    return document


def _square(document: dict[str, Any], key: str) -> list[list[Fraction]]:
    """Return a square matrix of exact numbers."""
    rows = list_at(document.get(key), f"/{key}")
    if not 1 <= len(rows) <= MAX_ROWS:
        raise wrong(f"/{key}", f"must have from 1 to {MAX_ROWS} rows")
    square: list[list[Fraction]] = []
    for index, row in enumerate(rows):
        place = f"/{key}/{index}"
        if len(list_at(row, place)) != len(rows):
            raise wrong(place, f"must have {len(rows)} numbers, one for each row")
        square.append([Fraction(number(cell, f"{place}/{at}")) for at, cell in enumerate(row)])
    return square


def _links(square: list[list[Fraction]]) -> Iterator[tuple[int, int, str]]:
    """Yield source, target and place of every number that is not 0."""
    for target, row in enumerate(square):
        for source, value in enumerate(row):
            if value:
                yield source, target, f"/links/{target}/{source}"
