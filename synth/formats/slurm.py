"""Reading Slurm's topology.conf: a tree of switches with hosts as its leaves."""

import re
from collections.abc import Iterator
from itertools import product
from math import prod

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.recipes.topology_document import MAX_NODES
from topoloom.synth.topology.topology import Topology

_WORD = re.compile(r"([A-Za-z]{1,30})=(\S+)")
_KNOWN = frozenset({"switchname", "switches", "nodes", "linkspeed", "level"})
_ITEM = re.compile(r"(?:[^\s,\[\]]|\[[0-9,-]*\])+")
_PART = re.compile(r"\[([0-9,-]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def slurm(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of ``topology.conf``, or of ``scontrol show topology``.

    A line ``SwitchName=`` has ``Nodes=`` or ``Switches=``, each an expression such as
    ``gpu[001-004,9]``; of a line with both, the nodes are those below its switches.  Each host
    is a compute node.  ``LinkSpeed`` is the speed of the cables of its line, in units of the
    site (slurm.schedmd.com, topology.conf).

    >>> made = slurm("SwitchName=leaf1 Nodes=gpu[1-2]\nSwitchName=top Switches=leaf1")
    >>> made.nodes, sorted(made.switches), made.link_count
    (('gpu1', 'gpu2', 'leaf1', 'top'), ['leaf1', 'top'], 6)

    Raises
    ------
    InvalidTopology
        A line breaks a rule; the line and the rule are named.
    """
    switches: dict[str, str] = {}
    leaves: dict[str, str] = {}
    cables: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for place, words in _lines(text):
        switch = words["switchname"]
        if switch in switches:
            raise wrong(place, f"{switch[:50]!r} must have one line")
        switches[switch] = place
        speed = {"LinkSpeed": words["linkspeed"]} if "linkspeed" in words else {}
        children = hosts(words.get("switches") or words.get("nodes", ""), place)
        if "switches" not in words:
            for host in children:
                leaves.setdefault(host, place)
        for child in children:
            if (switch, child) not in cables:
                cables[child, switch] = (place, speed)
    draft = GraphDraft(attributes, directed=False, default=False, kinds=True)
    for name, place in leaves.items():
        draft.node(name, place, {"kind": "compute"})
    for name, place in switches.items():
        draft.node(name, place, {"kind": "switch"})
    for (child, switch), (place, data) in cables.items():
        draft.edge(child, switch, place, data)
    draft.assume("The file states no GPUs: each host is one compute node.")
    return draft.build()


def hosts(expression: str, place: str) -> list[str]:
    """Return the names that a hostlist expression of Slurm stands for.

    >>> hosts("gpu[008-010,20],login", line(1))
    ['gpu008', 'gpu009', 'gpu010', 'gpu20', 'login']

    Raises
    ------
    InvalidTopology
        The expression is malformed, or stands for too many names.
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
        if not bare:
            continue
        words: dict[str, str] = {}
        for word in bare.split():
            match = _WORD.fullmatch(word)
            if match is None or match[1].lower() not in _KNOWN:
                raise wrong(place, f"must hold SwitchName, Nodes, Switches; not {word[:50]!r}")
            if match[2] != "(null)":
                words[match[1].lower()] = match[2]
        if "switchname" not in words:
            raise wrong(place, "must hold SwitchName")
        yield place, words
