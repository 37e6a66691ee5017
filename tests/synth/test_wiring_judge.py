"""An independent judge of plans: it reads the plant, the links and the plan as JSON.

The judge executes the plan operation by operation, follows the light from host to host, and asks
an integer program of its own for the fewest moves.
"""

import random
from collections import Counter

import pytest

from tests.synth.wiring_cases import case
from tests.synth.wiring_oracle import Case, Sides, fewest, is_two_way, lit, removable
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.plant import read_plant


def executed(document, plan):
    """The pairs after all operations; every one must be possible when its turn comes."""
    pairs = {frozenset(((row["panel"], row["a"]), (row["panel"], row["b"])))
             for row in document["cross_connects"]}  # fmt: skip
    moves = 0
    for stage in plan["stages"]:
        for step in stage["ops"]:
            pair = frozenset(((step["device"], step["a"]), (step["device"], step["b"])))
            if step["op"] == "remove":
                pairs.remove(pair)
                moves += 1
            elif step["op"] == "add":
                assert pair.isdisjoint(end for other in pairs for end in other)
                pairs.add(pair)
                moves += 1
            else:
                assert step["op"] == "verify"
                assert pair in pairs
    assert moves == plan["summary"]["moves"]
    return pairs


def carried(sides, pairs, two_way, nodes):
    """The links that some pairs carry, and the pairs that carry none."""
    hears = {
        tuple(rx): (host, tx) for host, ports in sides.ports.items() for tx, rx in ports
    }  # fmt: skip
    found, idle = Counter(), set(pairs)
    for host in nodes:
        for tx, rx in sides.ports[host]:
            ways = [lit(sides, pairs, end) for end in tx]
            far, far_tx = hears.get(tuple(end for _, end in ways), (None, None))
            if far is None:
                continue
            back = tuple(lit(sides, pairs, end)[1] for end in far_tx)
            if not two_way or back == tuple(rx):
                found[host, far] += 1
                idle -= {pair for passed, _ in ways for pair in passed}
    return found, idle


def judge(seed):
    """Check a plan, or a refusal."""
    given = case(seed)
    document, nodes, links = given
    least = fewest(given)
    try:
        plan = plan_moves(Topology(nodes, links), read_plant(document))
    except DoesNotFit:
        assert least is None
        return
    assert least is not None
    made = to_document(plan)
    summary = made["summary"]
    assert (summary["moves"], summary["lower_bound"], summary["optimal"]) == (
        least.moves, least.moves, True
    )  # fmt: skip
    judge_execution(given, made)


def judge_execution(given, made):
    """Execute a plan: its links, and no other pairs, must be there."""
    document, nodes, links = given
    sides = Sides(document)
    _, others = removable(sides, document, nodes)
    final = executed(document, made)
    assert others <= final
    assert carried(sides, final - others, is_two_way(document), nodes) == (Counter(links), set())


@pytest.mark.one_in(40, slow=10)
@pytest.mark.parametrize("first", range(0, 2000, 50))
def test_an_independent_judge_finds_no_fault_and_no_plan_of_fewer_moves(first):
    for seed in range(first, first + 50):
        judge(seed)


def several_ports(hosts, panels, ports, two_way):
    """Return a plant with several ports of every host on every panel, and its nodes."""

    def port(panel, number):
        end = f"p{panel}/{number}"
        return {"at": [end]} if two_way else {"tx": [f"{end}A"], "rx": [f"{end}B"]}

    size = hosts * ports
    rows = [
        {
            "id": f"h{host}",
            "ports": [
                {"id": f"{panel}.{k}", **port(panel, host * ports + k)}
                for panel in range(panels)
                for k in range(ports)
            ],
        }
        for host in range(hosts)
    ]
    kind = {"mode": "bidirectional", "ports": size} if two_way else {"a": size, "b": size}
    mode = {"mode": "directed", **kind}
    there = [{"id": f"p{panel}", **mode} for panel in range(panels)]
    plant = {"schema": "plant/1", "panels": there, "hosts": rows, "trunks": []}
    return plant, [row["id"] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    "hosts, panels, ports, changes, two_way, most",
    [
        (60, 3, 2, 8, False, 1), (60, 4, 2, 24, False, 1.05), (40, 6, 2, 16, False, 1.05),
        (60, 3, 4, 8, True, 1), (150, 4, 2, 24, True, 1.05), (40, 3, 3, 16, True, 1),
    ],
)  # fmt: skip
def test_few_links_move_where_hosts_have_several_full_ports_on_each_panel(
    hosts, panels, ports, changes, two_way, most
):
    document, nodes = several_ports(hosts, panels, ports, two_way)
    draw = random.Random(hosts)
    edges = []
    for _ in range(panels * ports if not two_way else panels * ports // 2):
        ring = draw.sample(nodes, hosts)
        edges += zip(ring, ring[1:] + ring[:1], strict=True)
    changed = edges[:changes:2]
    targets = [v for _, v in changed]
    edges_after = [
        *((u, v) for (u, _), v in zip(changed, targets[1:] + targets[:1], strict=True)),
        *(edge for number, edge in enumerate(edges) if number >= changes or number % 2),
    ]
    before, after = (
        [link for u, v in each for link in ((u, v), (v, u))] if two_way else each
        for each in (edges, edges_after)
    )
    today = to_document(plan_moves(Topology(nodes, before), read_plant(document)))
    document["cross_connects"] = [
        {"panel": step["device"], "a": step["a"], "b": step["b"]}
        for stage in today["stages"] for step in stage["ops"] if step["op"] == "add"
    ]  # fmt: skip
    plan = plan_moves(Topology(nodes, after), read_plant(document))
    judge_execution(Case(document, nodes, after), to_document(plan))
    assert plan.moves <= most * plan.lower_bound
