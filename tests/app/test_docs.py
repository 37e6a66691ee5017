"""What the documentation shows is what happens."""

import json
import re
import shlex
from pathlib import Path

import pytest

ID = "0123456789ab"
"""What the documentation shows for the beginning of any id."""
DOCS = Path(__file__).parent.parent.parent / "docs"
OTHERS = ("plots", "run-a-schedule")
"""Pages whose commands need an extra: `test_plots.py` and `test_execute.py` run them."""


def examples_of(pages):
    """Return the commands that pages show, each with what it prints."""
    text = "".join(page.read_text() for page in pages)
    shown = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    examples = [part.partition("\n") for block in shown for part in block.split("$ topoloom ")[1:]]
    return [(command, expected) for command, _, expected in examples]


def printed(answer):
    """Return what a command printed, with one id for all ids."""
    lines = (line.rstrip() for line in (answer.out + answer.err).splitlines())
    text = "".join(f"{line}\n" for line in lines)
    return re.sub(r"\b[0-9a-f]{12}\b", ID, re.sub("[0-9a-f]{64}", "…", text))


def pages_with_commands():
    """Return every page that shows commands, and README; two have tests of their own.

    README is last, and with it the search for 1,024 hosts: the slow tests run it.
    """
    pages = sorted({*DOCS.rglob("*.md")} - {DOCS / "how-to" / f"{name}.md" for name in OTHERS})
    return [page for page in (*pages, DOCS.parent / "README.md") if examples_of([page])]


@pytest.mark.one_in(11)
@pytest.mark.parametrize("page", pages_with_commands(), ids=lambda page: page.stem)
def test_every_command_of_a_page_prints_what_the_page_shows(page, topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    shown = re.compile(r"^`(\S+)` holds .*:\n\n```text\n(.*?)^```", re.M | re.S)
    for name, content in shown.findall(page.read_text()):
        Path(name).write_text(content)
    for command, expected in examples_of([page]):
        assert printed(topoloom(*shlex.split(command))) == expected, command


def test_most_pages_with_commands_are_found():
    assert len(pages_with_commands()) >= 10


def requests():
    text = (DOCS / "reference" / "rest.md").read_text()
    return re.findall(r"^```http\nPOST (\S+)\nContent-Type: (\S+)\n\n(.*?)^```", text, re.M | re.S)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("path", "media", "body"), requests())
def test_every_request_of_the_documentation_is_answered(client, path, media, body):
    answer = client.post(path, content=body.encode(), headers={"Content-Type": media})
    assert answer.status_code == 201, answer.text
    assert client.get(answer.headers["Location"]).status_code == 200


def shown_by_curl():
    """Return path and body of every call that the page shows as a command."""
    text = (DOCS / "reference" / "rest.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    commands = [part for block in blocks for part in re.split(r"^curl ", block, flags=re.M)[1:]]
    found = []
    for command in commands:
        words = shlex.split(command)
        place = next(word for word in words if word.startswith("http://127.0.0.1:8765"))
        body = words[words.index("-d") + 1] if "-d" in words else None
        found.append((place.removeprefix("http://127.0.0.1:8765"), body))
    return found


@pytest.mark.parametrize(("path", "body"), shown_by_curl())
def test_every_call_by_curl_of_the_documentation_is_answered(client, path, body):
    if body is None:
        answer = client.get(path)
    else:
        headers = {"Content-Type": "application/json"}
        answer = client.post(path, content=body.encode(), headers=headers)
    assert answer.status_code in (200, 201), answer.text


def test_the_documentation_shows_a_request_of_every_kind():
    assert {path for path, _, _ in requests()} == {
        "/v1/designs",
        "/v1/topologies",
        "/v1/schedules",
        "/v1/patch-plans",
        "/v1/lr-sessions",
        "/v1/frontiers",
        "/v1/comparisons",
        "/v1/costs",
        "/v1/optima",
        "/v1/verifications",
        "/v1/simulations",
        "/v1/iterations",
    }


def test_the_members_of_a_design_are_documented(client):
    question = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
    document = client.post("/v1/designs", json=question).json()
    text = (DOCS / "reference" / "rest.md").read_text()
    names = {*document, *document["frontier"][0], *document["best"], *document["request"]}
    names |= {*document["best"]["schedule"], *document["baselines"][0]}
    for name in names - {"schema", "id", "request"}:
        assert f"`{name}`" in text, name
    assert json.dumps(document)
