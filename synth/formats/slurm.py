"""Reading Slurm's topology.conf: a tree of switches above hosts, or blocks of hosts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.recipes.topology_document import MAX_NODES
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Topology

_WORD = re.compile(r"([A-Za-z]{1,30})=(\S+)")
_KNOWN = frozenset({"switchname", "switches", "nodes", "linkspeed", "level", "blockname"})
_SIZES = re.compile(r"BlockSizes=[0-9,]+", re.I)
_ITEM = re.compile(r"(?:[^\s,\[\]]|\[[0-9,-]*\])+")
_PART = re.compile(r"\[([0-9,-]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


class Row(NamedTuple):
    """A switch or block of a file: its place, its name, and the names below it."""

    place: str
    name: str
    hosts: list[str]
    switches: list[str]
    data: Mapping[str, str] = {}


def slurm(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of ``topology.conf``, or of ``scontrol show topology``.

    A line ``SwitchName=`` has ``Nodes=`` or ``Switches=``, each an expression such as
    ``gpu[001-004,9]``; of a line with both, the nodes are those below its switches.  A line
    ``BlockName=`` has ``Nodes=``; one switch joins the blocks.  Each host is a compute node.
    ``LinkSpeed`` is the speed of the cables of its line, in units of the site
    (slurm.schedmd.com, topology.conf).

    >>> made = slurm("SwitchName=leaf1 Nodes=gpu[1-2]\nSwitchName=top Switches=leaf1")
    >>> made.nodes, sorted(made.switches), made.link_count
    (('gpu1', 'gpu2', 'leaf1', 'top'), ['leaf1', 'top'], 6)
    """
    switches: list[Row] = []
    blocks: list[Row] = []
    for place, words in _lines(text):
        below = hosts(words.get("switches") or words.get("nodes", ""), place)
        speed = {"LinkSpeed": words["linkspeed"]} if "linkspeed" in words else {}
        if "blockname" in words:
            blocks.append(Row(place, words["blockname"], below, []))
        elif "switches" in words:
            switches.append(Row(place, words["switchname"], [], below, speed))
        else:
            switches.append(Row(place, words["switchname"], below, [], speed))
    return switch_tree(switches, attributes) if switches else joined_blocks(blocks, attributes)


def switch_tree(rows: Sequence[Row], attributes: Attributes) -> Topology:
    """Return the topology of switches with hosts and switches below them."""
    leaves: dict[str, str] = {}
    switches: dict[str, str] = {}
    cables: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.name in switches:
            raise wrong(row.place, f"{row.name[:50]!r} must have one line or entry")
        switches[row.name] = row.place
        for host in row.hosts:
            leaves.setdefault(host, row.place)
        for child in (*row.hosts, *row.switches):
            cables.setdefault((child, row.name), row)
    draft = GraphDraft(attributes, directed=False, default=False, kinds=True)
    for name, place in leaves.items():
        draft.node(name, place, {"kind": "compute"})
    for name, place in switches.items():
        draft.node(name, place, {"kind": "switch"})
    for (child, switch), row in cables.items():
        draft.edge(child, switch, row.place, row.data)
    draft.assume("The file states no GPUs: each host is one compute node.")
    return draft.build()


def joined_blocks(rows: Sequence[Row], attributes: Attributes) -> Topology:
    """Return the topology of blocks: a switch for each, and one that joins them."""
    if len(rows) < 2:
        return switch_tree(rows, attributes)
    names = {name for row in rows for name in (row.name, *row.hosts)}
    top = next(name for name in ("network", "network of blocks") if name not in names)
    joined = switch_tree([*rows, Row(rows[0].place, top, [], [r.name for r in rows])], attributes)
    text = "The file states no links between blocks: one switch joins them."
    return joined.with_assumed([*joined.assumed, Assumption(text)])


def hosts(expression: str, place: str) -> list[str]:
    """Return the names that a hostlist expression of Slurm stands for.

    >>> hosts("gpu[008-010,20],login", line(1))
    ['gpu008', 'gpu009', 'gpu010', 'gpu20', 'login']

    Raises:
        InvalidTopology: The expression is malformed, or stands for too many names.
    """
    items = _ITEM.findall(expression)
    if ",".join(items) != expression:
        raise wrong(place, f"must be names such as gpu[001-004]; {expression[:50]!r} is not")
    found: list[str] = []
    for item in items:
        parts = [
            _numbers(part[1], place) if part[2] is None else [part[2]]
            for part in _PART.finditer(item)
        ]
        if len(found) + prod(map(len, parts)) > MAX_NODES:
            raise wrong(place, f"must stand for at most {MAX_NODES} names")
        found += map("".join, product(*parts))
    return found


def _numbers(ranges: str, place: str) -> list[str]:
    """Return the numbers of one bracket, with the zeros before them."""
    found: list[str] = []
    for one in ranges.split(","):
        match = _RANGE.fullmatch(one)
        if match is None:
            raise wrong(place, f"must have numbers in brackets; {one[:50]!r} is none")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < first + MAX_NODES:
            raise wrong(place, f"must have ascending ranges in brackets; {one[:50]!r} is none")
        found += [str(value).zfill(len(match[1])) for value in range(first, last + 1)]
        if len(found) > MAX_NODES:
            raise wrong(place, f"must stand for at most {MAX_NODES} names")
    return found


def _lines(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place and the words of each line, their keys in lower case."""
    held = ""
    for number, content in enumerate([*text.split("\n"), ""], 1):
        bare = content.partition("#")[0].strip()
        if bare.endswith("\\"):
            held += bare[:-1] + " "
            continue
        bare, held, place = (held + bare).strip(), "", line(number)
        if not bare or _SIZES.fullmatch(bare):
            continue
        words: dict[str, str] = {}
        for word in bare.split():
            match = _WORD.fullmatch(word)
            if match is None or match[1].lower() not in _KNOWN:
                raise wrong(
                    place, f"must hold SwitchName, Nodes, Switches or BlockName; not {word[:50]!r}"
                )
            if match[2] != "(null)":
                words[match[1].lower()] = match[2]
        if ("switchname" in words) == ("blockname" in words):
            raise wrong(place, "must hold either SwitchName or BlockName")
        yield place, words
