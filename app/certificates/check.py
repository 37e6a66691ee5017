"""Check a certificate/1 file by the slack schedule theorem, with the standard library alone.

    python check.py FILE.json[.gz]

This file imports nothing of Topoloom and runs anywhere.  It reads the links of a graph and, for
either direction, the arrival step of every (shard, node) pair, and checks node by node that the
links can carry the shards:

    for every node u, step t and set S of links into u, the shards that arrive at u in step t and
    can come by no link outside S number at most load(t) c(S) / B,

where a shard can come by a link if the tail of the link has it in an earlier step, c(S) is the
capacity of S, and B is the largest capacity of any node.  By Hall's theorem, the shards of a step
can then be divided among the links, in parts; by induction on the steps, the tail of a link holds
all shards that the link carries.  Hence the graph has an allgather with T steps, the number of
loads, and T_B = (load(1) + ... + load(T)) / N.  On the reversed links, the reverse in time is a
reduce-scatter.  All numbers are integers and fractions.
"""

import gzip
import json
import re
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

MAX_NODES = 2_048
_EXACT = re.compile("[0-9]{1,20}(/[1-9][0-9]{0,19})?", re.ASCII)
MAX_DEGREE = 8
MAX_STEPS = 126
DIRECTIONS = {"allgather": False, "reduce_scatter": True}


class CertificateFailed(ValueError):
    """A certificate does not prove its claims; the message has the pointer and the reason."""

    def __init__(self, pointer: str, rule: str) -> None:
        super().__init__(f"{pointer}: {rule}")
        self.pointer, self.rule = pointer, rule


def proved_claims(document: Any) -> list[str]:
    """Return the proved claims of a certificate as sentences; raise if a claim fails.

    Raises:
        CertificateFailed: A claim fails; the error has the pointer and the first failing node.

    O(N links) for the sets of links of each shard, O(N T 2^d d) for Hall's condition.
    """
    document = _member(document, "", dict)
    if document.get("schema") != "certificate/1":
        raise CertificateFailed("/schema", "must be certificate/1")
    nodes = _whole(document.get("nodes"), "/nodes", 2, MAX_NODES)
    links = _links(document.get("links"), nodes)
    proved = []
    for direction, turned in DIRECTIONS.items():
        into = _entering(links, nodes, turned)
        part = _member(document.get(direction), f"/{direction}", dict)
        cost = _proved(into, part, f"/{direction}", _busiest(links, nodes))
        name = direction.replace("_", "-")
        proved.append(f"{name}: {cost[0]} steps, T_B = {cost[1]}: proved")
    proved += _bounds(document, links, nodes)
    return proved


def _proved(into: Any, part: Any, pointer: str, busiest: Fraction) -> tuple[int, Fraction]:
    """Return the cost that the arrival steps of a direction prove; raise if the claim differs."""
    nodes = len(into)
    loads = [
        _fraction(one, f"{pointer}/loads") for one in _member(part.get("loads"), pointer, list)
    ]
    if not 1 <= len(loads) <= MAX_STEPS:
        raise CertificateFailed(f"{pointer}/loads", f"must be 1 to {MAX_STEPS}")
    rows = _member(part.get("arrival"), pointer, list)
    if len(rows) != nodes:
        raise CertificateFailed(f"{pointer}/arrival", f"must have a text for each of {nodes} nodes")
    arrival = [
        _row(text, f"{pointer}/arrival/{u}", nodes, len(loads)) for u, text in enumerate(rows)
    ]
    for node in range(nodes):
        _require_own(arrival[node], node, f"{pointer}/arrival/{node}")
        _require_room(arrival, node, into[node], loads, busiest, pointer)
    cost = len(loads), sum(loads, Fraction(0)) / nodes
    claimed = part.get("steps"), _fraction(part.get("bandwidth"), f"{pointer}/bandwidth")
    if claimed != cost:
        raise CertificateFailed(
            pointer, f"claims {claimed[0]} steps, T_B = {claimed[1]}; proves {cost[0]}, {cost[1]}"
        )
    return cost


def _require_own(row: bytes, node: int, pointer: str) -> None:
    """Raise unless a node holds its own shard, and no other shard, at the start."""
    if row[node] != 0 or row.count(0) != 1:
        raise CertificateFailed(
            pointer, "must be 00 for the node's own shard, and for no other shard"
        )


def _require_room(
    arrival: list[bytes],
    node: int,
    into: Any,
    loads: list[Fraction],
    busiest: Fraction,
    pointer: str,
) -> None:
    """Raise unless Hall's condition holds at a node, in every step for every set of links."""
    here = arrival[node]
    tails = [(1 << bit, arrival[source]) for bit, (source, _) in enumerate(into)]
    coming: Counter[tuple[int, int]] = Counter()
    for owner, step in enumerate(here):
        open_links = sum(bit for bit, there in tails if there[owner] < step)
        if owner != node and not open_links:
            raise CertificateFailed(
                f"{pointer}/arrival/{node}", f"the shard of node {owner} can come by no link"
            )
        coming[step, open_links] += 1
    capacity = [Fraction(0)]
    for _, one in into:
        capacity += [some + one for some in capacity]
    for step, load in enumerate(loads, start=1):
        within = [coming[step, links] for links in range(len(capacity))]
        for bit in range(len(into)):
            for links in range(len(within)):
                if links >> bit & 1:
                    within[links] += within[links ^ 1 << bit]
        for links, count in enumerate(within):
            if count * busiest > load * capacity[links]:
                raise CertificateFailed(
                    f"{pointer}/loads/{step - 1}",
                    f"{count} shards arrive at node {node} over links that carry "
                    f"{load * capacity[links] / busiest}",
                )


def _bounds(document: Any, links: Any, nodes: int) -> list[str]:
    """Return the distance of the claims from the lower bounds for graphs of this size."""
    degree = max(Counter(source for source, _, _ in links).values())
    degree = max(degree, *Counter(target for _, target, _ in links).values())
    pairs = Counter((source, target) for source, target, _ in links)
    two_way = all(pairs[target, source] == count for (source, target), count in pairs.items())
    growth, steps, sphere, ball = (degree - 1 if two_way else degree), 0, degree, 1
    while ball < nodes:
        ball, sphere, steps = ball + sphere, max(1, sphere * growth), steps + 1
    most = max(document[direction]["steps"] for direction in DIRECTIONS)
    worst = max(Fraction(document[direction]["bandwidth"]) for direction in DIRECTIONS)
    least = Fraction(nodes - 1, nodes)
    kind = "two-way" if two_way else "one-way"
    return [
        f"steps: {most - steps} above {steps}, Moore's bound for {kind} links of degree {degree}",
        f"T_B: {worst / least} times {least}, what every node must receive",
    ]


def _links(found: Any, nodes: int) -> list[tuple[int, int, Fraction]]:
    links = []
    for number, one in enumerate(_member(found, "/links", list)):
        pointer = f"/links/{number}"
        if not isinstance(one, list) or len(one) not in (2, 3):
            raise CertificateFailed(
                pointer, "must be [source, target] or [source, target, capacity]"
            )
        source, target = (_whole(end, pointer, 0, nodes - 1) for end in one[:2])
        capacity = _fraction(one[2], pointer) if len(one) == 3 else Fraction(1)
        if source == target or capacity <= 0:
            raise CertificateFailed(pointer, "must join two nodes, at a capacity above 0")
        links.append((source, target, capacity))
    return links


def _entering(links: Any, nodes: int, turned: bool) -> list[list[tuple[int, Fraction]]]:
    into: list[list[tuple[int, Fraction]]] = [[] for _ in range(nodes)]
    for source, target, capacity in links:
        first, second = (target, source) if turned else (source, target)
        into[second].append((first, capacity))
    if max(map(len, into)) > MAX_DEGREE:
        raise CertificateFailed("/links", f"at most {MAX_DEGREE} may enter or leave a node")
    return into


def _busiest(links: Any, nodes: int) -> Fraction:
    through = [Fraction(0)] * (2 * nodes)
    for source, target, capacity in links:
        through[source] += capacity
        through[nodes + target] += capacity
    return max(through)


def _row(text: Any, pointer: str, nodes: int, steps: int) -> bytes:
    """Return the steps in which shards arrive at a node, by owner: two hexadecimal digits each."""
    try:
        row = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        row = b""
    if len(row) != nodes or max(row) > steps:
        raise CertificateFailed(
            pointer, f"must be {nodes} times two hexadecimal digits, of at most {steps}"
        )
    return row


def _member(found: Any, pointer: str, kind: type) -> Any:
    if not isinstance(found, kind):
        raise CertificateFailed(
            pointer or "/", f"must be {'an object' if kind is dict else 'a list'}"
        )
    return found


def _whole(found: Any, pointer: str, least: int, most: int) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise CertificateFailed(pointer, f"must be an integer in {least} .. {most}")
    return found


def _fraction(found: Any, pointer: str) -> Fraction:
    """Return an exact number, written as 3 or "3/2"."""
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= 2**64:
        return Fraction(found)
    # A short text such as 1e99999999 can denote a number that fills the memory.
    if not isinstance(found, str) or not _EXACT.fullmatch(found):
        raise CertificateFailed(pointer, "must be exact and of at most 64 bits, as 3 or 3/2")
    value = Fraction(found)
    if value.numerator > 2**64:
        raise CertificateFailed(pointer, "must be at most 64 bits")
    return value


def main(arguments: list[str]) -> int:
    """Check a file; return 0 if it proves its claims, 1 if not, 2 if it is unreadable."""
    if len(arguments) != 1:
        print("usage: check.py FILE.json[.gz]", file=sys.stderr)
        return 2
    opening = gzip.open if arguments[0].endswith(".gz") else open
    try:
        with opening(arguments[0], "rt", encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    try:
        print("\n".join(proved_claims(document)))
    except CertificateFailed as failed:
        print(f"not proved: {failed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
