"""The moves that one more port at every host would save."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import duplex, plan_moves, to_document, uniform
from topoloom.synth.wiring.plant import read_plant


def plant_of(hosts, ports, lanes):
    """Hosts with a panel for each port, whose lanes are in one cable."""
    width = hosts * lanes
    return read_plant({
        "schema": "plant/1",
        "panels": [{"id": f"p{p}", "a": width, "b": width} for p in range(ports)],
        "hosts": [
            {"id": str(h), "ports": [
                {"id": str(p)} | {
                    way: [f"p{p}/{lanes * h + lane}{side}" for lane in range(lanes)]
                    for way, side in (("tx", "A"), ("rx", "B"))
                }
                for p in range(ports)
            ]}
            for h in range(hosts)
        ],
    })  # fmt: skip


@st.composite
def full_changes(draw):
    """Hosts with a link on each port, and a topology in which some links exchange targets."""
    hosts, ports = draw(st.integers(4, 7)), draw(st.integers(2, 3))
    shifts = st.integers(1, hosts - 1)
    targets = np.concatenate([(np.arange(hosts) + draw(shifts)) % hosts for _ in range(ports)])
    sources = np.tile(np.arange(hosts), ports)
    names = [str(host) for host in range(hosts)]
    before = Topology(names, [(names[u], names[v]) for u, v in zip(sources, targets, strict=True)])
    order = draw(st.permutations(range(len(targets))))[: draw(st.integers(2, 6))]
    after = targets.copy()
    after[order] = np.roll(targets[order], 1)
    links = [(names[u], names[v]) for u, v in zip(sources, after, strict=True) if u != v]
    return before, Topology(names, links), hosts, ports


@settings(deadline=None, max_examples=40)
@given(full_changes(), st.integers(1, 2))
def test_moves_with_a_spare_port_are_those_of_a_plan_on_hosts_with_one_more_port(change, lanes):
    before, after, hosts, ports = change
    today = plan_moves(before, plant_of(hosts, ports, lanes)).final
    plan = plan_moves(after, plant_of(hosts, ports, lanes), today)
    roomier = plan_moves(after, plant_of(hosts, ports + 1, lanes), today)
    spare = plan.with_spare_port
    if spare is None:
        assert roomier.moves == plan.moves or after.link_count < hosts * ports
        return
    assert spare.lower_bound <= roomier.moves <= spare.moves < plan.moves
    assert after.link_count == hosts * ports
    assert to_document(plan)["summary"]["with_spare_port"] == spare._asdict()


def two_way(ends):
    return Topology(range(6), [link for u, v in ends for link in ((u, v), (v, u))])


def test_a_spare_port_saves_moves_of_duplex_links():
    ring, chords = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], [(0, 3), (1, 4), (2, 5)]
    today = plan_moves(two_way(ring + chords), duplex(6, 3)).final
    after = two_way([(0, 3), (1, 2), (1, 2), *ring[3:], *chords])
    plan, roomier = (plan_moves(after, duplex(6, ports), today) for ports in (3, 4))
    assert plan.optimal and roomier.optimal
    assert (plan.moves, plan.with_spare_port) == (8, (4, 4))
    assert roomier.moves == 4


def test_hosts_with_a_port_to_spare_and_plans_that_keep_all_links_say_nothing():
    ring = Topology(range(5), [(i, (i + 1) % 5) for i in range(5)])
    other = Topology(range(5), [(i, (i + 2) % 5) for i in range(5)])
    for ports in (1, 2):
        plant = uniform("per-port", 5, ports)
        plan = plan_moves(other, plant, plan_moves(ring, plant).final)
        assert plan.with_spare_port is None
        assert "with_spare_port" not in to_document(plan)["summary"]
