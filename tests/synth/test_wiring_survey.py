"""The worst failures of a plan, against failing the parts one by one on the plant itself."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, uniform
from topoloom.synth.wiring.operations.repair import Faults, lit_links, with_faults
from topoloom.synth.wiring.operations.worst_failures import parts, survey
from topoloom.synth.wiring.plans.stages import connected


@st.composite
def plans(draw):
    """Draw a wired topology of a few hosts."""
    hosts = draw(st.integers(2, 5))
    plant = uniform(draw(st.sampled_from(["per-port", "single"])), hosts, 3)
    ends = st.tuples(st.integers(0, hosts - 1), st.integers(0, hosts - 1))
    links, out, into = [], [0] * hosts, [0] * hosts
    for u, v in draw(st.lists(ends, min_size=1, max_size=12)):
        if u != v and out[u] < 3 and into[v] < 3:
            links.append((u, v))
            out[u], into[v] = out[u] + 1, into[v] + 1
    return plan_moves(Topology(range(hosts), links), plant)


def faults_of(plan, part):
    """Return a part as what is dead of the plant."""
    plant = plan.plant
    if part.kind == "host":
        return {"hosts": (plant.host_index[part.name],)}
    at = {f"{plant.panels[p.panel].id}/{plant.pair_name(p)}": p for p in plan.wiring.pairs}
    pairs = plan.wiring.pairs
    chosen = [p for p in pairs if part.kind == "panel" and plant.panels[p.panel].id == part.name]
    return {"pairs": tuple(chosen or [at[part.name]])}


def left_of(plan, failed):
    """Return what light still goes through when these are dead: the slow, plain way."""
    dead: dict[str, tuple] = {"hosts": (), "pairs": ()}
    for part in failed:
        for name, found in faults_of(plan, part).items():
            dead[name] += found
    plant = with_faults(plan.plant.with_present(plan.final), Faults(**dead))
    alive = lit_links(plan.topology, plan.wiring, plant)
    nodes = [n for n, host in enumerate(plan.wiring.hosts) if host not in dead["hosts"]]
    links = [plan.topology.links[index] for index in alive]
    return nodes, links


@given(plans(), st.sampled_from([1, 2]))
def test_a_survey_says_of_every_failure_what_the_dead_plant_shows(plan, at_once):
    found = survey(plan, at_once)
    for failure in found[:12]:
        nodes, links = left_of(plan, failure.parts)
        there = [link for link in links if link.source in nodes and link.target in nodes]
        assert failure.connected == bool(nodes and connected(Topology(nodes, there)))
        ends = [link for link in plan.topology.links if {link.source, link.target} <= set(nodes)]
        assert failure.lost_links == len(ends) - len(there)


@given(plans())
def test_the_worst_comes_first_and_no_failure_is_left_out(plan):
    everything = parts(plan)
    single = survey(plan)
    assert {failure.parts[0] for failure in single} == set(everything)
    assert [f.order for f in single] == sorted(f.order for f in single)
    double = {frozenset(failure.parts) for failure in survey(plan, 2)}
    for one, other in combinations(everything, 2):
        within = other.links <= one.links and other.node is None
        assert within or frozenset((one, other)) in double


def test_what_is_left_is_rated_once_for_each_set_of_links():
    ring = Topology(range(4), [(i, (i + d) % 4) for i in range(4) for d in (1, 3)])
    asked = []

    def rate(left):
        asked.append(left.links)
        return Fraction(left.link_count, ring.link_count)

    found = survey(plan_moves(ring, uniform("per-port", 4, 2)), 1, rate)
    assert len(asked) == len(set(asked))
    shares = [f.share for f in found if f.connected and f.share is not None]
    assert shares == sorted(shares) and len(shares) == sum(f.connected for f in found)


def test_more_failures_than_are_looked_at_are_refused():
    ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    plan = plan_moves(ring, uniform("single", 4, 1))
    with pytest.raises(DoesNotFit, match="there are 36 failures; at most 35"):
        survey(plan, 2, most=35)
    with pytest.raises(DoesNotFit, match="must be 1 or 2"):
        survey(plan, 3)
