"""An independent judge of plans: it reads the plant, the links and the plan as JSON.

The judge executes the plan operation by operation, follows the light from host to host, and asks
an integer program of its own for the fewest moves.
"""

from collections import Counter

import pytest

from tests.synth.wiring_cases import case
from tests.synth.wiring_oracle import Sides, fewest, is_two_way, lit, removable
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
