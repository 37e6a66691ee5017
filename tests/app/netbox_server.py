"""A NetBox with branches, by HTTP: cables of panels in memory, and the requests that it got.

Every request and every answer is checked against the interface that NetBox itself publishes.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import jsonschema_rs

SCHEMA = json.loads((Path(__file__).parent / "data" / "netbox-4.7-schema.json").read_text())
TOKEN = "nbt_0123456789ab.secret"
FRONT, REAR, INTERFACE = "dcim.frontport", "dcim.rearport", "dcim.interface"
BRANCHES = "plugins/branching/branches/"
LISTS = {"dcim/cables/": "Cable", "dcim/front-ports/": "FrontPort", BRANCHES: "Branch"}


def check(name, value):
    """Raise unless a value is what NetBox's interface says."""
    jsonschema_rs.validate({**SCHEMA, "$ref": f"#/$defs/{name}"}, value)


class Refused(Exception):
    """Status and body of a refusal."""


class NetBox:
    """One panel with front and rear ports of the same number, hosts with cables to rear ports."""

    def __init__(self, hosts, ports, most_rows=3):
        self.most_rows = most_rows
        self.requests = []
        self.refuse = None  # (method, path): the next such request is refused
        self.new_status = "ready"  # what a branch becomes after provisioning
        self.ids = count(1)
        self.named = {}  # (type, id) -> object
        self.branches = {}  # id -> row
        self.states = {None: {}}  # schema id -> cables by id
        for number in range(1, hosts * ports + 1):
            self._object(REAR, 100 + number, "p1", f"Rear {number}")
            self._object(FRONT, 200 + number, "p1", f"Front {number}")
            host, port = divmod(number - 1, ports)
            self._object(INTERFACE, 300 + number, f"h{host}", f"eth{port}")
            self.plug((INTERFACE, 300 + number), (REAR, 100 + number))

    def _object(self, kind, number, device, name):
        owner = {"id": 1 if device == "p1" else 2 + int(device[1:]), "name": device}
        self.named[kind, number] = {
            "id": number,
            "url": f"http://netbox/api/{number}/",
            "display": name,
            "name": name,
            "device": {**owner, "display": device, "url": "http://netbox/api/device/"},
        }

    def plug(self, a, b, state=None, **row):
        """Create a cable, as the database does it: a port holds one."""
        cables = self.states[state]
        taken = {end for cable in cables.values() for end in (cable["a"], cable["b"])}
        if taken & {a, b} or not {a, b} <= self.named.keys():
            raise Refused(400, [{"__all__": ["Duplicate termination found"]}])
        cables[next(self.ids)] = {"status": "connected", "label": "", "description": "", **row} | {
            "a": a,
            "b": b,
        }

    def jumpers(self, state=None):
        """Return the labels of the jumpers by their two front ports."""
        return {
            frozenset((cable["a"][1] - 200, cable["b"][1] - 200)): cable["label"]
            for cable in self.states[state].values()
            if cable["a"][0] == FRONT
        }

    def branch(self, name):
        """Return the row of a branch."""
        return next(row for row in self.branches.values() if row["name"] == name)

    def answer(self, method, path, query, state, body):
        """Return status and body of the answer to a request."""
        if (method, path) == self.refuse:
            self.refuse = None
            raise Refused(500, {"error": "the database is away"})
        if state not in self.states:
            raise Refused(400, "Invalid branch identifier")
        if path in LISTS and method == "GET":
            return 200, self.page(path, query, state)
        if path == "dcim/cables/":
            return self._change_cables(method, body, state)
        if path == BRANCHES and method == "POST":
            check("WritableBranchRequest", body)
            number = len(self.branches) + 1
            row = {"id": number, "schema_id": f"schema{number}", "status": "new", **body}
            self.branches[number] = row
            return 201, self._branch(row)
        return self._one_branch(method, int(path.removeprefix(BRANCHES).rstrip("/")), body)

    def page(self, path, query, state):
        """Return a page of a list."""
        rows = {
            "dcim/cables/": lambda: [self._cable(*item) for item in self.states[state].items()],
            "dcim/front-ports/": lambda: [
                row
                | {"rear_ports": [{"position": 1, "rear_port": n - 100, "rear_port_position": 1}]}
                for (kind, n), row in self.named.items()
                if kind == FRONT
            ],
            BRANCHES: lambda: [
                self._branch(row)
                for row in self.branches.values()
                if row["name"] == query.get("name", row["name"])
            ],
        }[path]()
        first = int(query.get("offset", 0))
        page = rows[first : first + min(self.most_rows, int(query.get("limit", 50)))]
        answer = {"count": len(rows), "next": None, "previous": None, "results": page}
        check(f"Paginated{LISTS[path]}List", answer)
        return answer

    def _cable(self, number, cable):
        ends = {
            f"{side}_terminations": [
                {
                    "object_type": cable[side][0],
                    "object_id": cable[side][1],
                    "object": self.named[cable[side]],
                }
            ]
            for side in "ab"
        }
        status = {"value": cable["status"], "label": cable["status"].title()}
        kept = {name: cable[name] for name in ("label", "description")} | {"status": status}
        return {"id": number, "url": "http://netbox/c/", "display": f"#{number}", **kept, **ends}

    def _change_cables(self, method, body, state):
        before = dict(self.states[state])
        request = {"POST": "WritableCableRequest", "PATCH": "PatchedBulkCableRequest"}.get(method)
        try:
            for row in body:
                if request:
                    check(request, row)
                if method == "POST":
                    a, b = (
                        tuple(
                            row[f"{side}_terminations"][0][name]
                            for name in ("object_type", "object_id")
                        )
                        for side in "ab"
                    )
                    self.plug(
                        a, b, state, **{n: row[n] for n in ("status", "label", "description")}
                    )
                elif method == "PATCH":
                    self.states[state][row["id"]] = self.states[state][row["id"]] | row
                else:
                    del self.states[state][row["id"]]
        except Refused:
            self.states[state] = before
            raise
        return (204, None) if method == "DELETE" else (200, [])

    def _one_branch(self, method, number, body):
        row = self.branches[number]
        if method == "DELETE":
            del self.branches[number]
            return 204, None
        if method == "PATCH":
            check("PatchedWritableBranchRequest", body)
            row |= body
        elif row["status"] == "new":
            row["status"] = "provisioning"
        elif row["status"] == "provisioning":
            row["status"] = self.new_status
            self.states[row["schema_id"]] = dict(self.states[None])
        return 200, self._branch(row)

    def _branch(self, row):
        answer = {
            **row,
            "url": "http://netbox/b/",
            "display": row["name"],
            "status": {"value": row["status"], "label": row["status"].title()},
        }
        check("Branch", answer)
        return answer


class _Handler(BaseHTTPRequestHandler):
    def _handle(self):
        netbox, split = self.server.netbox, urlsplit(self.path)
        path = split.path.removeprefix("/api/")
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        state = self.headers.get("X-NetBox-Branch")
        netbox.requests.append((self.command, path, state))
        try:
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                raise Refused(403, {"detail": f"Invalid token {self.headers['Authorization']}"})
            query = dict(parse_qsl(split.query))
            status, answer = netbox.answer(self.command, path, query, state, body)
        except Refused as refused:
            status, answer = refused.args
        content = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def serving(netbox):
    """Serve a NetBox on a free port; yield its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.netbox = netbox
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
