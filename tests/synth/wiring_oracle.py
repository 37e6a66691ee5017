"""The fewest moves on a plant by an integer program of single ports.

Reads plant/1 documents, and shares no code with the planner.  The program leads every lane of every
link as a flow over pairs of ports; its layers are the trunks passed so far.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

MOST_TRUNKS = 3

Port = tuple[str, str]
Pair = frozenset[Port]


class Case(NamedTuple):
    """A plant/1 document with today's pairs, and the nodes and links of a topology."""

    document: dict[str, Any]
    nodes: list[str]
    links: list[tuple[str, str]]


def is_two_way(document):
    """Whether links go both ways."""
    return any(
        "at" in port or port.get("duplex") for row in document["hosts"] for port in row["ports"]
    )


class Sides:
    """The ports of a plant: of which host each is, and what each can be joined to."""

    def __init__(self, document):
        self.directed = document["panels"][0]["mode"] == "directed"
        self.names: list[Port] = [
            (panel["id"], f"{number}{side}")
            for panel in document["panels"]
            for side, count in ([("", panel["ports"])] if "ports" in panel else
                                [("A", panel["a"]), ("B", panel["b"])])
            for number in range(count)
        ]  # fmt: skip
        self.ports = {
            row["id"]: [
                [
                    [self.split(name) for name in port.get(key, port.get("at"))]
                    for key in ("tx", "rx")
                ]
                for port in row["ports"]
            ]
            for row in document["hosts"]
        }
        self.host = {
            end: host for host, ports in self.ports.items() for port in ports for side in port
            for end in side
        }  # fmt: skip
        self.beyond: dict[Port, Port] = {}
        for trunk in document["trunks"]:
            source, target = self.split(trunk["from"]), self.split(trunk["to"])
            self.beyond[source] = target
            if not self.directed:
                self.beyond[target] = source

    @staticmethod
    def split(name):
        return tuple(name.rsplit("/", 1))

    def facing(self, one):
        """Return the ports that light from a port can be led to."""
        if self.directed and one[1].endswith("B"):
            return []
        return [
            other for other in self.names
            if other[0] == one[0] and other != one
            and (other[1][-1].isdigit() or other[1][-1] != one[1][-1])
        ]  # fmt: skip

    def in_order(self, pair):
        """Return the ports of a pair, the A port first, or the smaller number."""
        return sorted(pair, key=lambda end: (end[1].endswith("B"), int(end[1].rstrip("AB"))))


def lit(sides, pairs, start):
    """The pairs that light from a port passes, and the port of a host where it ends, if any."""
    partner = {
        end: other for one, two in map(tuple, pairs) for end, other in ((one, two), (two, one))
    }
    passed, port = [], start
    while port in partner:
        passed.append(frozenset((port, partner[port])))
        port = partner[port]
        if port in sides.host or len(passed) > len(pairs):
            return passed, port
        port = sides.beyond.get(port)
    return passed, None


def removable(sides, document, nodes):
    """Return today's pairs that the plan may remove, and the other pairs."""
    pairs = {
        frozenset(((row["panel"], row["a"]), (row["panel"], row["b"]))): row.get("foreign", False)
        for row in document.get("cross_connects", ())
    }
    mine = {
        pair for pair, foreign in pairs.items()
        if not foreign and any(sides.host.get(end) in nodes for end in pair)
    }  # fmt: skip
    ends = sides.beyond | {target: source for source, target in sides.beyond.items()}
    todo = list(mine)
    while todo:
        reached = {ends[end] for end in todo.pop() if end in ends}
        for pair in pairs:
            lit = pair & reached and not any(end in sides.host for end in pair)
            if lit and not pairs[pair] and pair not in mine:
                mine.add(pair)
                todo.append(pair)
    return mine, pairs.keys() - mine


class Fewest(NamedTuple):
    """The fewest moves, and the pairs of the links of such a plan."""

    moves: int
    pairs: set[Pair]


class Columns:
    """An integer program of zeros and ones, written row by row."""

    def __init__(self):
        self.cost: list[float] = []
        self.rows: list[tuple[int, int, dict[int, float]]] = []

    def column(self, cost):
        self.cost.append(cost)
        return len(self.cost) - 1

    def solve(self):
        """Return the columns that are one; None if there is no solution."""
        entries = [(r, c, v) for r, (_, _, row) in enumerate(self.rows) for c, v in row.items()]
        rows, columns, values = zip(*entries, strict=True)
        shape = len(self.rows), len(self.cost)
        low, high = (np.array([row[k] for row in self.rows], float) for k in (0, 1))
        limits: Any = LinearConstraint(
            coo_array((values, (rows, columns)), shape).tocsr(), low, high
        )
        solved = milp(
            np.array(self.cost),
            integrality=np.ones(len(self.cost)),
            bounds=Bounds(0, 1),
            constraints=limits,
            options={"mip_rel_gap": 0},
        )
        assert solved.status in (0, 2)
        return None if solved.x is None else set(np.flatnonzero(solved.x > 0.5).tolist())


def fewest(given):
    """Return the fewest moves of any plan, or None if the links do not fit."""
    sides, two_way = Sides(given.document), is_two_way(given.document)
    mine, others = removable(sides, given.document, given.nodes)
    blocked = {end for pair in others for end in pair}
    program, column_of = Columns(), defaultdict(list)
    for u, v in given.links:
        if two_way and u > v:
            continue
        strands, chosen = ports_of_link(program, sides, (u, v), two_way, blocked)
        if not chosen:
            return None
        program.rows.append((1, 1, dict.fromkeys(chosen, 1.0)))
        for starts, stops in strands.values():
            for pair, column in led(program, sides, starts, stops, mine, blocked):
                column_of[pair].append(column)
    taken = defaultdict(dict)
    for pair, columns in column_of.items():
        for end in sorted(pair):  # the order of rows decides between equal solutions
            taken[end] |= dict.fromkeys(columns, 1.0)
    program.rows += [(0, 1, row) for row in taken.values()]
    if not given.links:
        return Fewest(len(mine), set())
    ones = program.solve()
    if ones is None:
        return None
    pairs = {pair for pair, columns in column_of.items() if ones.intersection(columns)}
    return Fewest(len(mine ^ pairs), pairs)


def ports_of_link(program, sides, link, two_way, blocked):
    """Add a column for every two ports that may carry a link.

    Returns by strand the columns that start at each port, and those that end there.
    """
    strands: dict[int, tuple] = defaultdict(lambda: (defaultdict(list), defaultdict(list)))
    chosen = []
    for tx, rx in sides.ports[link[0]]:
        for far_tx, far_rx in sides.ports[link[1]]:
            lanes = list(zip(tx, far_rx, strict=True))
            lanes += zip(far_tx, rx, strict=True) if two_way and tx != rx else ()
            if blocked.intersection(end for lane in lanes for end in lane):
                continue
            chosen.append(program.column(0.0))
            for number, ends in enumerate(lanes):
                for side, end in zip(strands[number], ends, strict=True):
                    side[end].append(chosen[-1])
    return strands, chosen


def led(program, sides, starts, stops, mine, blocked):
    """Lead a strand from where it starts to where it stops; yield its pairs with their columns."""
    come, go = (defaultdict(dict), defaultdict(dict))
    for layer in range(MOST_TRUNKS + 1):
        begun = sides.beyond.values() if layer else starts
        for one in (end for end in dict.fromkeys(begun) if end not in blocked):
            for other in sides.facing(one):
                onward = layer < MOST_TRUNKS and sides.beyond.get(other)
                if other in blocked or not (other in stops or onward):
                    continue
                pair = frozenset((one, other))
                column = program.column(-1.0 if pair in mine else 1.0)
                go[layer, one][column] = 1.0
                come[(-1, other) if other in stops else (layer + 1, onward)][column] = -1.0
                yield pair, column
    for end, columns in starts.items():
        go[0, end] |= dict.fromkeys(columns, -1.0)
    for end, columns in stops.items():
        come[-1, end] |= dict.fromkeys(columns, 1.0)
    for key in sorted({*come, *go}):
        program.rows.append((0, 0, {**go[key], **come[key]}))
