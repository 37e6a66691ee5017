import time
from pathlib import Path

import pytest

from tests.cases import for_every
from tests.schedule_oracles import ring, shortest_steps, shortest_trees, two_boxes
from tests.schedules.export_cases import EVERY, FABRICS, LARGE, RECIPES, schedule_of, topology_of
from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats import FORMATS, Options, write
from topoloom.schedules.formats.inspection.check_program import REPLAYED, program_violations
from topoloom.schedules.formats.lowering.buffer_moves import plan
from topoloom.schedules.formats.lowering.transfers import least_messages, transfers
from topoloom.schedules.formats.msccl.program import Dialect
from topoloom.schedules.model.schedule import Collective

GOLDEN = Path(__file__).parent.parent / "golden"
NEEDED = {"chakra-et": Options(bytes=4096), "goal": Options(bytes=4096)}
SUFFIXES = {
    "json": ".json",
    "msccl-xml": ".msccl.xml",
    "mscclpp-json": ".mscclpp.json",
    "chakra-et": "",
    "goal": ".goal",
    "nccl-tuner-csv": ".nccl-tuner.csv",
    "dot": ".dot",
    "graphml": ".graphml",
}


def written(form, schedule, topology, **options):
    """Return the files of an export by what their names end in."""
    options = Options(**NEEDED.get(form, Options()).given | options)
    found = write(form, schedule, topology, options)
    if isinstance(found, dict):
        return found
    return {SUFFIXES[form]: "".join(found).encode()}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_a_golden_file(form):
    # After an intended change of layout: write the files and read the diff.
    boxes = two_boxes()
    for suffix, data in written(form, shortest_trees(boxes, (2, 1)), boxes).items():
        assert data == (GOLDEN / f"two-boxes-allgather{suffix}").read_bytes()


def test_every_format_that_is_run_by_something_is_read_back():
    assert set(FORMATS) - set(REPLAYED) == {"json", "dot", "graphml"}


@pytest.mark.parametrize("form", sorted(REPLAYED))
@pytest.mark.parametrize("name", FABRICS + RECIPES)
@pytest.mark.one_in(7)
def test_what_is_exported_is_valid_on_its_topology(form, name):
    topology = topology_of(name)
    files = written(form, schedule_of(name, "allreduce"), topology, **_size(form))
    assert program_violations(form, list(files.values()), topology) == []


@pytest.mark.one_in(5)
@pytest.mark.parametrize("inplace", [False, True], ids=["out-of-place", "in-place"])
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_fabrics_are_served_in_every_dialect(collective, dialect, inplace):
    for name in FABRICS:
        files = written(
            "msccl-xml", schedule_of(name, collective), topology_of(name),
            dialect=dialect, inplace=inplace,
        )  # fmt: skip
        assert not program_violations("msccl-xml", [*files.values()], topology_of(name), dialect)


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(REPLAYED))
def test_forests_of_hundreds_of_trees_are_served(form):
    topology = topology_of(LARGE[0])
    files = written(form, schedule_of(*LARGE), topology, **_size(form))
    assert program_violations(form, list(files.values()), topology) == []


def _size(form):
    return {"bytes": 2**20} if form in NEEDED else {}


def test_messages_must_follow_the_wires():
    schedule = shortest_steps(ring(4))
    for form in ("msccl-xml", "mscclpp-json", "chakra-et", "goal"):
        files = list(written(form, schedule, ring(4)).values())
        assert program_violations(form, files, ring(4)) == []
        found = program_violations(form, files, ring(4).transpose())
        assert len(found) == 4
        assert "no link or way over switches leads from 0 to 1" in str(found[0])
        assert "5 compute nodes" in str(program_violations(form, files, ring(5))[0])


@pytest.mark.parametrize("form", sorted(REPLAYED))
@pytest.mark.parametrize("files", [[], [b"\xff"], [b"a", b"b"]], ids=["none", "binary", "two"])
def test_what_is_no_file_of_the_format_is_a_violation(form, files):
    assert program_violations(form, files, ring(4))


@pytest.mark.parametrize(
    ("form", "options", "field"),
    [
        ("xml", {}, "/format"),
        ("json", {"dialect": "rccl"}, "/dialect"),
        ("json", {"inplace": False}, "/inplace"),
        ("dot", {"bytes": 7}, "/bytes"),
        ("msccl-xml", {"ranks_per_node": 7}, "/ranks_per_node"),
        ("mscclpp-json", {"alpha_us": 7}, "/alpha_us"),
        ("chakra-et", {}, "/bytes"),
        ("goal", {}, "/bytes"),
    ],
)
def test_options_that_a_format_does_not_take_or_get_are_named(form, options, field):
    with pytest.raises(NotExportable) as caught:
        write(form, shortest_steps(ring(3)), ring(3), Options(**options))
    assert caught.value.field == field


def test_what_programs_cannot_say_is_refused():
    from topoloom.schedules.generate.collectives import make

    broadcast = make(ring(3), Collective.BROADCAST, "forestcoll", root=0)
    for form in REPLAYED - {"mscclpp-json"}:
        with pytest.raises(NotExportable) as caught:
            written(form, broadcast, ring(3))
        assert caught.value.field == "/collective"
    for form in ("json", "mscclpp-json", "dot", "graphml"):
        assert written(form, broadcast, ring(3))


@for_every("inplace", [False, True])
@for_every(("name", "collective"), EVERY)
def test_what_is_told_from_arrays_alone_is_what_a_plan_has_at_least(name, collective, inplace):
    schedule, ranks = schedule_of(name, collective), topology_of(name).compute_nodes
    assert least_messages(schedule, joined=False) == len(transfers(schedule, ranks)[1])
    least, moves = least_messages(schedule, joined=True), len(plan(schedule, ranks, inplace).moves)
    assert least <= moves
    if name in RECIPES and collective == "allgather" and inplace:
        steps = len(schedule.steps)
        assert moves - steps <= least


@pytest.mark.parametrize("form", ["msccl-xml", "mscclpp-json", "chakra-et", "goal"])
def test_what_no_file_can_hold_is_refused_before_it_is_built(form):
    topology = topology_of("Circulant(601, 1, 25)")
    schedule = schedule_of("Circulant(601, 1, 25)", "allreduce")
    start = time.process_time()
    with pytest.raises(NotExportable, match="at most 262144 messages are written"):
        written(form, schedule, topology, **_size(form))
    # Writing such a file takes more than thirty.
    assert time.process_time() - start < 5
