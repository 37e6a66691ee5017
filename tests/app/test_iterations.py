"""Training iterations over REST, on the command line and in Python."""

import csv
import io
import json

import pytest

import topoloom
from tests.app.jobs.work import until
from tests.cases import for_every
from topoloom.app.cli import run
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages

MODEL = {
    "name": "tiny",
    "layers": [{"count": 4, "parameters": 10**7, "forward_seconds": 0.001}],
    "parallel": {"pipeline": 2},
    "microbatches": 4,
    "width": 1000,
}
HOSTS = {"nodes": 8, "degree": 2, "node_gbps": 100}
ASKED = {"model": MODEL} | HOSTS
OPTIONS = ["--nodes", "8", "--degree", "2", "--node-gbps", "100"]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(MODEL))
    return str(path)


def test_the_answer_has_the_best_topology_its_placement_and_what_limits(still):
    answer = still.post("/v1/iterations", json=ASKED, headers={"Prefer": "wait=60"})
    assert answer.status_code in (200, 201), answer.text
    found = answer.json()
    assert found["schema"] == "iteration/1"
    assert found["best"] == found["topologies"][0]
    assert found["limit"] == found["gains"][0]["resource"]
    assert [host["coordinates"]["pipeline"] for host in found["placement"]].count([0, 0]) == 4
    assert {row["topology"] for row in found["baselines"]} >= {"1 rings", "switch"}
    parts = ("compute_seconds", "bubble_seconds", "exposed_seconds")
    assert sum(found[part] for part in parts) == pytest.approx(found["seconds"])
    assert {phase["kind"] for phase in found["phases"]} == {
        *("forward", "backward", "pipeline", "reduce")
    }


def test_an_iteration_is_a_job_and_a_stored_document(still):
    asked = ASKED | {"microbatches": 3}
    promised = still.post("/v1/iterations", json=asked, headers={"Prefer": "respond-async"})
    assert promised.status_code == 202, promised.text
    assert promised.json()["operation"] == "iteration"
    done = still.post("/v1/iterations", json=asked, headers={"Prefer": "wait=60"})
    assert done.status_code in (200, 201), done.text
    # The answer is sent before the job is recorded as done.
    until(lambda: still.get(promised.headers["Location"]).json()["state"] != "running")
    job = still.get(promised.headers["Location"]).json()
    assert (job["state"], job["result"]) == ("done", done.headers["Location"])
    assert still.get(job["result"]).json() == done.json()
    again = still.post("/v1/iterations", json=asked)
    assert (again.status_code, again.json()) == (200, done.json())
    (entry,) = [
        one for one in still.get("/v1/iterations").json()["items"] if one["id"] == done.json()["id"]
    ]
    assert entry["summary"]["name"] == done.json()["best"]["topology"]
    assert entry["summary"]["seconds"] == done.json()["seconds"]


@for_every(
    ("changes", "pointer"),
    [
        ({"preset": "mixtral-8x7b"}, ""),
        ({"parallel": "tensor=3"}, "/parallel"),
        ({"parallel": "tensors=2"}, "/parallel"),
        ({"parallel": "expert=2"}, "/parallel"),
        ({"model": MODEL | {"layer": 1}}, "/model/layer"),
        ({"model": MODEL | {"layers": [{"parameter": 1}]}}, "/model/layers/0/parameter"),
        ({"model": {"layers": [{"forward_flops": 1}]}}, "/accelerator"),
        ({"accelerator": "h1000"}, "/accelerator"),
        ({"efficiency": 1.5}, "/efficiency"),
        ({"topology": "BiRing(4)"}, "/topology"),
        ({"topology": "Ring(4)"}, "/topology"),
        ({"topology": "@ring"}, "/topology"),
        ({"topology": "@r", "graphs": {"r": {"recipe": "Ring(4)"}}}, "/graphs/r/recipe"),
        ({"nodes": 1}, "/nodes"),
        ({"nodes": 1025}, "/nodes"),
        ({"accelerators_per_host": 0}, "/accelerators_per_host"),
        ({"accelerators_per_host": 2}, "/inside_gbps"),
        ({"microbatches": 0}, "/microbatches"),
        ({"alpha_us": 0}, "/alpha_us"),
    ],
)
def test_a_bad_member_is_named_by_its_pointer(still, changes, pointer):
    answer = still.post("/v1/iterations", json=ASKED | changes)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_the_limit_on_hosts_holds_on_the_command_line_and_in_python(database, model, capsys):
    rule = "must have at most 1024 hosts; it has 1025"
    assert run(["iteration", model, *OPTIONS, "--nodes", "1025"]) == 2
    assert capsys.readouterr().err == f"topoloom: --nodes: {rule}\n"
    with pytest.raises(TooLarge, match=f"^/nodes: {rule}$"):
        topoloom.iteration(MODEL, **HOSTS | {"nodes": 1025})


def test_a_topology_of_the_client_takes_the_time_of_the_same_recipe(still):
    def seconds(**topology):
        answer = still.post("/v1/iterations", json=ASKED | topology, headers={"Prefer": "wait=60"})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["seconds"]

    ring = still.post("/v1/topologies", json={"recipe": "BiRing(8)"}).json()
    of_recipe = seconds(topology="BiRing(8)")
    assert seconds(topology="@r", graphs={"r": {"id": ring["id"]}}) == of_recipe
    assert seconds(topology="@r", graphs={"r": ring}) == of_recipe
    slow = {"recipe": "BiRing(8)", "changes": {"slow_links": [[0, 1, "1/2"]]}}
    assert seconds(topology="@r", graphs={"r": slow}) > of_recipe


def test_the_command_takes_the_file_of_a_topology(database, model, tmp_path, capsys):
    ring = str(tmp_path / "ring.json")
    assert run(["topology", "BiRing(8)", "--out", ring]) == 0
    times = []
    for topology in ("BiRing(8)", ring, f"1 x @{ring}"):
        capsys.readouterr()
        assert run(["iteration", model, *OPTIONS, "--topology", topology, "--json"]) == 0
        times.append(json.loads(capsys.readouterr().out)["seconds"])
    assert len(set(times)) == 1


def test_an_unknown_preset_is_refused(still):
    answer = still.post("/v1/iterations", json={"preset": "mixtral", "nodes": 8, "degree": 2})
    assert answer.status_code == 422
    assert "did you mean mixtral-8x7b" in answer.text


def test_the_command_tells_the_answer_first(database, model, capsys):
    assert run(["iteration", model, *OPTIONS]) == 0
    out, err = capsys.readouterr()
    first = out.split("\n\n")[0].replace("\n", " ")
    assert first.startswith("An iteration of tiny on 8 accelerators takes ")
    assert "is exposed communication" in first
    assert "the limiting resource" in first
    assert "note: A host has one accelerator; --accelerators-per-host changes this." in err
    assert "switch" in out


def test_the_command_prints_the_document_and_the_table(database, model, capsys):
    assert run(["iteration", model, *OPTIONS, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert run(["iteration", model, *OPTIONS, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    both = [*document["topologies"], *document["baselines"]]
    assert [row["topology"] for row in rows] == [one["topology"] for one in both]


def test_the_command_writes_the_timeline(database, model, tmp_path, capsys):
    ring = ["iteration", model, *OPTIONS, "--topology", "BiRing(8)", "--timeline"]
    for name in ("t.csv", "t.svg"):
        assert run([*ring, str(tmp_path / name)]) == 0
    lines = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert {line["kind"] for line in lines} >= {"forward", "backward", "reduce"}
    assert "tiny" in (tmp_path / "t.svg").read_text()
    assert run([*ring, str(tmp_path / "traces")]) == 0
    _, nodes = read_messages((tmp_path / "traces" / "iteration.1.et").read_bytes())
    assert any(node.name.startswith("receive from stage 0") for node in nodes)
    capsys.readouterr()
    assert run([*ring, str(tmp_path / "t.pdf")]) == 2
    assert "must end in .csv, .svg or .png, or have no suffix" in capsys.readouterr().err


@pytest.mark.slow
@for_every(
    ("arguments", "line"),
    [
        (["mixtral-8x7", *OPTIONS], "mixtral-8x7: must be one of llama3-405b"),
        (["mixtral-8x7b", *OPTIONS, "--parallel", "tensor=3"], "--parallel: must multiply to"),
        (["mixtral-8x7b", *OPTIONS, "--accelerator", "x"], "--accelerator: must be one of a100"),
        (["mixtral-8x7b", *OPTIONS, "--topology", "BiRing(3)"], "--topology: must have the 8"),
        (["mixtral-8x7b", *OPTIONS, "--efficiency", "2"], "--efficiency: must be at most 1"),
        (["none.json", *OPTIONS], "none.json"),
    ],
)
def test_arguments_that_break_a_rule_are_refused_in_one_line(database, capsys, arguments, line):
    assert run(["iteration", *arguments]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_wrong_member_of_a_model_file_is_named_with_its_place(database, tmp_path, capsys):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"layers": [{"parameter": 1}]}))
    assert run(["iteration", str(path), *OPTIONS]) == 2
    err = capsys.readouterr().err
    assert f"{path}: /layers/0/parameter: must be one of name, parameters" in err
    assert "did you mean parameters?" in err


def test_python_returns_the_same_time(still):
    found = topoloom.iteration(MODEL, 8, 2, node_gbps=100)
    answer = still.post("/v1/iterations", json=ASKED).json()
    assert str(found.best.seconds) == answer["exact_seconds"]
    assert found.best.candidate.name == answer["best"]["topology"]
    with pytest.raises(ValueError, match="efficiency: must be at most 1"):
        topoloom.iteration(MODEL, 8, 2, efficiency=2)
