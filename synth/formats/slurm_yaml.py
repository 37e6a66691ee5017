"""Reading Slurm's topology.yaml: a tree of switches, blocks of hosts, a ring or a torus."""

from collections.abc import Callable
from itertools import product
from typing import Any

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.slurm import Row, hosts, joined_blocks, switch_tree
from topoloom.synth.formats.topology_draft import list_at, wrong
from topoloom.synth.formats.yaml_text import parse_yaml
from topoloom.synth.recipes.topology_document import MAX_NODES
from topoloom.synth.topology.topology import Topology


def slurm_yaml(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of ``topology.yaml``: of its default, else of its first topology.

    A tree is as in ``topology.conf``; one switch joins the blocks; the hosts of a ring or a torus
    have links to their neighbors, x first (slurm.schedmd.com, topology.yaml).

    >>> made = slurm_yaml("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: 'n[1-2]'}")
    >>> made.nodes
    ('n1', 'n2', 's')
    """  # noqa: E501
    document = parse_yaml(text)
    entries = list_at(document, "")
    chosen = next((i for i, one in enumerate(entries) if _is_default(one)), 0)
    if not entries or not isinstance(entries[chosen], dict):
        raise wrong("", "must be a list of topologies")
    entry, place = entries[chosen], f"/{chosen}"
    kinds = [kind for kind in _READERS if kind in entry]
    if len(kinds) != 1:
        raise wrong(place, f"must have exactly one of {', '.join(_READERS)}")
    (kind,) = kinds
    key, read = _READERS[kind]
    inner = entry[kind]
    rows = list_at(inner.get(key) if isinstance(inner, dict) else None, f"{place}/{kind}/{key}")
    return read(rows, f"{place}/{kind}/{key}", attributes)


def _is_default(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("cluster_default") is True


def _text(row: Any, key: str, place: str) -> str:
    """Return a text of a row; empty if the row has none."""
    value = row.get(key, "") if isinstance(row, dict) else None
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        raise wrong(f"{place}/{key}", "must be a text")
    return value


def _rows(rows: list[Any], place: str, name: str) -> list[Row]:
    found: list[Row] = []
    for index, row in enumerate(rows):
        at = f"{place}/{index}"
        below, switches = _text(row, "nodes", at), _text(row, "children", at)
        named = _text(row, name, at)
        if not named:
            raise wrong(f"{at}/{name}", "must be a name")
        found.append(Row(at, named, hosts(below, at), hosts(switches, at)))
    return found


def _tree(rows: list[Any], place: str, attributes: Attributes) -> Topology:
    return switch_tree(_rows(rows, place, "switch"), attributes)


def _blocks(rows: list[Any], place: str, attributes: Attributes) -> Topology:
    return joined_blocks(_rows(rows, place, "block"), attributes)


def _rings(rows: list[Any], place: str, attributes: Attributes) -> Topology:
    found = [(row, (len(row.hosts), 1, 1)) for row in _rows(rows, place, "ring")]
    return _tori(found, attributes)


def _toruses(rows: list[Any], place: str, attributes: Attributes) -> Topology:
    found = [
        (row, _dims(entry, row.place))
        for row, entry in zip(_rows(rows, place, "name"), rows, strict=True)
    ]
    return _tori(found, attributes)


def _dims(entry: Any, place: str) -> tuple[int, int, int]:
    dims = entry.get("dims")
    return _side(dims, "x", place), _side(dims, "y", place), _side(dims, "z", place)


def _side(dims: Any, axis: str, place: str) -> int:
    side = dims.get(axis) if isinstance(dims, dict) else None
    if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= MAX_NODES:
        raise wrong(f"{place}/dims", "must have positive integers x, y and z")
    return side


def _tori(rows: list[tuple[Row, tuple[int, int, int]]], attributes: Attributes) -> Topology:
    """Return the topology of hosts with a link to the next along each axis, around its end."""
    draft = GraphDraft(attributes, directed=False, default=False, kinds=True)
    for row, (x, y, z) in rows:
        if len(row.hosts) != x * y * z:
            raise wrong(f"{row.place}/nodes", f"must be {x * y * z} hosts; not {len(row.hosts)}")
        for host in row.hosts:
            draft.node(host, row.place, {"kind": "compute"})
        for c, b, a in product(range(z), range(y), range(x)):
            at = (a, b, c)
            for axis, side in enumerate((x, y, z)):
                to = [(p + (k == axis)) % side for k, p in enumerate(at)]
                if side > 2 or (side == 2 and at[axis] == 0):
                    one, other = (row.hosts[p + x * (q + y * r)] for p, q, r in (at, to))
                    draft.edge(one, other, row.place, {})
    draft.assume("The file states no GPUs: each host is one compute node.")
    return draft.build()


_READERS: dict[str, tuple[str, Callable[[list[Any], str, Attributes], Topology]]] = {
    "tree": ("switches", _tree),
    "block": ("blocks", _blocks),
    "ring": ("rings", _rings),
    "torus3d": ("toruses", _toruses),
}
"""Kind of topology -> the key of its list, and the reader of the list."""
