"""NetBox follows a plan under the constraint that its database puts on cables."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
from topoloom.synth.wiring.devices import read_script
from topoloom.synth.wiring.devices.netbox_rest import FRONT, changes, read_inventory
from topoloom.synth.wiring.plant import Kind, Side

SCHEMA = """
CREATE TABLE dcim_cable (id BIGSERIAL PRIMARY KEY, status TEXT NOT NULL);
CREATE TABLE dcim_cabletermination (
    id BIGSERIAL PRIMARY KEY,
    cable_id BIGINT NOT NULL REFERENCES dcim_cable ON DELETE CASCADE,
    cable_end VARCHAR(1) NOT NULL,
    termination_type TEXT NOT NULL,
    termination_id BIGINT NOT NULL CHECK (termination_id >= 0),
    CONSTRAINT dcim_cabletermination_unique_termination UNIQUE (termination_type, termination_id)
);
"""


class NetBox:
    """The cables of a NetBox in PostgreSQL; each list of a request is one transaction."""

    def __init__(self, engine, plant):
        self.engine = engine
        rows = [
            (panel.id, name)
            for panel in plant.panels
            for side in ((Side.A,) if panel.one_sided else Side)
            for name in panel.names(side)
        ]
        self.front_ports = {
            "results": [
                {"id": 10 + n, "name": name, "device": {"name": device}}
                for n, (device, name) in enumerate(rows)
            ]
        }
        self.ids = {row: 10 + n for n, row in enumerate(rows)}
        with engine.begin() as connection:
            connection.execute(text("TRUNCATE dcim_cable CASCADE"))

    def send(self, method, body):
        requests = {"POST": self.create, "PATCH": self.update, "DELETE": self.delete}
        with self.engine.begin() as connection:
            for row in body:
                requests[method](connection, row)

    def create(self, connection, row):
        made = connection.execute(
            text("INSERT INTO dcim_cable (status) VALUES (:status) RETURNING id"), row
        ).scalar_one()
        for end in "ab":
            for there in row[f"{end}_terminations"]:
                connection.execute(
                    text(
                        "INSERT INTO dcim_cabletermination"
                        " (cable_id, cable_end, termination_type, termination_id)"
                        " VALUES (:cable, :end, :object_type, :object_id)"
                    ),
                    {"cable": made, "end": end.upper(), **there},
                )

    def update(self, connection, row):
        change = text("UPDATE dcim_cable SET status = :status WHERE id = :id")
        assert connection.execute(change, row).rowcount == 1

    def delete(self, connection, row):
        connection.execute(text("DELETE FROM dcim_cable WHERE id = :id"), row)

    def cables(self):
        """Return the answer of GET /api/dcim/cables/."""
        with self.engine.begin() as connection:
            found = connection.execute(
                text(
                    "SELECT c.id, c.status, a.termination_id, b.termination_id FROM dcim_cable c"
                    " JOIN dcim_cabletermination a ON a.cable_id = c.id AND a.cable_end = 'A'"
                    " JOIN dcim_cabletermination b ON b.cable_id = c.id AND b.cable_end = 'B'"
                )
            ).all()
        return {
            "count": len(found),
            "results": [
                {"id": number, "status": {"value": status}} | terminations(*ends)
                for number, status, *ends in found
            ],
        }

    def ends(self, plant, pair):
        device = plant.panels[pair.panel].id
        return tuple(self.ids[device, plant.port_name(port)] for port in plant.ends(pair))

    def follow(self, script, done):
        """Send the lists of a plan in their order; return them."""
        found = changes(script, read_inventory(self.front_ports, self.cables()), done).given()
        for method, body in found.items():
            self.send(method, body)
        return found


def terminations(a, b):
    return {
        "a_terminations": [{"object_type": FRONT, "object_id": a}],
        "b_terminations": [{"object_type": FRONT, "object_id": b}],
    }


@pytest.fixture
def database(postgres_url):
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text(SCHEMA))
    yield engine
    engine.dispose()


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), plant=plants(states=False))
def test_netbox_has_the_jumpers_of_a_plan_after_it_and_a_second_run_changes_nothing(
    database, data, plant
):
    try:
        plan = plan_moves(data.draw(topologies(plant)), plant)
    except DoesNotFit:
        return
    script = read_script(to_document(plan), plant)
    netbox = NetBox(database, plant)

    def jumpers(pairs):
        passive = [pair for pair in pairs if plant.panels[pair.panel].kind is not Kind.SWITCH]
        return {frozenset(netbox.ends(plant, pair)) for pair in passive}

    today = [{"status": "connected"} | terminations(*ends) for ends in jumpers(plan.present.pairs)]
    netbox.send("POST", today)
    for done in (False, True) if data.draw(st.booleans()) else (True,):
        netbox.follow(script, done)
        assert netbox.follow(script, done) == {"DELETE": [], "PATCH": [], "POST": []}
        cables = read_inventory(netbox.front_ports, netbox.cables()).cables
        if done:
            assert cables.keys() == jumpers(plan.final.pairs)
            assert {status for _, status in cables.values()} <= {"connected"}
        else:
            # What is plugged is never deleted before the plan is done.
            assert cables.keys() >= jumpers(plan.present.pairs)
            going = jumpers(plan.present.pairs) - jumpers(plan.final.pairs)
            coming = jumpers(plan.final.pairs) - jumpers(plan.present.pairs)
            statuses = {ends: status for ends, (_, status) in cables.items()}
            assert {statuses[ends] for ends in going} <= {"decommissioning"}
            assert {statuses.get(ends, "planned") for ends in coming} <= {"planned"}


def test_the_constraint_refuses_a_new_jumper_before_the_old_one_is_deleted(database):
    ring = Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    plant = smallest_plant(ring)
    plan = plan_moves(ring.transpose(), plant, plan_moves(ring, plant).final)
    netbox = NetBox(database, plant)
    today = [netbox.ends(plant, pair) for pair in plan.present.pairs]
    netbox.send("POST", [{"status": "connected"} | terminations(*ends) for ends in today])
    script = read_script(to_document(plan))
    known = read_inventory(netbox.front_ports, netbox.cables())
    assert len(changes(script, known).waiting) == 3 and not changes(script, known).post
    with pytest.raises(IntegrityError, match="unique_termination"):
        netbox.send("POST", changes(script, known, done=True).given()["POST"])
    assert [len(rows) for rows in netbox.follow(script, done=True).values()] == [3, 0, 3]
