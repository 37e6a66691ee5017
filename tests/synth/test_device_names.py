"""Names that strangers choose: every text has them as they are, or is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plant_tables import plant_csv
from tests.synth.device_readers import COMMANDS, NAMES
from tests.synth.launch_readers import READERS
from topoloom.synth.errors import DoesNotFit, InvalidPlant, InvalidWiring
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.devices import RENDERERS, read_script
from topoloom.synth.wiring.plant import (
    Host,
    HostPort,
    Kind,
    Panel,
    Plant,
    Port,
    Present,
    Side,
    plant_document,
    read_plant,
)
from topoloom.synth.wiring.plant.csv_table import read_plant_csv

HOSTILE = "aZ9 ._;,:\"'#$`-=+@&<>\\/%(){}[]|!*?~^ü＝"
UNPRINTABLE = "\n\r\t\0\x1b\x7f\x85\u2028\u2029\u202e\ufeff\ud800\ufffe"
NAMED = (
    st.text(HOSTILE, min_size=1, max_size=6)
    | st.text("aZ9._-/", min_size=1, max_size=3)
    | st.sampled_from(
        [
            *(
                "ocs;reboot",
                "$(reboot)",
                "`reboot`",
                "a, stage 9",
                "x;*RST",
                "=HYPERLINK(1)",
                "'=1",
            ),
            *(
                "-rf",
                "</h3><script>",
                '"];',
                "a\\",
                "1;DLT-CRS-ALL:::1",
                "# panel b, stage 1",
                " a",
            ),
            *("mlx5_0:1", "Halle Süd"),
        ]
    )
)


def plant(panel, ports, hosts, nics):
    """Return one panel that moves, with two hosts of one port each on it."""
    return Plant(
        (Panel(panel, tuple(ports[:2]), tuple(ports[2:]), Kind.MANUAL, place=panel),),
        tuple(
            Host(name, (HostPort(nic, (Port(0, Side.A, i),), (Port(0, Side.B, i),), True),))
            for i, (name, nic) in enumerate(zip(hosts, nics, strict=True))
        ),
        present=Present.of([(0, 0, 0)]),
    )


def planned(plant):
    """Return the plan that joins the two hosts, after a document and back."""
    one, other = (host.id for host in plant.hosts)
    document = to_document(plan_moves(Topology([one, other], [(one, other), (other, one)]), plant))
    return read_script(json.loads(json.dumps(document)), plant)


@st.composite
def plants(draw):
    ports = draw(st.lists(NAMED, min_size=4, max_size=4, unique=True))
    hosts = draw(st.lists(NAMED, min_size=2, max_size=2, unique=True))
    return plant(draw(NAMED), ports, hosts, [draw(NAMED) for _ in range(2)])


def names_in(form, script):
    """Return the names that a text of this form must have among others."""
    made = script.plant
    panel = {made.panels[0].id}
    ports = {made.port_name(port) for move in script.moves for port in made.ends(move.pair)}
    hosts = {host.id for host in made.hosts}
    new = {made.port_name(p) for move in script.moves if move.adds for p in made.ends(move.pair)}
    return {
        "csv": panel | ports,
        "netbox-csv": panel | new,
        "html": panel | ports,
        "dot": hosts,
        "graphml": hosts,
        "deployment": hosts,
        **dict.fromkeys(READERS, hosts),
    }.get(form, panel)


def test_a_reader_stands_beside_every_renderer():
    assert NAMES.keys() == RENDERERS.keys()


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(plants())
def test_hostile_names_are_refused_by_name_or_come_back_as_they_are(plant):
    script = planned(plant)
    names = {plant.panels[0].id, *plant.panels[0].a, *plant.panels[0].b}
    names |= {name for host in plant.hosts for name in (host.id, host.ports[0].id)}
    for form, renderer in RENDERERS.items():
        try:
            text = renderer.write(script)
        except DoesNotFit as error:
            assert error.field == "/format", form
            assert any(repr(name)[1:-1] in error.rule for name in names), form
            continue
        assert names_in(form, script) <= NAMES[form](text), form
        if form in COMMANDS:
            moves = COMMANDS[form](text)
            assert sum(move[2] for move in moves) == sum(move.adds for move in script.moves), form
            assert {move[0] for move in moves} == {plant.panels[0].id}, form


@pytest.mark.parametrize("form", RENDERERS)
def test_names_as_people_give_them_are_written_in_every_format(form):
    made = plant("ocs-1.hall_2/b", ["1A", "2A", "1B", "2B"], ["gpu-01", "gpu-02"], ["mlx5_0"] * 2)
    assert names_in(form, planned(made)) <= NAMES[form](RENDERERS[form].write(planned(made)))


@pytest.mark.parametrize(
    ("form", "panel"),
    [
        ("sonic-cli", "ocs;reboot"), ("sonic-cli", "$(reboot)"), ("polatis-scpi", "ocs;*RST"),
        ("calient-tl1", "ocs;DLT-CRS-ALL:::1"), ("dicon", "ocs;ROUTE1:SCAN 2"),
        ("netbox-csv", "=cmd|1"), ("dot", "ocs\\"),
    ],
)  # fmt: skip
def test_what_a_language_reads_as_something_else_is_refused(form, panel):
    script = planned(plant(panel, ["1A", "2A", "1B", "2B"], ["a", "b"], ["p", "p"]))
    with pytest.raises(DoesNotFit, match="the id of a panel must"):
        RENDERERS[form].write(script)


PLACES = {
    "/name": ("name",),
    "/panels/0/id": ("panels", 0, "id"),
    "/panels/0/place": ("panels", 0, "place"),
    "/panels/0/profile": ("panels", 0, "profile"),
    "/panels/0/a/0": ("panels", 0, "a", 0),
    "/panels/0/b/1": ("panels", 0, "b", 1),
    "/hosts/0/id": ("hosts", 0, "id"),
    "/hosts/1/ports/0/id": ("hosts", 1, "ports", 0, "id"),
}


@pytest.mark.parametrize("field", PLACES)
@given(character=st.sampled_from(UNPRINTABLE))
@settings(deadline=None, max_examples=len(UNPRINTABLE))
def test_a_name_that_is_not_printable_is_refused_at_its_place(field, character):
    document = plant_document(plant("ocs-1", "PQRS", ["a", "b"], ["p", "p"]))
    document = json.loads(json.dumps(document | {"cross_connects": []}))
    for row in document["hosts"]:
        row["ports"][0].update(tx=[], rx=[], duplex=False)
    *path, last = PLACES[field]
    at = document
    for step in path:
        at = at[step]
    at[last] = f"ocs-1{character}sudo reboot{character}#"
    with pytest.raises(InvalidPlant, match="must be printable text") as caught:
        read_plant(document)
    assert caught.value.field == field


def test_a_line_break_in_a_quoted_cell_of_a_table_is_refused():
    made = plant("ocs-1", "PQRS", ["a", "b"], ["p", "p"])
    text = plant_csv(made).replace("ocs-1", '"ocs-1\nsudo reboot\n#"')
    with pytest.raises(InvalidPlant, match="must be printable text"):
        read_plant_csv(text)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (("plan_id",), "/plan_id"),
        (("ports", 0, "endpoint", "node"), "/ports/0/endpoint/node"),
        (("ports", 1, "endpoint", "port"), "/ports/1/endpoint/port"),
        (("final", "ocs-1", "pairs", 0, "link"), "/final/ocs-1/pairs/0/link"),
    ],
)
@given(character=st.sampled_from(UNPRINTABLE))
@settings(deadline=None, max_examples=len(UNPRINTABLE))
def test_a_plan_has_no_name_that_is_not_printable(path, field, character):
    made = plant("ocs-1", "PQRS", ["a", "b"], ["p", "p"])
    plan = plan_moves(Topology(["a", "b"], [("a", "b"), ("b", "a")]), made)
    document = json.loads(json.dumps(to_document(plan)))
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = f"x{character}reboot"
    with pytest.raises(InvalidWiring, match="must be printable text") as caught:
        read_script(document, made)
    assert caught.value.field == field
