import json
from fractions import Fraction

import pytest

from topoloom.app.requests.schedules import SimulationRequest
from topoloom.schedules.baselines import Operation, seconds
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse


@pytest.fixture
def schedule(client):
    asked = {"topology": {"recipe": "Torus(3, 4)"}, "collective": "allreduce"}
    return client.post("/v1/schedules", json=asked).json()


def simulated(client, schedule, **request):
    return client.post(f"/v1/schedules/{schedule['id']}/simulation", json=request)


def test_a_synchronous_simulation_takes_what_the_cost_model_says(client, schedule):
    found = simulated(client, schedule, bytes="1MiB", synchronous=True)
    assert found.status_code == 200
    work = Operation(Collective.ALLREDUCE, 2**20, Fraction(100 * 10**9, 8), Fraction(10, 10**6))
    exact = seconds(schedule["steps"], Fraction(schedule["bandwidth"]), work)
    document = found.json()
    assert document["schema"] == "simulation/1"
    assert Fraction(document["exact_seconds"]) == exact
    assert document["seconds"] == float(exact)
    assert document["schedule_id"] == schedule["id"]
    assert 0 < document["utilisation"]["mean"] <= document["utilisation"]["busiest"] <= 1
    assert simulated(client, schedule, bytes="1MiB").json()["seconds"] <= document["seconds"]


@pytest.mark.slow
def test_the_command_says_what_the_service_says(client, schedule, topoloom, tmp_path):
    file = tmp_path / "schedule.json"
    file.write_text(client.get(f"/v1/schedules/{schedule['id']}").text)
    flags = ["--bytes", "1MB", "--alpha-us", "0.5", "--node-gbps", "400", "--overhead-us", "0.1"]
    flags += ["--channels", "2", "--chunks", "3"]
    shown = topoloom("simulate", str(file), "--topology", "Torus(3, 4)", *flags, "--json")
    assert (shown.code, shown.err) == (0, "")
    asked = {"bytes": "1MB", "alpha_us": 0.5, "node_gbps": 400, "overhead_us": 0.1}
    answer = simulated(client, schedule, **asked, channels=2, chunks=3).json()
    assert answer.pop("schedule_id") == schedule["id"]
    assert len(answer.pop("id")) == 64
    assert json.loads(shown.out) == answer
    table = topoloom("simulate", str(file), "--topology", "Torus(3, 4)", *flags)
    assert f"{answer['algbw']} GB/s" in table.out


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({}, "/bytes"),
        ({"bytes": 0}, "/bytes"),
        ({"bytes": 1, "alpha_us": -1}, "/alpha_us"),
        ({"bytes": 1, "node_gbps": 0}, "/node_gbps"),
        ({"bytes": 1, "node_gbps": 1, "link_gbps": 1}, ""),
        ({"bytes": 1, "channels": 0}, "/channels"),
        ({"bytes": 1, "chunks": True}, "/chunks"),
        ({"bytes": 1, "chunks": 2, "synchronous": True}, "/chunks"),
        ({"bytes": 1, "chunks": 2**20}, "/chunks"),
        ({"bytes": 1, "colour": "red"}, "/colour"),
    ],
    ids=str,
)
def test_a_bad_simulation_is_refused_with_its_place(client, schedule, request_, pointer):
    answer = simulated(client, schedule, **request_)
    assert answer.status_code == 422
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_schedule_that_is_not_stored_cannot_be_simulated(client):
    answer = client.post(f"/v1/schedules/{'0' * 64}/simulation", json={"bytes": 1})
    assert answer.status_code == 404


def test_an_invalid_schedule_is_not_simulated(topoloom, tmp_path):
    document = json.loads(topoloom("schedule", "UniRing(4)", "--collective", "allgather").out)
    document["steps"][0][0]["target"] = 2
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document))
    refused = topoloom("simulate", str(file), "--topology", "UniRing(4)", "--bytes", "1KB")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"topoloom: {file}: /steps/0/0: ")


@pytest.mark.parametrize(
    ("request_", "rate"),
    [
        ({}, Fraction(10**9)),
        ({"link_gbps": 16}, Fraction(2 * 10**9)),
        # 325 GB/s enter and leave every GPU of this fabric.
        ({"node_gbps": 2600}, Fraction(10**9)),
    ],
    ids=str,
)
def test_rates_are_those_of_the_fabric_unless_they_are_given(request_, rate):
    from topoloom.synth.fabrics import fabric

    asked = SimulationRequest.model_validate({"bytes": 1} | request_)
    assert asked.network(fabric("dgx-a100-2")).unit_bytes_per_second == rate


def test_links_that_only_count_carry_an_equal_part_of_a_host():
    asked = SimulationRequest.model_validate({"bytes": 1})
    torus = build(parse("Torus(3, 4)"))
    assert asked.network(torus).unit_bytes_per_second == Fraction(25 * 10**9, 8)


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("xml", ["--format", "msccl-xml", "--dialect", "rccl"]),
        ("json", ["--format", "mscclpp-json"]),
        ("zip", ["--format", "chakra-et", "--bytes", "3MiB"]),
    ],
)
@pytest.mark.slow
def test_the_command_takes_every_format_that_is_verified(topoloom, tmp_path, suffix, options):
    documents = []
    for name, said in (("schedule.json", []), (f"program.{suffix}", options)):
        path = str(tmp_path / name)
        made = topoloom(
            "schedule", "Torus(3, 4)", "--collective", "allgather", "--out", path, *said
        )
        assert made.code == 0, made.err
        flags = ["--topology", "Torus(3, 4)", "--bytes", "3MiB", "--synchronous", "--json"]
        flags += ["--alpha-us", "10", "--node-gbps", "100"]
        dialect = ["--dialect", "rccl"] if name.endswith("xml") else []
        found = topoloom("simulate", path, *flags, *dialect)
        assert (found.code, found.err) == (0, "")
        documents.append(json.loads(found.out))
    assert documents[0]["exact_seconds"] == documents[1]["exact_seconds"]
    assert documents[0]["utilisation"]["mean"] == documents[1]["utilisation"]["mean"]


def test_the_command_refuses_tables_and_dialects_of_other_formats(topoloom, tmp_path):
    path = str(tmp_path / "table.csv")
    asked = ["--collective", "allgather", "--format", "nccl-tuner-csv", "--out", path]
    assert topoloom("schedule", "Torus(3, 4)", *asked).code == 0
    flags = ["--topology", "Torus(3, 4)", "--bytes", "1MiB"]
    refused = topoloom("simulate", path, *flags)
    assert refused.code == 2
    assert "tuner table" in refused.err
    assert topoloom("simulate", path, *flags, "--dialect", "rccl").code == 2
    assert topoloom("execute", path).code == 2


PROGRAMS = {
    "msccl": ["--format", "msccl-xml"],
    "rccl": ["--format", "msccl-xml", "--dialect", "rccl"],
    "mscclpp": ["--format", "mscclpp-json"],
    "chakra": ["--format", "chakra-et"],
    "schedule": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("flags", PROGRAMS.values(), ids=PROGRAMS)
def test_schedule_and_simulate_tell_the_same_figures_of_one_file(topoloom, tmp_path, flags):
    path = str(tmp_path / "file.zip")
    fabric = ["mi250-1", "--without-link", "0.gpu0,0.gpu1"]
    asked = ["--collective", "allreduce", "--bytes", "16MiB", "--out", path]
    made = topoloom("schedule", *fabric, *asked, *flags)
    assert made.code == 0, made.err
    told = dict(line.split(maxsplit=1) for line in made.out.splitlines()[1:])
    ran = topoloom("simulate", path, "--topology", *fabric, "--bytes", "16MiB", "--json")
    found = json.loads(ran.out)
    assert told["algbw"].split()[0] == f"{found['algbw_large']:.4f}"
    shown = topoloom("simulate", path, "--topology", *fabric, "--bytes", "16MiB").out
    rows = {line[:14].strip(): line[14:] for line in shown.splitlines()}
    assert told["time"].startswith(rows["time"] + " for 16MiB")
    assert rows["algbw"].endswith("GB/s for this size, in this time")
    # A file that nobody cuts into slices is slower than its links: both commands say so.
    if flags:
        whole = topoloom(
            "simulate", path, "--topology", *fabric, "--bytes", "1TiB", "--alpha-us", "0", "--json"
        )
        rate = json.loads(whole.out)["algbw"]
        assert float(told.get("whole", told["algbw"]).split()[0]) == pytest.approx(rate, rel=1e-6)


@pytest.mark.slow
def test_a_simulation_says_where_switches_copy_and_it_does_not(topoloom, tmp_path, client):
    path = tmp_path / "nvls.json"
    asked = ["--collective", "allreduce", "--out", str(path)]
    assert topoloom("schedule", "dgx-h100-sharp-1", *asked).code == 0
    flags = ["--topology", "dgx-h100-sharp-1", "--bytes", "1MiB"]
    assert (
        "note: the simulation sends each copy by itself"
        in topoloom("simulate", str(path), *flags).err
    )
    asked = {"schedule": json.loads(path.read_text()), "topology": {"fabric": "dgx-h100-sharp-1"}}
    answer = client.post("/v1/simulations", json=asked | {"bytes": "1MiB"})
    assert answer.status_code in (200, 201), answer.text
    assert len(answer.json()["notes"]) == 1
