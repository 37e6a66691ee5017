"""Every file that is read, spoilt at random: a value, or one error of Topoloom's own."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import HOSTILE, spoilt, spoilt_bytes
from tests.plant_tables import plant_csv
from tests.schedule_oracles import two_boxes
from topoloom.app.certificates.check import CertificateFailed
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.formats.inspection.check_program import (
    TRANSCRIBED,
    program_violations,
    transcript_of,
)
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.verify import violations
from topoloom.synth.errors import SynthError
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    plan_moves,
    read_present,
    smallest_plant,
    to_document,
)
from topoloom.synth.wiring.devices import read_script
from topoloom.synth.wiring.devices.netbox_csv import write_netbox
from topoloom.synth.wiring.devices.netbox_rest import read_inventory
from topoloom.synth.wiring.plans.document_reader import read_plan
from topoloom.synth.wiring.plant import plant_document, read_plant_text

GOLDEN = Path(__file__).parents[1] / "golden"
OWN = (SynthError, ScheduleError, CertificateFailed)
"""The errors that the command line ends with 2 for, and the service with a 4xx."""
BOXES = two_boxes()
RING = Topology(range(4), [(0, 1), (1, 2), (2, 3), (3, 0)])
PLANT = smallest_plant(RING)
PLANT_YAML = """schema: plant/1
name: hall
panels: [{id: p1, ports: 4, move_seconds: 2.5, at_once: 2}]
hosts:
  - {id: h0, ports: [{id: eth0, at: p1/1}]}
  - {id: 7, ports: [{id: eth0, at: p1/2}]}
cross_connects: [{panel: p1, a: 1, b: 2}]
"""
NETBOX = [
    {
        "a_terminations": [
            {"object_type": "dcim.interface", "object": {"name": "e0", "device": {"name": "h0"}}}
        ],
        "b_terminations": [
            {"object_type": "dcim.frontport", "object": {"name": "1", "device": {"name": "p1"}}}
        ],
        "status": {"value": "connected"},
    }
]
INVENTORY = [
    [
        {"id": 3, "name": "1", "device": {"name": "p1"}, "cable": {"id": 9}},
        {"id": 4, "name": "2", "device": {"name": "p1"}, "cable": None},
    ],
    [
        {
            "id": 9,
            "status": {"value": "connected"},
            "a_terminations": [{"object_type": "dcim.frontport", "object_id": 3}],
            "b_terminations": [{"object_type": "dcim.frontport", "object_id": 4}],
        }
    ],
]


class Kind(NamedTuple):
    """A valid file, and what reads it."""

    valid: str | bytes
    read: Callable[[Any], object]


def _json(read: Callable[[Any], object]) -> Callable[[str], object]:
    """Read JSON as the service does, which refuses what is none before anything else."""

    def from_text(text: str) -> object:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return read(value)

    return from_text


def _program(form: str) -> Callable[[str | bytes], object]:
    def replayed(content: str | bytes) -> object:
        data = content if isinstance(content, bytes) else content.encode(errors="replace")
        found = program_violations(form, [data], BOXES, None)
        return transcript_of(form, [data]) if form in TRANSCRIBED else found

    return replayed


def _traces(data: bytes) -> object:
    others = [(GOLDEN / f"two-boxes-allgather.{rank}.et").read_bytes() for rank in range(1, 4)]
    return program_violations("chakra-et", [data, *others], BOXES, None)


def _golden(name: str) -> str:
    return (GOLDEN / name).read_text()


def _schedule(document: Any) -> object:
    return violations(from_document(document, BOXES), BOXES)


def _inventory(document: Any) -> object:
    ports, cables = document if isinstance(document, list) and len(document) == 2 else ([], [])
    return read_inventory(ports, cables)


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind of file beside topologies, by name."""
    plan = to_document(plan_moves(RING, PLANT))
    schedule = from_document(json.loads(_golden("two-boxes-allgather.json")), BOXES)
    return {
        "recipe": Kind("LineGraph(2, Product(Torus(3, 4), BiRing(5)))", parse),
        "plant JSON": Kind(json.dumps(plant_document(PLANT)), read_plant_text),
        "plant YAML": Kind(PLANT_YAML, read_plant_text),
        "plant CSV": Kind(plant_csv(PLANT), read_plant_text),
        "cables JSON": Kind(json.dumps(NETBOX), read_plant_text),
        "cables CSV": Kind(write_netbox(read_script(plan)), read_plant_text),
        "wiring JSON": Kind(
            json.dumps([{"panel": "panel-0", "a": 0, "b": "1B"}, {"panel": 0, "a": "2A", "b": 3}]),
            _json(lambda document: read_present(document, PLANT)),
        ),
        "patch plan": Kind(json.dumps(plan), _json(read_script)),
        "patch plan, whole": Kind(json.dumps(plan), _json(read_plan)),
        "inventory": Kind(json.dumps(INVENTORY), _json(_inventory)),
        "schedule": Kind(_golden("two-boxes-allgather.json"), _json(_schedule)),
        "schedule, packed": Kind(pack(schedule), unpack),
        "MSCCL": Kind(_golden("two-boxes-allgather.msccl.xml"), _program("msccl-xml")),
        "MSCCL++": Kind(_golden("two-boxes-allgather.mscclpp.json"), _program("mscclpp-json")),
        "NCCL tuner": Kind(
            _golden("two-boxes-allgather.nccl-tuner.csv"), _program("nccl-tuner-csv")
        ),
        "GOAL": Kind(_golden("two-boxes-allgather.goal"), _program("goal")),
        "Chakra": Kind((GOLDEN / "two-boxes-allgather.0.et").read_bytes(), _traces),
    }


NAMES = (
    *("recipe", "plant JSON", "plant YAML", "plant CSV", "cables JSON", "cables CSV"),
    *("wiring JSON", "patch plan", "patch plan, whole", "inventory"),
    *("schedule", "schedule, packed", "MSCCL", "MSCCL++", "NCCL tuner", "GOAL", "Chakra"),
)


def require_read_or_refused(name: str, data: st.DataObject) -> None:
    kind = kinds()[name]
    if isinstance(kind.valid, bytes):
        content: Any = data.draw(spoilt_bytes(kind.valid))
    else:
        content = data.draw(spoilt(kind.valid) | st.sampled_from(HOSTILE))
    try:
        kind.read(content)
    except OWN as error:
        assert str(error)


def test_every_kind_of_file_is_spoilt_and_valid_before() -> None:
    assert set(NAMES) == set(kinds())
    for kind in kinds().values():
        kind.read(kind.valid)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_in_one_error(name: str, data: st.DataObject) -> None:
    require_read_or_refused(name, data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5_000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_spoilt_file_of_thousands_breaks_a_reader(name: str, data: st.DataObject) -> None:
    require_read_or_refused(name, data)
