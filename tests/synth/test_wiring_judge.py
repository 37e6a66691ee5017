"""An independent judge of plans: it reads the plant, the links and the plan as JSON.

The judge executes the plan operation by operation, follows the pairs from host to host, and asks
an integer program of its own, with a variable for every pair of ports, for the fewest moves.
"""

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.plant import read_plant


def case(seed):
    """A plant/1 document with today's pairs, and the links of a topology on some of its hosts."""
    draw = random.Random(seed)
    one_way = draw.random() < 0.6
    panels, hosts = draw.randint(1, 3), draw.randint(2, 6)
    used, rows = [0] * panels, []
    for h in range(hosts):
        ports = []
        for k in range(draw.randint(1, 4)):
            panel = draw.randrange(panels)
            number, used[panel] = used[panel], used[panel] + 1
            at = f"p{panel}/{number}"
            ports.append(
                {"id": str(k), "tx": f"{at}A", "rx": f"{at}B"}
                if one_way
                else {"id": str(k), "at": at}
            )
        rows.append({"id": f"h{h}", "ports": ports})
    sides = ("a", "b") if one_way else ("ports",)
    document = {
        "schema": "plant/1",
        "panels": [
            {"id": f"p{p}", **dict.fromkeys(sides, count + 1)} for p, count in enumerate(used)
        ],
        "hosts": rows,
        "cross_connects": today(draw, rows, one_way),
    }
    nodes = draw.sample(range(hosts), draw.randint(2, hosts))
    free = {h: len(rows[h]["ports"]) for h in nodes}
    out, into, links = dict(free), dict(free), []
    for _ in range(draw.randint(1, 3 * len(nodes))):
        u, v = draw.sample(nodes, 2)
        if one_way and out[u] and into[v]:
            out[u], into[v] = out[u] - 1, into[v] - 1
            links.append((f"h{u}", f"h{v}"))
        elif not one_way and free[u] and free[v]:
            free[u], free[v] = free[u] - 1, free[v] - 1
            links += [(f"h{u}", f"h{v}"), (f"h{v}", f"h{u}")]
    return document, [f"h{h}" for h in sorted(nodes)], links


def owners(rows, one_way):
    """The host of every panel port that sends, and of every one that receives, by (panel, port)."""
    found = {}, {}
    for row in rows:
        for port in row["ports"]:
            names = (port["tx"], port["rx"]) if one_way else (port["at"], port["at"])
            for side, name in zip(found, names, strict=True):
                side[tuple(name.split("/"))] = row["id"]
    return found


def today(draw, rows, one_way):
    """Some ports of each panel joined at random."""
    send, receive = owners(rows, one_way)
    taken, pairs = set(), []
    for one in draw.sample(sorted(send), draw.randint(0, len(send))):
        others = [
            other for other in receive
            if other[0] == one[0] and receive[other] != send[one]
            and not {one, other} & taken
        ]  # fmt: skip
        if others:
            other = draw.choice(others)
            taken |= {one, other}
            pairs.append({"panel": one[0], "a": one[1], "b": other[1]})
    return pairs


def fewest(document, nodes, links):
    """The fewest moves of any plan, or None: every link takes one pair, every port is in one."""
    one_way = "a" in document["panels"][0]
    send, receive = owners(document["hosts"], one_way)
    present = {
        frozenset(((pair["panel"], pair["a"]), (pair["panel"], pair["b"])))
        for pair in document["cross_connects"]
    }
    wanted = Counter(link for link in links if one_way or link[0] < link[1])
    pairs, keys = [], []
    for one in send:
        for other in receive:
            ends = (send[one], receive[other])
            if one[0] == other[0] and ends in wanted:
                pairs.append(frozenset((one, other)))
                keys.append(ends)
    mine = sum(
        any(send.get(end, receive.get(end)) in nodes for end in pair) for pair in present
    )  # fmt: skip
    total = wanted.total()
    if not total:
        return mine
    rows = [port for pair in pairs for port in pair] + keys
    columns = [c for c in range(len(pairs)) for _ in range(2)] + list(range(len(pairs)))
    names = sorted({*rows, *wanted})
    if len(pairs) == 0 or set(wanted) - set(keys):
        return None
    index = {name: number for number, name in enumerate(names)}
    matrix = coo_array(
        (np.ones(len(rows)), ([index[name] for name in rows], columns)),
        shape=(len(names), len(pairs)),
    )
    low: Any = np.array([wanted.get(name, 0) for name in names], float)
    high: Any = np.array([wanted.get(name, 1) for name in names], float)
    gain = np.array([-1.0 if pair in present else 0.0 for pair in pairs])
    solved = milp(
        gain,
        integrality=np.ones(len(pairs)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), low, high),
        options={"mip_rel_gap": 0},
    )
    assert solved.status in (0, 2)
    return None if solved.x is None else mine + total - 2 * round(-solved.fun)


def executed(document, plan):
    """The pairs after all operations; every one must be possible when its turn comes."""
    pairs = {(pair["panel"], pair["a"], pair["b"]) for pair in document["cross_connects"]}
    moves = 0
    for stage in plan["stages"]:
        for step in stage["ops"]:
            pair = step["device"], step["a"], step["b"]
            mirrored = pair[0], pair[2], pair[1]
            if step["op"] == "remove":
                pairs.remove(pair if pair in pairs else mirrored)
                moves += 1
            elif step["op"] == "add":
                busy = {(panel, port) for panel, *ends in pairs for port in ends}
                assert not busy & {(pair[0], pair[1]), (pair[0], pair[2])}
                pairs.add(pair)
                moves += 1
            else:
                assert step["op"] == "verify"
                assert {pair, mirrored} & pairs
    assert moves == plan["summary"]["moves"]
    return pairs


def judge(seed):
    """Check a plan, or a refusal."""
    document, nodes, links = case(seed)
    one_way = "a" in document["panels"][0]
    least = fewest(document, nodes, links)
    try:
        plan = plan_moves(Topology(nodes, links), read_plant(document))
    except DoesNotFit:
        assert least is None
        return
    assert least is not None
    made = to_document(plan)
    summary = made["summary"]
    assert summary["lower_bound"] <= least <= summary["moves"]
    assert summary["optimal"] == (summary["lower_bound"] == summary["moves"])
    assert summary["moves"] == least
    send, receive = owners(document["hosts"], one_way)
    carried: Counter[tuple[str, str]] = Counter()
    for panel, a, b in executed(document, made):
        ends = send[panel, a], receive[panel, b]
        if set(ends) & set(nodes):
            carried[ends] += 1
            if not one_way:
                carried[ends[::-1]] += 1
    assert carried == Counter(links)


@pytest.mark.one_in(25, slow=3)
@pytest.mark.parametrize("hundred", range(0, 2000, 40))
def test_an_independent_judge_finds_no_fault_and_no_plan_of_fewer_moves(hundred):
    for seed in range(hundred, hundred + 40):
        judge(seed)
