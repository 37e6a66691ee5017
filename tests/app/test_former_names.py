"""Former names of the wire and of the command line: the same answers, marked as deprecated."""

import json

import pytest

import topoloom as topoloom_package
from tests.app.lr_jobs import Job
from topoloom.app.api.deprecation import PAGE, SINCE
from topoloom.app.api.routes.explanations import pages
from topoloom.app.auth.scopes import scope_of
from topoloom.app.cli.command_groups import current_spelling
from topoloom.app.requests.renamed import (
    MEMBERS,
    OPTIONS,
    PATHS,
    REMOVED,
    REMOVED_OPTIONS,
    WORDS,
)
from topoloom.app.store.artifacts import key

PAIR = [{"panel": 0, "a": 0, "b": 1}]
HOSTS = {"nodes": 4, "degree": 2, "collective": "allgather", "bytes": "1MB", "panels": "single"}
WORKLOAD = {"collective": "allgather", "bytes": 1000}
FORMER = [
    ("/v1/designs", HOSTS, {"present": [], "place": "free", "spares": True}),
    (
        "/v1/patch-plans",
        {"topology": {"recipe": "UniRing(3)"}},
        {"present": PAIR, "place": "free", "lanes": 1, "spares": True, "make_first": True},
    ),
    ("/v1/sweeps", {"nodes": [4], "degrees": [2]}, {"over": "sizes", "question": {}}),
    ("/v1/sweeps", {"nodes": [4], "degrees": [2]}, {"over": "time", "question": WORKLOAD}),
    ("/v1/sweeps", {"topology": {"recipe": "UniRing(3)"}}, {"over": "faults", "lost": ["host"]}),
]
"""Path, members without a former name, and members with former names and values."""


def current(members):
    """Return the members with current names and values."""
    found = {MEMBERS.get(name, name): value for name, value in members.items()}
    return {
        name: WORDS[name].get(value, value) if name in WORDS else value
        for name, value in found.items()
    }


def is_marked(answer):
    return answer.headers.get("Deprecation") == SINCE and PAGE in answer.headers.get("Link", "")


def test_every_former_member_is_in_a_case_below():
    sent = {name for _, _, former in FORMER for name in former}
    assert set(MEMBERS) <= sent | {"way", "unasked"}


@pytest.mark.parametrize(("path", "rest", "former"), FORMER)
@pytest.mark.one_in(3)
def test_a_request_with_former_names_has_the_same_answer_and_is_marked(client, path, rest, former):
    before = client.post(path, json=rest | former)
    assert before.status_code == 201, before.text
    assert is_marked(before)
    now = client.post(path, json=rest | current(former))
    assert now.status_code == 200 and not is_marked(now)
    assert now.json() == before.json()
    assert now.headers["Location"] == before.headers["Location"]
    # An answer can be read with former and with current names.
    listed = client.get(path).json()["items"][0]["request"]
    asked = set(former) & set(MEMBERS) & set(listed)
    assert asked and all(MEMBERS[name] in listed for name in asked)


@pytest.mark.parametrize(("path", "rest", "former"), FORMER)
@pytest.mark.one_in(3)
def test_two_values_under_two_names_are_one_error_at_the_former_name(client, path, rest, former):
    old = next(name for name in former if name in MEMBERS)
    refused = client.post(path, json=rest | current(former) | {old: "another"})
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [f"/{old}"]
    same = client.post(path, json=rest | current(former) | former)
    assert same.status_code == 201


def test_a_former_name_in_a_large_body_is_marked(client):
    # Workers parse large bodies.
    body = json.dumps(HOSTS | {"place": "free"}) + " " * 2**17
    headers = {"Content-Type": "application/json"}
    answers = [client.post("/v1/designs", content=body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert all(is_marked(answer) for answer in answers)
    assert client.post("/v1/designs", json=HOSTS | {"host_assignment": "free"}).status_code == 200


def test_an_error_names_the_member_as_the_client_sent_it(client):
    for name in ("place", "host_assignment"):
        refused = client.post("/v1/designs", json=HOSTS | {name: "anywhere"})
        assert refused.json()["errors"][0]["pointer"] == f"/{name}"
        assert f"/{name}:" in refused.json()["detail"]
    for name in ("present", "current_wiring"):
        sent = HOSTS | {name: [{"panel": 9, "a": 0, "b": 0}]}
        refused = client.post("/v1/designs", json=sent)
        assert refused.json()["errors"][0]["pointer"] == f"/{name}/0/panel"
        assert refused.json()["detail"].startswith(f"/{name}/0/panel: ")


def test_the_ids_of_documents_are_those_of_the_former_names(client):
    asked = client.post("/v1/sweeps", json={"kind": "sizes", "nodes": [4], "degrees": [2]}).json()
    defaults = {"links": "unidirectional", "parallel_links": False, "schedule": "best"}
    template = defaults | {"vertex_transitive": False}
    stored = {"over": "sizes", "nodes": [4], "degrees": [2], "question": template}
    assert asked["id"] == key("sweep", stored)


def test_repairs_and_observations_take_both_names(client):
    body = {"topology": {"recipe": "UniRing(4)"}, "hosts": 5, "ports_per_host": 2}
    plan = client.post("/v1/patch-plans", json=body).json()
    place = f"/v1/patch-plans/{plan['id']}"
    dead = {"hosts": ["3"]}
    answers = [
        client.post(f"{place}/repairs", json=dead | {name: "spare-host"})
        for name in ("way", "repair")
    ]
    assert [is_marked(answer) for answer in answers] == [True, False]
    assert answers[0].json() == answers[1].json()
    assert all(row["way"] == row["repair"] for row in answers[0].json()["repairs"])
    told = [
        client.post(f"{place}/{name}", json={"worst": 1}) for name in ("survey", "fault-analysis")
    ]
    assert [is_marked(answer) for answer in told] == [True, False]
    assert told[0].json() == told[1].json()


@pytest.mark.parametrize("name", ["unasked", "unsolicited"])
def test_an_observation_takes_both_names(client, name):
    job = Job(client)
    action = client.get(job.place).json()["action"]
    assert (action["do"], action["type"]) == ("save", "save")
    answer = job.post(**{name: False})
    assert is_marked(answer) == (name == "unasked")
    # A trainer that sends the former name may refuse members that it does not know.
    assert ("type" in answer.json()["action"]) == (name == "unsolicited")


@pytest.mark.parametrize("name", REMOVED)
def test_a_member_that_is_gone_has_no_effect_and_is_marked(client, name):
    asked = {"min_lr": 0.1, "max_lr": 1.0, "total_steps": 100}
    made = [client.post("/v1/lr-sessions", json=asked | more) for more in ({}, {name: True})]
    assert [answer.status_code for answer in made] == [201, 201]
    assert [is_marked(answer) for answer in made] == [False, True]
    plain, former = (answer.json()["options"] for answer in made)
    assert former == plain and name not in former


def test_a_flag_that_is_gone_has_no_effect_and_is_noted():
    for flag in REMOVED_OPTIONS:
        words = ["lr", "create", flag, "--min-lr", "0.1"]
        kept, notes = current_spelling(words)
        assert kept == ["lr", "create", "--min-lr", "0.1"]
        assert notes == [f"`{flag}` has no effect"]


@pytest.mark.parametrize("former", PATHS)
def test_a_former_path_is_served_and_marked(client, former):
    missing = "0" * 64
    before = client.get(former.replace("{id}", missing))
    now = client.get(PATHS[former].replace("{id}", missing))
    assert (before.status_code, is_marked(before)) == (now.status_code, True)
    if former == "/v1/verify":
        body = {"topology": {"recipe": "UniRing(3)"}, "schedule_id": missing}
        found = client.post(former, json=body).json()
        assert found | {"request_id": ""} == (
            client.post(PATHS[former], json=body).json() | {"request_id": ""}
        )


def test_routes_that_read_compute_nothing_unless_they_are_deprecated(client):
    routes = client.app.state.routes
    reading = [route for route in routes if "GET" in getattr(route, "methods", ())]
    computing = {route.path for route in reading if scope_of(route) == "design"}
    deprecated = {route.path for route in reading if route.deprecated}
    assert computing == deprecated


def test_deprecated_routes_give_the_answer_of_their_replacement(client):
    topology = client.post("/v1/topologies", json={"recipe": "BiRing(4)"}).json()["id"]
    source = {"topology": {"id": topology}}
    for kind, path in (("cost", "costs"), ("optimum", "optima")):
        made = client.post(f"/v1/{path}", json=source)
        read = client.get(f"/v1/topologies/{topology}/{kind}")
        assert is_marked(read) and not is_marked(made)
        assert read.json() == made.json()
    asked = source | {"collective": "allgather"}
    schedule = client.post("/v1/schedules", json=asked).json()["id"]
    before = client.post(f"/v1/schedules/{schedule}/simulation", json={"bytes": 1000})
    now = client.post("/v1/simulations", json={"schedule_id": schedule, "bytes": 1000})
    assert is_marked(before) and now.status_code == 200
    assert before.json() == now.json()


POSTED = {
    "/v1/designs": HOSTS,
    "/v1/frontiers": {"nodes": 4, "degree": 2},
    "/v1/topologies": {"recipe": "BiRing(4)"},
    "/v1/costs": {"topology": {"recipe": "BiRing(4)"}},
    "/v1/optima": {"topology": {"recipe": "BiRing(4)"}},
    "/v1/schedules": {"topology": {"recipe": "BiRing(4)"}, "collective": "allgather"},
    "/v1/comparisons": {"topology": {"recipe": "BiRing(4)"}, "collective": "allgather"},
    "/v1/patch-plans": {"topology": {"recipe": "BiRing(4)"}},
    "/v1/iterations": {"preset": "vit-22b", "nodes": 8, "degree": 2, "topology": "BiRing(8)"},
    "/v1/box-designs": {
        "box": "mi300x",
        "nodes": 2,
        "degree": 4,
        "collective": "allreduce",
        "bytes": "1GB",
    },
    "/v1/sweeps": {"kind": "sizes", "nodes": [4], "degrees": [2]},
    "/v1/simulations": {"bytes": 1000},
    "/v1/verifications": {},
    "/v1/lr-sessions": {"min_lr": 0.1, "max_lr": 1.0, "total_steps": 100},
}
"""Path of every route that creates a JSON document -> body; the test adds a schedule_id."""


@pytest.mark.slow
def test_the_body_of_every_post_is_that_of_its_location(client):
    creating = {route.path for route in client.app.state.routes if 201 in route.responses}
    # Drawings are no JSON; the answer that creates a key is the only one with the key.
    others = {path for path in creating if path.startswith("/v1/plots/")} | {"/v1/keys"}
    assert creating - others == set(POSTED)
    of_schedule = {}
    for path, body in POSTED.items():
        more = of_schedule if path in ("/v1/simulations", "/v1/verifications") else {}
        made = client.post(path, json=body | more)
        assert made.status_code in (200, 201), (path, made.text)
        document = made.json()
        # Only the answer to the POST has the secret of the session.
        document.pop("lease", None)
        read = client.get(made.headers["Location"])
        assert read.status_code == 200, path
        assert read.json() == document, path
        if path == "/v1/schedules":
            of_schedule = {"schedule_id": document["id"]}
            assert client.get(f"{path}/{document['id']}").json()["schema"] == "schedule/1"


@pytest.mark.slow
def test_a_drawing_is_created_by_post(client):
    pytest.importorskip("matplotlib")
    made = client.post("/v1/plots/frontier", json={"nodes": 4, "degree": 2})
    assert made.status_code == 201 and made.headers["Content-Type"].startswith("image/svg+xml")
    assert client.get(made.headers["Location"]).content == made.content
    before = client.get("/v1/plots/frontier?nodes=4&degree=2")
    assert is_marked(before) and before.content == made.content


def test_the_page_of_former_names_lists_all(client):
    page = client.get(PAGE).json()
    assert page["members"] == dict(MEMBERS) and page["options"] == dict(OPTIONS)
    assert set(page["removed"]) == {*REMOVED, *REMOVED_OPTIONS}
    shown = client.get(PAGE, headers={"Accept": "text/html"})
    assert shown.headers["Content-Type"].startswith("text/html")
    assert all(name in shown.text for name in (*MEMBERS, *PATHS))


def test_every_problem_type_is_a_page(client):
    refused = client.post("/v1/designs", json={}).json()
    page = client.get(refused["type"]).json()
    assert (page["title"], page["status"]) == (refused["title"], 422)
    assert page["meaning"] and page["remedy"]
    shown = client.get(refused["type"], headers={"Accept": "text/html,*/*;q=0.8"})
    assert shown.headers["Content-Type"].startswith("text/html") and page["remedy"] in shown.text
    assert client.get("/problems/no-such").status_code == 404


def test_no_page_of_a_problem_has_markup_of_the_source():
    for page in pages().values():
        assert "``" not in page.meaning + page.remedy, page.type


def test_a_former_option_works_with_one_note(topoloom, tmp_path):
    before = topoloom("patch", "UniRing(3)", "--lanes", "2", "--place=free")
    now = topoloom("patch", "UniRing(3)", "--ports-per-host", "2", "--host-assignment=free")
    assert json.loads(before.out) == json.loads(now.out)
    assert before.err.splitlines() == [
        "note: `--lanes` is now `--ports-per-host`; the next release removes the old name",
        "note: `--place` is now `--host-assignment`; the next release removes the old name",
    ]
    assert now.err == ""


def test_the_former_name_of_a_python_function_warns():
    with pytest.warns(DeprecationWarning, match=r"topoloom\.compare"):
        found = topoloom_package.ways
    assert found is topoloom_package.compare


def test_an_option_under_both_names_is_refused(topoloom):
    refused = topoloom("patch", "UniRing(3)", "--lanes", "2", "--ports-per-host", "2")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "topoloom: --lanes: must not be combined with --ports-per-host\n"
