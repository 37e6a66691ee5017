"""No text of a request becomes a file name, a part of a statement, or an entity of XML."""

import copy
import io
import sys
import zipfile
from urllib.parse import quote
from xml.parsers import expat

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from topoloom.app.api.main import create_app
from topoloom.app.auth import api_keys
from topoloom.app.config import Settings

MARK = "zq7hostile"
HOSTILE = [
    f"../../../../{MARK}/etc/passwd",
    f"/{MARK}",
    f"@{MARK}.json",
    f"file:///{MARK}",
    f"{MARK}'; DROP TABLE topologies; --",
    f'{MARK}" OR "1"="1',
    f"{MARK}%_",
    f"{MARK}\\",
    f"LineGraph(2, @{MARK})",
    f"BiRing({MARK})",
]
RING = {
    "schema": "topology/1",
    "name": "ring",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": "a", "kind": "compute"}, {"id": "b"}, {"id": "c"}],
    "links": [
        {"source": "a", "target": "b", "capacity": "1/2"},
        {"source": "b", "target": "c", "capacity": "1/2"},
        {"source": "c", "target": "a", "capacity": "1/2"},
    ],
}
TEXT = "a b 1\nb c 1\nc a 1\n"
BODIES = [
    ("/v1/designs", {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB",
                     "families": ["Circulant"], "links": "unidirectional"}),
    ("/v1/designs", {"nodes": 6, "degree": 2, "preset": "gpt2-xl-ddp"}),
    ("/v1/topologies", {"recipe": "UniRing(5)"}),
    ("/v1/topologies", {"fabric": "dgx-1v", "changes": {"without_nodes": ["gpu0"]}}),
    ("/v1/topologies", {"name": "uniring-5x1"}),
    ("/v1/topologies", {"id": "0" * 64}),
    ("/v1/topologies", {"document": RING}),
    ("/v1/topologies", {"text": TEXT, "format": "edgelist", "unit": "GB/s",
                        "capacity_attribute": "weight", "kind_attribute": "kind",
                        "switch_values": ["switch"]}),
    ("/v1/topologies", {"recipe": "LineGraph(1, @g)", "graphs": {"g": {"text": TEXT}}}),
    ("/v1/schedules", {"topology": {"recipe": "UniRing(5)"}, "collective": "allgather",
                       "algorithm": "bfb", "root": "0", "participants": ["0", "1"],
                       "shards": [{"rank": "0", "size": 1}], "max_gap": "1/10"}),
    ("/v1/patch-plans", {"topology": {"recipe": "BiRing(6)"}, "panels": "single"}),
]  # fmt: skip
PATHS = [
    "/v1/designs/{}", "/v1/topologies/{}", "/v1/topologies/{}/cost", "/v1/schedules/{}",
    "/v1/patch-plans/{}", "/v1/designs?cursor={}", "/v1/topologies?limit={}", "/{}",
    "/v1/topologies/000000?format={}", "/v1/schedules/000000?dialect={}&bytes={}",
    "/v1/topologies/000000/optimum?root={}&collective={}", "/static-offline-docs/{}",
]  # fmt: skip


def leaves(body, path=()):
    """Yield the path of every text, and of every name of a member, in a body."""
    if isinstance(body, str):
        yield path
    elif isinstance(body, dict | list):
        items = body.items() if isinstance(body, dict) else enumerate(body)
        for name, value in items:
            yield from leaves(value, (*path, name))


def replaced(body, path, text):
    made = copy.deepcopy(body)
    place = made
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = text
    return made


class Watch:
    """What the interpreter opens and what the database is told, while it is on."""

    def __init__(self):
        self.on, self.names, self.statements = False, [], []
        sys.addaudithook(self._audited)

    def _audited(self, name, given):
        if self.on and name.partition(".")[0] in ("open", "os", "shutil", "subprocess", "socket"):
            self.names.append(repr(given))

    def told(self, connection, cursor, statement, parameters, *_):
        if self.on:
            self.statements.append(statement)


WATCH = Watch()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('hostile') / 't.db'}"
    app = create_app(Settings(database_url=url, auth="keys", rate_burst=100_000))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        engine = app.state.engine
        event.listen(engine, "before_cursor_execute", WATCH.told)
        client.headers["Authorization"] = f"Bearer {api_keys.create(engine, 'a', ['admin'])[1]}"
        for path, body in BODIES:
            client.post(path, json=body)
        WATCH.names.clear(), WATCH.statements.clear()
        WATCH.on = True
        yield client
        WATCH.on = False


def require_untouched():
    assert not [name for name in WATCH.names if MARK in name]
    assert not [statement for statement in WATCH.statements if MARK in statement]


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("path", "body"), BODIES, ids=lambda one: str(one)[:40])
def test_no_text_of_a_body_names_a_file_or_is_sql(watched, path, body):
    for place in leaves(body):
        for text in HOSTILE:
            answer = watched.post(path, json=replaced(body, place, text))
            assert answer.status_code < 500, (place, text, answer.text)
        answer = watched.post(path, json={**body, f"{MARK}/../x": 1})
        assert answer.status_code == 422
    require_untouched()


@pytest.mark.parametrize("path", PATHS)
def test_no_text_of_a_path_or_query_names_a_file_or_is_sql(watched, path):
    for text in HOSTILE:
        for sent in (quote(text, safe=""), quote(text)):
            assert watched.get(path.replace("{}", sent)).status_code < 500
    # The files of the documentation are looked up in their folder, and nowhere else.
    if not path.startswith("/static"):
        require_untouched()
    else:
        names = [name for name in WATCH.names if MARK in name]
        assert all("fastapi_offline/static" in name for name in names)
        WATCH.names.clear()


@pytest.mark.parametrize(
    "name",
    ["X-Request-ID", "Accept", "If-None-Match", "Accept-Encoding", "Authorization", "Cookie"],
)
def test_no_header_names_a_file_or_is_sql(watched, name):
    for text in HOSTILE:
        value = f"Bearer {text}" if name == "Authorization" else text
        assert watched.get("/v1/designs", headers={name: value}).status_code < 500
    require_untouched()


def test_the_watch_sees_what_it_watches_for(watched, tmp_path):
    with pytest.raises(FileNotFoundError):
        (tmp_path / MARK).read_text()
    assert any(MARK in name for name in WATCH.names)
    WATCH.names.clear()
    WATCH.statements.clear()
    assert watched.get("/v1/designs?limit=1").status_code == 200
    assert any("FROM designs" in statement for statement in WATCH.statements)


GRAPHML = """<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>
<edge source="a" target="b"/><edge source="b" target="{}"/></graph></graphml>"""
GEXF = """<gexf version="1.3"><graph defaultedgetype="directed"><nodes><node id="a"/>
<node id="b"/></nodes><edges><edge source="a" target="b"/><edge source="b" target="{}"/></edges>
</graph></gexf>"""
NCCL = """<system version="1"><cpu numaid="{}" affinity="f" arch="x86_64" vendor="GenuineIntel"
familyid="6" modelid="85"></cpu></system>"""
EXTERNAL = f'<!DOCTYPE g [<!ENTITY e SYSTEM "file:///{MARK}/etc/passwd">]>'
PARAMETER = f'<!DOCTYPE g [<!ENTITY % e SYSTEM "file:///{MARK}/x.dtd"> %e;]>'
SYSTEM = f'<!DOCTYPE g SYSTEM "http://127.0.0.1:1/{MARK}.dtd">'
LAUGHS = "<!DOCTYPE g [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12)
)


@pytest.mark.parametrize("form", ["graphml", "gexf", "nccl-xml"])
@pytest.mark.parametrize(
    ("doctype", "used"),
    [(EXTERNAL, "&e;"), (PARAMETER, "a"), (SYSTEM, "a"), (LAUGHS + "<!ENTITY e 'x'>]>", "&a12;")],
    ids=["external", "parameter", "system", "laughs"],
)
@pytest.mark.one_in(3)
def test_entities_are_refused_before_they_mean_anything(watched, form, doctype, used):
    body = {"graphml": GRAPHML, "gexf": GEXF, "nccl-xml": NCCL}[form].format(used)
    answer = watched.post("/v1/topologies", json={"text": doctype + body, "format": form})
    assert answer.status_code == 422
    assert "must have no DOCTYPE" in answer.json()["detail"]
    require_untouched()


NAMES = ['"><script>alert(1)</script>', "a&b;'c", "]]>", "<!ENTITY x>", "../../up", "ü"]


def test_names_of_nodes_are_text_in_every_xml_that_is_written(watched):
    nodes = [{"id": name} for name in NAMES]
    links = [{"source": a, "target": b} for a, b in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)]
    document = {"schema": "topology/1", "name": NAMES[0], "nodes": nodes, "links": links}
    made = watched.post("/v1/topologies", json={"document": document})
    assert made.status_code == 201, made.text
    place = made.headers["Location"]
    for form in ("graphml", "gexf"):
        written = watched.get(place, params={"format": form}).text
        assert expat.ParserCreate().Parse(written, True)
        assert "<script" not in written
        assert "<!ENTITY" not in written
        read = watched.post("/v1/topologies", json={"text": written, "format": form})
        assert {node["id"] for node in read.json()["nodes"]} == set(NAMES)
    asked = {"topology": {"id": made.json()["id"]}, "collective": "allgather"}
    schedule = watched.post("/v1/schedules", json=asked).headers["Location"]
    xml = watched.get(schedule, params={"format": "msccl-xml"}).text
    assert expat.ParserCreate().Parse(xml, True)
    assert "<script" not in xml
    packed = watched.get(schedule, params={"format": "chakra-et", "bytes": "1MB"}).content
    for name in zipfile.ZipFile(io.BytesIO(packed)).namelist():
        assert "/" not in name and ".." not in name
