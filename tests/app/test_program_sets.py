"""The programs of a design over REST and on the command line: a set that serves all sizes."""

import io
import json
import random
import re
import zipfile
from itertools import pairwise

import pytest

from tests.schedule_oracles import matching_row
from topoloom.app.documents.program_set import ProgramSetDocument
from topoloom.schedules.formats.inspection.check_program import program_violations
from topoloom.schedules.formats.inspection.requirements import served_sizes
from topoloom.schedules.formats.nccl.program import MAX_SIZE
from topoloom.schedules.formats.nccl.read import parse
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse as recipe

QUESTION = {"nodes": 8, "degree": 3, "links": "bidirectional"}
WORKLOAD = [
    {"collective": "allreduce", "bytes": "1MiB"},
    {"collective": "allgather", "bytes": "64KiB"},
    {"collective": "all-to-all", "bytes": "64KiB"},
]
SAID = {
    "msccl-xml": {"runtime": "azure"},
    "mscclpp-json": {"runtime": "mscclpp-h100", "ranks_per_node": 4},
}


@pytest.fixture(scope="module")
def design(still):
    made = still.post("/v1/designs", json=QUESTION | {"workload": WORKLOAD})
    assert made.status_code in (200, 201), made.text
    return made.headers["Location"]


def set_of(still, design, **query):
    answer = still.get(design, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("form", SAID)
def test_every_size_is_served_by_one_program_which_its_run_time_takes(still, design, form):
    files = set_of(still, design, format=form, **SAID[form])
    index = json.loads(files["files.json"])
    ProgramSetDocument.model_validate(index)
    runtime = RUNTIMES[index["runtime"]]
    topology = build(recipe(index["recipe"]))
    named = {one["file"] for one in index["files"]}
    beside = {index["tuner"], *({index["loader"]} if form == "mscclpp-json" else ())}
    assert named | {"files.json"} | beside == files.keys()
    assert ("loader" in index) == (form == "mscclpp-json")
    assert {one["collective"] for one in index["files"]} == {t["collective"] for t in WORKLOAD}
    for one in index["files"]:
        assert program_violations(form, [files[one["file"]]], topology, runtime) == []
        served = served_sizes(form, files[one["file"]].decode(), runtime)
        assert served == (one["first_bytes"], one["last_bytes"])
    for task in WORKLOAD:
        own = [one for one in index["files"] if one["collective"] == task["collective"]]
        assert all(a["last_bytes"] + 1 == b["first_bytes"] for a, b in pairwise(own))


@pytest.mark.parametrize("form", SAID)
def test_the_table_serves_what_no_program_takes_and_says_which_program_takes_what(
    still, design, form
):
    files = set_of(still, design, format=form, **SAID[form])
    index, table = json.loads(files["files.json"]), files["tuner.csv"].decode()
    rows, chance = parse(table), random.Random(5)
    machines = 8 // SAID[form].get("ranks_per_node", 1)
    for name in ("allreduce", "allgather"):
        for size in [0, MAX_SIZE, *(chance.randrange(1 << power) for power in range(1, 60))]:
            row = matching_row(rows, Collective.of(name), size, machines, 8)
            assert row is not None and row.channels >= max(
                one.get("channels", 1) for one in index["files"]
            )
    assert {row.collective for row in rows} == {Collective.ALLREDUCE, Collective.ALLGATHER}
    said = re.findall(r"^# (\S+) from (\d+) (?:on|to (\d+)) bytes.*: (\S+), (\S+)$", table, re.M)
    assert said == [
        (
            one["collective"],
            str(one["first_bytes"]),
            str(one["last_bytes"] or ""),
            one["algorithm"],
            one["file"].removeprefix("programs/"),
        )
        for one in index["files"]
    ]


def test_a_set_is_kept_like_any_export(still, design):
    first = still.get(design, params={"format": "msccl-xml", "runtime": "rccl"})
    again = still.get(design, params={"format": "msccl-xml", "runtime": "rccl"})
    assert first.content == again.content and first.headers["ETag"] == again.headers["ETag"]
    known = {"If-None-Match": first.headers["ETag"]}
    answer = still.get(design, params={"format": "msccl-xml", "runtime": "rccl"}, headers=known)
    assert answer.status_code == 304
    other = still.get(design, params={"format": "msccl-xml", "runtime": "azure"})
    assert other.headers["ETag"] != first.headers["ETag"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"format": "chakra-et"}, "/query/format"),
        ({"format": "msccl-xml", "runtime": "mscclpp-b200"}, "/runtime"),
        ({"format": "msccl-xml", "dialect": "nvcc"}, "/dialect"),
        ({"format": "mscclpp-json", "dialect": "rccl"}, "/dialect"),
        ({"format": "mscclpp-json", "bytes": "1MiB"}, "/bytes"),
        ({"runtime": "azure"}, "/runtime"),
        ({"format": "msccl-xml", "channels": 0}, "/channels"),
        ({"format": "msccl-xml", "min_bytes": "2MiB", "max_bytes": "1MiB"}, "/max_bytes"),
        ({"format": "mscclpp-json", "ranks_per_node": 3}, "/ranks_per_node"),
        ({"format": "msccl-xml", "fields": "bounds"}, "/fields"),
    ],
)
def test_what_no_set_can_be_made_of_is_refused_by_name(still, design, query, field):
    answer = still.get(design, params=query)
    assert answer.status_code == 422, answer.text
    assert field.removeprefix("/query") in json.dumps(answer.json())


@pytest.mark.slow
def test_the_command_writes_the_same_files_into_a_folder_or_an_archive(topoloom, tmp_path):
    question = "--nodes 6 --degree 2 --links bidirectional --collective allreduce --bytes 1KiB"
    asked = ["files", *question.split(), "--runtime", "azure"]
    shown = topoloom(*asked, "--out", str(tmp_path / "set")).out
    assert "bfb-one-shot" in shown and "4 files written" in shown
    assert "sizes for 100 Gbit/s per host, 10 us per hop" in shown
    index = json.loads(topoloom(*asked, "--json", "--out", str(tmp_path / "set.zip")).out)
    assert (index["node_gbps"], index["alpha_us"]) == (100, 10)
    with zipfile.ZipFile(tmp_path / "set.zip") as archive:
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "set" / name).read_bytes()
        assert {one["file"] for one in index["files"]} < set(archive.namelist())
    topology = build(recipe(index["recipe"]))
    for one in index["files"]:
        program = (tmp_path / "set" / one["file"]).read_bytes()
        assert program_violations("msccl-xml", [program], topology, RUNTIMES["azure"]) == []
    refused = topoloom(*asked, "--out", str(tmp_path / "set"))
    assert refused.code == 2 and "must be a new or empty folder" in refused.err
