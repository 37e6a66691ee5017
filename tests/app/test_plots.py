"""`topoloom plot`: what is drawn, that it is legible, and that it is drawn the same way twice."""

import json
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.figures import require_legible, topology_of
from tests.app.test_docs import DOCS, examples_of, printed
from tests.schedule_documents import to_document
from topoloom.app import extras
from topoloom.app.cli import app
from topoloom.app.cli.command_groups import click_group
from topoloom.app.plots import canvas, frontier, message_size_times, message_sizes
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.services import designs, frontiers
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective

pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")


@pytest.fixture(scope="module")
def documents():
    """Schedules to draw: of a switched fabric by trees, of a torus in steps."""
    wanted = {"dgx.json": ("dgx-a100-2", "forestcoll"), "torus.json": ("Torus(3, 3)", "bfb")}
    return {
        path: json.dumps(to_document(make(topology_of(name), "allreduce", algorithm)))
        for path, (name, algorithm) in wanted.items()
    }


@pytest.fixture
def files(documents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in documents.items():
        (tmp_path / name).write_text(text)


COMMANDS = {
    "frontier": "--nodes 100 --degree 3",
    "sizes": "--nodes 12 --degree 4 --collective allreduce",
    "load": "dgx.json --topology dgx-a100-2",
    "tree": "dgx.json --topology dgx-a100-2 --root 0.gpu3",
}


def test_every_kind_of_plot_is_tested():
    assert set(click_group(app).commands["plot"].commands) == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("kind", COMMANDS)
def test_the_same_question_gives_the_same_bytes(topoloom, tmp_path, kind):
    arguments = COMMANDS[kind].split()
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG\r\n")):
        found = set()
        for number in range(2):
            out = tmp_path / f"{number}{suffix}"
            answer = topoloom("plot", kind, *arguments, "--out", str(out))
            assert (answer.code, answer.out) == (0, f"plot: written to {out}\n"), answer.err
            found.add(out.read_bytes())
        (content,) = found
        assert content.startswith(start)
        assert b"dc:date" not in content
        assert b"Matplotlib" not in content


@pytest.mark.parametrize("own", ["font.size: 30\n", "axes.facecolor: red\nsvg.fonttype: path\n"])
def test_settings_of_the_reader_change_nothing(tmp_path, own, context):
    import matplotlib as mpl

    request = FrontierRequest.model_validate({"nodes": 12, "degree": 4})
    document = frontiers.frontier(context, request).document()
    paths = [tmp_path / "plain.svg", tmp_path / "own.svg"]
    (tmp_path / "matplotlibrc").write_text(own)
    with mpl.rc_context():
        for path in paths:
            with canvas.saved_figure(path, *frontier.size(document)) as figure:
                frontier.draw(figure, document)
            mpl.rc_file(tmp_path / "matplotlibrc")
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree", "links"),
    [(12, 4, "unidirectional"), (1024, 4, "unidirectional"), (1000, 3, "bidirectional"),
     (100, 3, "unidirectional"), (2, 1, "unidirectional")],
)  # fmt: skip
def test_a_frontier_shows_and_names_every_point(context, tmp_path, nodes, degree, links):
    asked = {"nodes": nodes, "degree": degree, "links": links}
    document = frontiers.frontier(context, FrontierRequest.model_validate(asked)).document()
    with canvas.saved_figure(tmp_path / "plot.png", *frontier.size(document)) as figure:
        frontier.draw(figure, document)
    found = require_legible(figure)
    for number, entry in enumerate(document["frontier"], start=1):
        assert str(number) in found
        (line,) = [text for text in found if text.startswith(f"{number}: ")]
        how = "slack, " if entry["algorithm"] == "slack" else ""
        assert f"{entry['steps']} steps, {entry['bandwidth']} ({how}{entry['status']})" in line
    dots = figure.axes[0].get_lines()[1].get_xydata()
    assert [at[0] for at in dots] == [entry["steps"] for entry in document["frontier"]]


@pytest.mark.slow
def test_a_long_frontier_is_cut_below_not_squeezed(tmp_path):
    entry = {"recipe": "LineGraph(2, Diamond())", "status": "best-known", "algorithm": "bfb"}
    costs = [{"steps": 5 + step, "bandwidth": f"{90 - step}/16"} for step in range(20)]
    document = {
        "request": {"nodes": 64, "degree": 2, "links": "unidirectional"},
        "bounds": {"steps": 5, "bandwidth": "63/64"},
        "frontier": [entry | cost | {"transpose": cost} for cost in costs],
    }
    with canvas.saved_figure(tmp_path / "plot.png", *frontier.size(document)) as figure:
        frontier.draw(figure, document)
    assert "and 8 more" in require_legible(figure)
    assert figure.axes[0].get_window_extent().height > figure.bbox.height / 3


def sizes_request(**changes):
    asked = {"nodes": 12, "degree": 4, "collective": "allreduce", "from": "1KiB", "to": "1GiB"}
    return SizesRequest.model_validate(asked | changes)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"nodes": 1000, "degree": 3, "links": "bidirectional"},
        {"nodes": 100, "degree": 3, "collective": "allgather", "from": "1", "to": "64KiB"},
        {"from": "1GiB", "to": "3TiB", "alpha_us": 0.5, "node_gbps": 3200},
        {"from": "1000", "to": "1001"},
        {"collective": "all-to-all", "degree": 3},
    ],
)
def test_times_are_those_of_designs(context, tmp_path, changes):
    request = sizes_request(**changes)
    document = frontiers.frontier(context, request.frontier()).document()
    with canvas.saved_figure(tmp_path / "plot.png", *message_sizes.SIZE) as figure:
        message_sizes.draw(figure, document, request)
    found = require_legible(figure)
    bound = "bound of two passes" if request.collective == "allreduce" else "lower bound"
    assert bound in found
    (above, _) = figure.axes
    curves = {line.get_label(): line.get_xydata() for line in above.get_lines()}
    most = request.range[1]
    asked = {"bytes": most, "node_gbps": request.node_gbps, "alpha_us": request.alpha_us}
    design = DesignRequest.model_validate(
        {
            **request.frontier().canonical(),
            "collective": request.collective,
            **asked,
        }
    )
    answer = designs.create(context, design).document()
    last = {label: at[-1][1] for label, at in curves.items()}
    assert all(at[-1][0] == most for at in curves.values())
    assert last.pop(bound) == answer["bounds"]["seconds"]
    for baseline in answer["baselines"]:
        assert last.pop(baseline["name"]) == baseline["seconds"]
    assert list(last.values()) == [entry["seconds"] for entry in answer["frontier"]]


WORKLOAD = [
    {"collective": "allreduce", "bytes": "25MiB", "count": 40},
    {"collective": "all-to-all", "bytes": 3000, "count": 7},
    {"collective": "reduce-scatter", "bytes": "1MB", "count": 2},
]


@pytest.mark.slow
@pytest.mark.parametrize("run", [{"preset": "gpt2-xl-ddp"}, {"workload": WORKLOAD}], ids=str)
def test_a_workload_takes_at_its_own_size_what_its_design_says(context, tmp_path, run):
    request = SizesRequest.model_validate({"nodes": 8, "degree": 2} | run)
    document = frontiers.frontier(context, request.frontier()).document()
    design = designs.DesignRequest.model_validate({"nodes": 8, "degree": 2} | run)
    answer = designs.create(context, design).document()
    times, total = message_size_times.Times(request, document["bounds"]), request.total_bytes
    assert float(times.bound(total)) == answer["bounds"]["seconds"]
    found = {name: float(time) for name, time in times.baselines(total).items()}
    assert found == {entry["name"]: entry["seconds"] for entry in answer["baselines"]}
    drawn = [float(times.on(entry, total)) for entry in document["frontier"]]
    assert drawn == [entry["seconds"] for entry in answer["frontier"]]
    with canvas.saved_figure(tmp_path / "plot.png", *message_sizes.SIZE) as figure:
        message_sizes.draw(figure, document, request)
    assert "the workload as it is" in require_legible(figure)


@given(st.integers(1, 10**12), st.sampled_from(["allgather", "reduce-scatter", "allreduce"]))
def test_one_collective_has_the_size_that_is_drawn(size, collective):
    request = sizes_request(collective=collective)
    entry = {"steps": 2, "bandwidth": "11/12", "transpose": {"steps": 3, "bandwidth": "1"}}
    times = message_size_times.Times(request, {"steps": 2, "bandwidth": "11/12"})
    for algorithm in ("bfb", "slack"):
        point = entry | {"nodes": 12, "algorithm": algorithm}
        cost = message_size_times.costs_of(point, Collective.of(collective))
        wire = cost.bandwidth * size / request.bytes_per_second
        assert times.on(point, size) == cost.steps * request.alpha_seconds + wire


@pytest.mark.slow
def test_the_page_shows_what_happens(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "how-to" / "plots.md"
    shown = examples_of([page])
    assert {shlex.split(command)[1] for command, _ in shown} >= set(COMMANDS)
    for command, expected in shown:
        assert printed(topoloom(*shlex.split(command))) == expected, command
    pictures = re.findall(r"\]\(\.\./(images/[^)]+)\)", page.read_text())
    assert len(pictures) == 6
    makefile = (DOCS.parent / "Makefile").read_text()
    for picture in pictures:
        assert (DOCS / picture).read_text().startswith("<?xml")
        assert f" docs/{picture}\n" in makefile


HOSTS = "--nodes 12 --degree 4"


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (f"frontier {HOSTS} --out a.pdf", "a.pdf: must end in .png or .svg"),
        (f"frontier {HOSTS} --out none/a.svg", "none/a.svg: there is no folder none"),
        ("frontier --nodes 1 --degree 4 --out a.svg", "--nodes: must be at least 2"),
        (f"sizes {HOSTS} --collective gossip --out a.svg", "--collective: must be"),
        (f"sizes {HOSTS} --collective allreduce --from much --out a.svg", "--from: must be"),
        (f"sizes {HOSTS} --collective allreduce --from 2KB --to 2KB --out a.svg", "--from must be"),
        (f"sizes {HOSTS} --out a.svg", "must have exactly one of"),
        (f"sizes {HOSTS} --collective allreduce --preset gpt2-xl-ddp --out a.svg", "must have"),
        (f"sizes {HOSTS} --preset nothing --out a.svg", "--preset: "),
        (f"sizes {HOSTS} --workload none.json --out a.svg", "none.json: no such file"),
        ("load none.json --topology dgx-a100-2 --out a.svg", "none.json: no such file"),
        ("load dgx.json --topology dgx-a100-3 --out a.svg", "dgx.json: /topology: is another"),
        ("tree torus.json --topology dgx-a100-2 --root 0 --out a.svg", "torus.json: /topology"),
        ("tree torus.json --topology Torus(3,3) --root 9 --out a.svg", "--root: must be a rank"),
        ("tree torus.json --topology Torus(3,3) --root 1 --tree 2 --out a.svg", "--tree: must"),
        ("tree torus.json --topology Torus(3,3) --root 1 --part 3 --out a.svg", "--part: must lie"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_one_line(topoloom, tmp_path, command, complaint):
    answer = topoloom("plot", *command.split())
    assert (answer.code, answer.out) == (2, ""), answer
    assert answer.err.startswith(f"topoloom: {complaint}")
    assert answer.err.count("\n") == 1
    assert not list(tmp_path.rglob("a.*"))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("kind", COMMANDS)
def test_without_the_extra_one_line_says_what_to_install(topoloom, monkeypatch, kind):
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    answer = topoloom("plot", kind, *COMMANDS[kind].split(), "--out", "a.svg")
    assert answer == (2, "", "topoloom: needs matplotlib: pip install 'topoloom[plots]'\n")


def test_colours_are_told_apart_and_hidden_marks_do_not_remain():
    assert len(set(canvas.COLOURS)) == len(canvas.COLOURS)
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in canvas.COLOURS)
