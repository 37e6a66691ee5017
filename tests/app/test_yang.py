"""Bodies for NETCONF against the module that they are written for, by a validator of others."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.devices import read_script
from topoloom.synth.wiring.devices.polatis import BASE, SWITCH, edit_config
from topoloom.synth.wiring.devices.port_numbers import across
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plans.stages import Limits

yangson = pytest.importorskip("yangson", reason="yangson is not installed: a test extra")

MODULE = {
    "name": "optical-switch",
    "revision": "2026-01-01",
    "namespace": SWITCH,
    "conformance-type": "implement",
}
OPERATION = f"{{{BASE}}}operation"


@pytest.fixture(scope="module")
def model():
    library = {"ietf-yang-library:modules-state": {"module-set-id": "", "module": [MODULE]}}
    return yangson.DataModel(json.dumps(library), (str(Path(__file__).parent),))


def configuration(rows):
    """Return the configuration that so many (ingress, egress) are, as a server would hold it."""
    root = ElementTree.Element("config")
    table = ElementTree.SubElement(root, f"{{{SWITCH}}}cross-connects")
    for row in rows:
        pair = ElementTree.SubElement(table, f"{{{SWITCH}}}pair")
        for name, number in zip(("ingress", "egress"), row, strict=False):
            ElementTree.SubElement(pair, f"{{{SWITCH}}}{name}").text = str(number)
    return root


def carried_out(config, plugged):
    """Make an edit as RFC 6241 has it, row by row, on what is plugged."""
    plugged = dict(plugged)
    assert [child.tag for child in config] == [f"{{{SWITCH}}}cross-connects"]
    for row in config[0]:
        ingress, egress = (row.findtext(f"{{{SWITCH}}}{name}") for name in ("ingress", "egress"))
        operation = row.get(OPERATION)
        assert (ingress in plugged) == (operation != "create")
        if operation == "delete":
            assert egress is None
            del plugged[ingress]
        else:
            plugged[ingress] = egress
    return plugged


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_every_edit_leads_from_one_valid_configuration_to_the_next(data, model):
    plant = data.draw(plants(most_hosts=4, flavours=("one-way", "duplex on directed")))
    try:
        plan = plan_moves(data.draw(topologies(plant)), plant)
        limits = Limits(max_links_down=data.draw(st.none() | st.integers(1, 2)))
        script: Script = read_script(to_document(plan, limits), plant)
    except DoesNotFit:
        return
    for panel in range(len(plant.panels)):
        rows = [across(plant, pair) for pair in plan.present.pairs if pair.panel == panel]
        plugged = {str(ingress): str(egress) for ingress, egress in rows}
        for _, step in script.of_panel(panel):
            edit = edit_config(plant, step)
            rows = [[leaf.text for leaf in row] for row in edit[0] if len(row) == 2]
            model.from_xml(configuration(rows)).validate()
            plugged = carried_out(edit, plugged)
            model.from_xml(configuration(plugged.items())).validate()
        rows = [across(plant, pair) for pair in plan.final.pairs if pair.panel == panel]
        assert plugged == {str(ingress): str(egress) for ingress, egress in rows}


@pytest.mark.parametrize(
    "rows",
    [[(1, 9), (2, 9)], [(0, 9)], [(1, 8193)], [("a", 9)], [(1,)], [(1, 9), (1, 10)]],
    ids=["one egress twice", "ingress 0", "egress too large", "text", "no egress", "ingress twice"],
)
def test_what_no_switch_could_hold_the_module_refuses(model, rows):
    with pytest.raises(yangson.exceptions.YangsonException):
        model.from_xml(configuration(rows)).validate()
