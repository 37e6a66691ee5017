"""Files of other programs, and fabrics with lost and slow parts, through both front doors."""

import json
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from topoloom.app.documents.topology import FORMATS
from topoloom.app.requests.options.option import choices
from topoloom.app.requests.options.patch_plans import TopologyFormat
from topoloom.app.requests.options.topology_source import READING, FormatName, changeable
from topoloom.app.requests.topology_source import OPTIONS
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import OPTIONS as OF_FORMATS
from topoloom.synth.formats import READABLE, WRITERS, detect, read
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.assumptions import Assumption

DATA = Path(__file__).parent.parent / "synth" / "data"
BOX = DATA / "dgx-1v.nvidia-smi.txt"
FILES = sorted(path.name for path in DATA.iterdir())


def test_the_formats_of_requests_are_those_there_are_readers_for() -> None:
    assert set(get_args(FormatName)) == set(READABLE)


def test_the_options_of_reading_are_the_same_through_every_door() -> None:
    assert set(OPTIONS) == set(OF_FORMATS)
    assert {option.name for option in READING} == {"format", *OPTIONS}
    assert set(FORMATS) == set(WRITERS) == set(choices(TopologyFormat))


def form_of(name: str) -> str:
    """Return the format of a file: what detects it, or for what nothing does, its name."""
    said = name.split(".")[1] if name.endswith("adjlist.txt") else None
    return said or detect((DATA / name).read_text(), name)


def notes_of(document: dict) -> str:
    """Return what the command line says on stderr of what a document assumes."""
    assumed = [Assumption(**entry) for entry in document.get("assumed", [])]
    return "".join(f"note: {changeable(assumption)}\n" for assumption in assumed)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_same_topology_by_both_doors(client, topoloom, name) -> None:
    text, form = (DATA / name).read_text(), form_of(name)
    posted = client.post("/v1/topologies", json={"text": text, "format": form})
    assert posted.status_code == 201
    assert topology_from_document(posted.json()) == read(text, form)
    written = topoloom("topology", str(DATA / name), "--from", form)
    assert (written.code, written.err) == (0, notes_of(posted.json()))
    assert json.loads(written.out) == posted.json()


ASKED = {
    "boxes of a dump": (
        "hgx-h100.nccl.xml",
        {"boxes": 4, "network": "rails", "oversubscription": "3/2", "pcie": "always"},
    ),
    "boxes of a matrix": (
        "nic-per-gpu.nvidia-smi.txt",
        {"boxes": 2, "network": "planes:2", "nic_bandwidth": 25, "nics": "mlx5_0,mlx5_3"},
    ),
    "NVLinks that are said": ("cloud-a100.nccl.xml", {"nvlink": "pairs:300"}),
    "attributes": (
        "routers.gml",
        {
            "capacity_attribute": "speed",
            "kind_attribute": "type",
            "switch_values": ["router"],
            "unit": "Gbit/s",
        },
    ),
}


@pytest.mark.parametrize(("name", "asked"), ASKED.values(), ids=list(ASKED))
def test_options_mean_the_same_through_both_doors(client, topoloom, name, asked) -> None:
    text = (DATA / name).read_text()
    posted = client.post("/v1/topologies", json={"text": text, **asked})
    assert posted.status_code == 201
    numbers = ("oversubscription", "nic_bandwidth")
    exact = {key: Fraction(value) if key in numbers else value for key, value in asked.items()}
    assert topology_from_document(posted.json()) == read(text, **exact)
    spelled = {option.name: option.spelling for option in READING}
    flags = [
        f"{spelled[key]}={one}"
        for key, value in asked.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    written = topoloom("topology", str(DATA / name), *flags)
    assert (written.code, json.loads(written.out)) == (0, posted.json())
    wrong = client.post("/v1/topologies", json={"fabric": "dgx-1v", **asked})
    assert wrong.status_code == 422
    refused = topoloom("topology", "dgx-1v", *flags)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)


def test_what_was_assumed_is_part_of_the_answer(client) -> None:
    text = (DATA / "cloud-h100.nccl.xml").read_text()
    made = client.post("/v1/topologies", json={"text": text, "boxes": 2}).json()
    assert any("Azure ND H100 v5" in note for note in made["notes"])
    assert client.get(f"/v1/topologies/{made['id']}").json()["notes"] == made["notes"]
    assert made["notes"] == [entry["text"] for entry in made["assumed"]]
    said = client.post("/v1/topologies", json={"text": text, "nvlink": "switch:450"}).json()
    assert "nvlink" not in {entry.get("option") for entry in said.get("assumed", [])}


def test_answers_about_a_file_say_what_was_assumed_and_by_which_option_it_changes(
    client, topoloom, tmp_path
) -> None:
    source = {"text": BOX.read_text()}
    assumed = client.post("/v1/topologies", json=source).json()["assumed"]
    assert [entry["option"] for entry in assumed] == ["link_bandwidth"]
    asked = {"topology": source, "collective": "allreduce"}
    made = client.post("/v1/schedules", json=asked).json()
    about = f"/v1/topologies/{made['topology_id']}"
    for answer in (made, client.get(f"{about}/optimum").json()):
        assert answer["assumed"] == assumed
    lost = {"id": made["topology_id"], "changes": {"without_links": [["GPU0", "GPU1"]]}}
    assert client.post("/v1/topologies", json=lost).json()["assumed"] == assumed
    # Also where the file is long gone.
    again = topoloom("optimum", made["topology_id"])
    assert again.err == "".join(notes_of({"assumed": assumed}))
    assert "--link-bandwidth" in again.err
    assert topoloom("optimum", str(BOX), "--link-bandwidth", "25").err == ""


def test_a_graph_of_ones_own_is_the_base_of_an_operator(client, topoloom, monkeypatch) -> None:
    monkeypatch.chdir(DATA)
    recipe = "LineGraph(2, @{})"
    ring = topoloom("topology", recipe.format("circulant.adjlist"))
    assert (ring.code, "--directed" in ring.err) == (0, True)
    made = json.loads(ring.out)
    assert len(made["nodes"]) == 5 * 2 * 2
    graph = {"text": (DATA / "circulant.adjlist").read_text(), "format": "adjlist"}
    document = topoloom("topology", "circulant.adjlist").out
    for named in (graph, json.loads(document)):
        asked = {"recipe": recipe.format("my"), "graphs": {"my": named}}
        answer = client.post("/v1/topologies", json=asked)
        assert answer.status_code == 200
        assert answer.json()["id"] == made["id"]
    measured = topoloom("measure", recipe.format("circulant.adjlist"), "--json")
    assert measured.code == 0


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ({"recipe": "LineGraph(2, @other)", "graphs": {"my": {"text": "0 1\n1 0"}}}, "/recipe"),
        ({"recipe": "LineGraph(2, @my)", "graphs": {"my": {"text": "0 x"}}}, "/graphs/my/text"),
        ({"recipe": "LineGraph(2, @my)"}, "/recipe"),
    ],
)
def test_a_graph_that_is_not_there_or_wrong_is_one_error(client, asked, place) -> None:
    answer = client.post("/v1/topologies", json=asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(place)


@pytest.mark.parametrize(
    "asked",
    [
        {"fabric": "dgx-1v", "graphs": {"my": {"fabric": "dgx-1v"}}},
        {"recipe": "LineGraph(2, @a b)", "graphs": {"a b": {"fabric": "dgx-1v"}}},
        {"recipe": "Diamond()", "graphs": {}},
        {
            "recipe": "LineGraph(2, @a)",
            "graphs": {"a": {"recipe": "LineGraph(2, @b)", "graphs": {"b": {"text": "0 1"}}}},
        },
    ],
)
def test_graphs_of_the_wrong_shape_are_refused(client, asked) -> None:
    assert client.post("/v1/topologies", json=asked).status_code == 422


def test_a_file_is_converted_and_then_known_by_its_document(topoloom, tmp_path) -> None:
    file = tmp_path / "topo.json"
    done = topoloom("topology", str(BOX), "--from", "nvidia-smi", "--out", str(file))
    assert (done.code, "--link-bandwidth" in done.err) == (0, True)
    shown = topoloom("optimum", str(file), "--json").out
    assert topoloom("optimum", str(BOX), "--json").out == shown
    assert json.loads(shown)["algbw"] == 171.4286


@pytest.mark.parametrize("command", ["measure", "optimum", "patch", "schedule", "topology"])
def test_every_command_that_takes_a_topology_reads_files(topoloom, command) -> None:
    flags = {"schedule": ["--collective", "allgather"], "patch": ["--panels", "single"]}
    file = str(DATA / "ring.matrix.txt")
    flags = ["--from", "matrix", "--unit", "link", *flags.get(command, [])]
    answer = topoloom(command, file, *flags)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out


def test_a_schedule_is_verified_against_a_file(topoloom, tmp_path) -> None:
    file, box = tmp_path / "schedule.json", str(BOX)
    made = topoloom("schedule", box, "--collective", "allreduce", "--out", str(file))
    assert made.code == 0
    assert topoloom("verify", str(file), "--topology", box).out == "valid\n"
    faster = topoloom("verify", str(file), "--topology", box, "--link-bandwidth", "50")
    assert faster.code == 1


@pytest.mark.parametrize("bandwidth", ["12.5", "25/2", "50/4"])
def test_the_bandwidth_of_a_link_is_exact_however_it_is_written(client, bandwidth) -> None:
    asked = {"text": BOX.read_text(), "format": "nvidia-smi", "link_bandwidth": bandwidth}
    made = client.post("/v1/topologies", json=asked).json()
    expected = read(BOX.read_text(), link_bandwidth=Fraction(25, 2))
    assert topology_from_document(made) == expected


def test_sorted_documents_and_documents_without_suffix_are_topologies(topoloom, tmp_path) -> None:
    for name in ("a.json", "b"):
        file = tmp_path / name
        document = json.dumps(fabric("dgx-1v").to_document(), sort_keys=True)
        file.write_text(document)
        assert json.loads(topoloom("optimum", str(file), "--json").out)["algbw"] == 171.4286


WRONG_TEXTS = {
    "a bad cell": ({"text": "0 1\nx1 0", "format": "matrix"}, "/text/line/2"),
    "prose": ({"text": "no such thing as this\n"}, "/text"),
    "an entity": ({"text": "<!DOCTYPE a><graphml/>"}, "/text/line/1"),
    "in pieces": ({"text": "a b\nb a\nc d\nd c", "format": "edgelist"}, "/text/links"),
    "an unknown format": ({"text": "0 1\n1 0", "format": "yaml"}, "/format"),
    "a bandwidth it has": (
        {"text": "0 1\n1 0", "format": "matrix", "link_bandwidth": 25},
        "/link_bandwidth",
    ),
    "too many boxes": ({"text": BOX.read_text(), "boxes": 1025}, "/boxes"),
    "no bandwidth": ({"text": BOX.read_text(), "link_bandwidth": 0}, "/link_bandwidth"),
}


@pytest.mark.parametrize(("asked", "place"), WRONG_TEXTS.values(), ids=list(WRONG_TEXTS))
def test_a_bad_text_is_refused_by_both_doors(client, topoloom, tmp_path, asked, place) -> None:
    answer = client.post("/v1/topologies", json=asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == place
    nested = client.post("/v1/schedules", json={"topology": asked, "collective": "allgather"})
    assert nested.json()["errors"][0]["pointer"] == "/topology" + place
    file = tmp_path / "bad.txt"
    file.write_text(asked["text"])
    spelled = {option.name: option.spelling for option in READING}
    flags = [f"{spelled[name]}={value}" for name, value in asked.items() if name in spelled]
    refused = topoloom("optimum", str(file), *flags)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    # The command line names the option as it is typed, and the line of the file.
    name = place.removeprefix("/text").strip("/")
    assert spelled.get(name, name.replace("line/", "line ").replace("links", "")) in refused.err


@pytest.mark.parametrize(
    "asked",
    [
        {"fabric": "dgx-1v", "format": "matrix"},
        {"fabric": "dgx-1v", "text": "0 1\n1 0"},
        {"fabric": "dgx-1v", "changes": {}},
        {"fabric": "dgx-1v", "changes": {"without": ["0.gpu0"]}},
        {"fabric": "dgx-1v", "changes": {"without_nodes": []}},
        {"fabric": "dgx-1v", "changes": {"without_links": [["0.gpu0"]]}},
        {"fabric": "dgx-1v", "changes": {"slow_links": [["0.gpu0", "0.gpu1", "half"]]}},
        {"fabric": "dgx-1v", "changes": {"slow_links": [["0.gpu0", "0.gpu1", "1/0"]]}},
        {"fabric": "dgx-1v", "changes": {"slow_links": [["0.gpu0", "0.gpu1", True]]}},
        {"text": None},
        {"changes": {"without_nodes": ["a"]}},
    ],
)
def test_a_source_of_the_wrong_shape_is_refused(client, asked) -> None:
    assert client.post("/v1/topologies", json=asked).status_code == 422


def test_a_file_that_is_not_there_is_no_unknown_fabric(topoloom) -> None:
    for name in ("none.txt", "none.xml", "folder/none.csv"):
        answer = topoloom("optimum", name)
        assert (answer.code, answer.err) == (2, f"topoloom: {name}: no such file or directory\n")


def test_what_topoloom_writes_it_reads(topoloom, tmp_path) -> None:
    for form in ("json", "graphml", "edgelist"):
        file = tmp_path / f"box.{form}"
        file.write_text(WRITERS[form](fabric("dgx-1v")))
        assert json.loads(topoloom("optimum", str(file), "--json").out)["algbw"] == 171.4286


def test_a_list_of_cables_that_is_not_connected_one_way_is_told_of_the_other(
    client, topoloom, tmp_path
) -> None:
    file = tmp_path / "cables.txt"
    file.write_text("h0 h1\nh2 h1\n")
    refused = topoloom("optimum", str(file))
    assert (refused.code, "--undirected" in refused.err) == (2, True)
    assert topoloom("optimum", str(file), "--undirected").code == 0
    answer = client.post("/v1/topologies", json={"text": file.read_text()})
    assert '"directed": false' in answer.json()["errors"][0]["detail"]


def test_a_file_that_is_a_base_says_what_was_assumed_and_what_is_wrong(topoloom, tmp_path) -> None:
    file = tmp_path / "ring.txt"
    file.write_text("0 1\n1 2\n2 0\n")
    asked = ("frontier", "--nodes", "3", "--degree", "1", "--base", str(file))
    found = topoloom(*asked)
    assert (found.code, "--directed" in found.err) == (0, True)
    file.write_text("0 1\n1 2 x y\n2 0\n")
    refused = topoloom(*asked)
    assert refused.code == 2
    assert str(file) in refused.err
