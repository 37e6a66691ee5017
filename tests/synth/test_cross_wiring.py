"""Receive fibres exchanged once, after which every two-way topology fits."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.plant_tables import plant_csv
from tests.synth.plants import plants, straight, two_way
from topoloom.app.cli import app
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.wiring import cross_wired, duplex, plan_moves, violations
from topoloom.synth.wiring.plant import read_plant_text
from topoloom.synth.wiring.plant.cross_wiring import cross_wiring
from topoloom.synth.wiring.plant.ports import Side


def on_panels(plant, host):
    return Counter((end.panel, end.side) for port in plant.hosts[host].ports for end in port.fibres)


@given(st.data(), st.integers(2, 7), st.sampled_from([2, 4, 6]))
def test_every_two_way_topology_fits_once_the_plant_is_cross_wired(data, hosts, lanes):
    crossed = cross_wiring(straight(hosts, lanes)).plant
    topology = data.draw(two_way(hosts, lanes))
    plan = plan_moves(topology, crossed)
    assert violations(plan.wiring, topology) == []
    assert len(plan.adds) == topology.link_count
    assert plan_moves(topology, crossed, plan.final).moves == 0


@given(st.data())
def test_only_receive_fibres_of_one_host_change_places_and_what_is_plugged_stays(data):
    plant = data.draw(plants(flavours=("duplex on directed",)))
    found = cross_wiring(plant)
    if found is None:
        return
    for number, (before, after) in enumerate(zip(plant.hosts, found.plant.hosts, strict=True)):
        assert [port.tx for port in before.ports] == [port.tx for port in after.ports]
        assert on_panels(plant, number) == on_panels(found.plant, number)
    assert found.plant.present == plant.present
    ports = [(one.host, port) for one in found.exchanges for port in (one.port, one.other)]
    assert len(set(ports)) == len(ports)
    assert cross_wiring(found.plant) is None


@pytest.mark.parametrize("text", ["Odd(3)", "Complete(5)", "BiRing(7)"])
def test_a_topology_without_an_edge_colouring_is_told_what_exchange_makes_it_fit(text):
    topology = build(parse(text))
    count = topology.node_count * (topology.degree // 2)
    plant = straight(topology.node_count, topology.degree)
    with pytest.raises(DoesNotFit, match=f"of {count} pairs of ports exchanged once"):
        plan_moves(topology, plant)
    assert plan_moves(topology, cross_wiring(plant).plant).moves == topology.link_count


@pytest.mark.parametrize("plant", [duplex(4, 3), cross_wired(4, 4)], ids=lambda plant: plant.name)
def test_where_no_fibre_lies_with_its_mate_there_is_nothing_to_exchange(plant):
    assert cross_wiring(plant) is None


def test_the_command_names_every_fibre_and_writes_the_plant_that_comes_of_it(tmp_path):
    plant = straight(3, 2)
    (tmp_path / "plant.csv").write_text(plant_csv(plant))
    asked = [
        "patch",
        "cross-wire",
        str(tmp_path / "plant.csv"),
        "--out",
        str(tmp_path / "new.json"),
    ]
    said = CliRunner().invoke(app, asked)
    assert said.exit_code == 0, said.output
    assert "0 0: receive fiber from panel-0/0B to panel-1/0B" in said.output
    assert said.output.count("receive fiber") == 6
    made = read_plant_text((tmp_path / "new.json").read_text())
    assert made.hosts == cross_wiring(plant).plant.hosts
    assert made.hosts[2].ports[1].rx[0].side is Side.B
    again = CliRunner().invoke(app, ["patch", "cross-wire", str(tmp_path / "new.json")])
    assert again.exit_code == 1
