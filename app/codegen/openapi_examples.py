"""Write the examples of the OpenAPI document: requests that are sent to a service, with answers.

``python -m topoloom.app.codegen.openapi_examples`` writes ``app/api/openapi_examples.json``; tests
send the requests again, and check every example against its schema.
"""

import json
import time
from collections.abc import Mapping
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app
from topoloom.app.api.openapi_document import EXAMPLES_FILE
from topoloom.app.auth import api_keys
from topoloom.app.client.openapi_operations import KINDS
from topoloom.app.config import Settings
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plant import plant_document
from topoloom.synth.wiring.plant.regular_plants import smallest_plant

ACCEPTED = 202

MAX_TEXT = 600
"""Longest text of an answer that is not JSON, in characters; the rest is left out."""

WEBHOOK_HOST = "127.0.0.1:9"

RING = {"recipe": "BiRing(4)"}
SIZES = {"nodes": 6, "degree": 2}
DESIGN = SIZES | {"collective": "allreduce", "bytes": "1MiB"}
BOXES = {"box": "mi300x", "nodes": 4, "degree": 4, "collective": "allreduce", "bytes": "1GB"}
ITERATION = {"preset": "mixtral-8x7b", "nodes": 8, "degree": 2, "topology": "BiRing(8)"}
ITERATIONS = {"kind": "iteration", "jobs": ["mixtral-8x7b"], "topologies": ["BiRing(8)"]} | {
    "degrees": [2]
}
GROUPS = {
    "topology": {"recipe": "BiRing(4)"},
    "groups": "tensor=2,data=2",
    "traffic": {
        "tensor": {"collective": "allreduce", "bytes": "1MiB"},
        "data": {"collective": "all-to-all", "bytes": "1MiB"},
    },
}
TRACE = {
    "instances": "goal_rank,stream,start,end,commId,collective,algo,proto,nranks,data_size,"
    "channels,chunkSteps,sliceSteps,stepSize\n"
    "0,7,1000,181000,dp,AllReduce,ring,simple,8,4194304,1,4,2,524288\n"
    "0,7,250000,300000,dp,AllGather,ring,simple,8,131072,1,4,2,524288\n",
    "accelerators_per_host": 4,
}
OXC = {
    "ranktable": {"version": "2.0", "status": "completed", "rank_count": 2, "rank_list": []},
    "dpCommDomain": [[0, 8], [1, 9]],
    "commDomainVolume": 1048576,
    "rankIdRackIdMap": {"0": "rack_0", "8": "rack_1"},
    "algName": "ALGO_OXC_RING",
}
BODIES: dict[str, dict[str, Any]] = {
    "createDesign": DESIGN,
    "createDesigns": {"designs": [DESIGN]},
    "createFrontier": SIZES,
    "createTopology": RING,
    "createCost": {"topology": RING},
    "createOptimum": {"topology": RING},
    "createSchedule": {"topology": RING, "collective": "allgather"},
    "createComparison": {"topology": RING, "collective": "allgather"},
    "createPatchPlan": {"topology": RING, "panels": "per-port"},
    "createSweep": {"kind": "fault-analysis", "topology": RING, "lost": ["link"]},
}
"""Operation -> body of its example, for operations that need no other document."""


class Recorder:
    """Sends the examples to a service, and keeps each with its answer."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self._document = document = client.get("/openapi.json").json()
        self._places = {
            operation["operationId"]: (method, path)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        }
        self.examples: dict[str, Any] = {}

    def __call__(
        self,
        operation_id: str,
        /,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **path: Any,
    ) -> Any:
        """Send the example of an operation; return its answer."""
        method, place = self._places[operation_id]
        send = partial(self._client.request, method, place.format(**path))
        answer = send(params=query, json=body, headers=headers)
        while answer.status_code == ACCEPTED and body is not None and headers is None:
            # The machine is busy: the same request waits for the same job.
            answer = send(params=query, json=body)
        if answer.status_code >= 400:
            raise RuntimeError(f"{operation_id}: {answer.text}")
        self._require_headers(operation_id, answer)
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        found = answer.json() if media_type == "application/json" else answer.text
        parameters = {"path": path, "query": query, "header": headers}
        example = {
            "parameters": {where: given for where, given in parameters.items() if given},
            "status": str(answer.status_code),
        }
        example |= {} if body is None else {"body": body}
        if media_type:
            short = found if isinstance(found, dict) else found[:MAX_TEXT]
            example |= {"media_type": media_type, "answer": short}
        self.examples[operation_id] = example
        return found

    def await_begin(self, job: str) -> None:
        """Return when a job is not queued any more; a queued job is cancelled at once, with 200."""
        while self._client.get(f"/v1/jobs/{job}").json()["state"] == "queued":
            time.sleep(0.01)

    def _require_headers(self, operation_id: str, answer: Any) -> None:
        """Raise an error if an answer lacks a header that the document promises."""
        method, place = self._places[operation_id]
        answers = self._document["paths"][place][method]["responses"]
        headers = self._document["components"]["headers"]
        for name in answers[str(answer.status_code)]["headers"]:
            if headers[name]["required"] and name not in answer.headers:
                raise RuntimeError(f"{operation_id}: no header {name}")


def record_examples() -> dict[str, Any]:
    """Return an example of every operation: its parameters, body, status and answer."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/topoloom.db"
        app = create_app(
            Settings(
                database_url=url,
                auth="keys",
                wait_seconds=60,
                webhook_hosts=WEBHOOK_HOST,
                webhook_private=True,
                webhook_secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            )
        )
        with TestClient(app, base_url="http://localhost") as client:
            key = api_keys.create(app.state.engine, "operator", ["admin"])[1]
            client.headers["Authorization"] = f"Bearer {key}"
            record = Recorder(client)
            made = _computed(record)
            _patch_plans(record, made)
            _plots(record, made)
            _jobs(record)
            _learning_rates(record)
            _names(record)
            _administration(record)
            for kind, plural in KINDS.items():
                _stored(record, kind, plural, made[kind])
            for kind in KINDS:
                record(f"delete{kind}", id=made[kind])
    return dict(sorted(record.examples.items()))


def _computed(record: Recorder) -> dict[str, str]:
    """Record the computations; return kind -> id."""
    made = {"Iterations": record("createSweep", ITERATIONS)}
    made |= {name: record(name, body) for name, body in BODIES.items()}
    topology, schedule = made["createTopology"]["id"], made["createSchedule"]["id"]
    made["createVerification"] = record("createVerification", {"schedule_id": schedule})
    timed = {"schedule_id": schedule, "bytes": "1MiB"}
    made["createSimulation"] = record("createSimulation", timed)
    record("simulateSchedule", {"bytes": "1MiB"}, id=schedule)
    record("readCost", id=topology)
    record("readOptimum", query={"collective": "allreduce"}, id=topology)
    record("findBest", query=SIZES)
    record("scheduleGroups", GROUPS)
    made["createBoxDesign"] = record("designBoxes", BOXES)
    made["createIteration"] = record("simulateIteration", ITERATION)
    record("findNetworkCurves", TRACE)
    record("scheduleOxcAllreduce", OXC)
    return {name.removeprefix("create"): answer.get("id", "") for name, answer in made.items()}


def _patch_plans(record: Recorder, made: Mapping[str, str]) -> None:
    plan = record("readPatchPlan", id=made["PatchPlan"])
    record("readPatchProgress", id=plan["id"])
    panel, state = next(iter(plan["final"].items()))
    pairs = [{"a": pair["a"], "b": pair["b"]} for pair in state["pairs"]]
    seen = {"panels": {panel: pairs}}
    record("observePatchPlan", seen, headers={"If-Match": '"0"'}, id=plan["id"])
    record("repairPatchPlan", {"hosts": ["0"]}, id=plan["id"])
    record("analyzePatchPlanFaults", {"worst": 1}, id=plan["id"])
    record("giveUpPatchPlan", id=plan["id"])
    plant = plant_document(smallest_plant(Topology(range(3), [(0, 1), (1, 2), (2, 0)])))
    record("crossWirePlant", {"plant": plant})


def _plots(record: Recorder, made: dict[str, str]) -> None:
    schedule = {"schedule_id": made["Schedule"]}
    plots: dict[str, dict[str, Any]] = {
        "Frontier": SIZES,
        "Sizes": SIZES | {"collective": "allreduce"},
        "Load": schedule,
        "Tree": schedule | {"root": "0"},
        "FaultAnalysis": {"sweep_id": made["Sweep"]},
    }
    for name, question in plots.items():
        record(f"draw{name}", question)
        record(f"get{name}Plot", query=question)
    record("drawIterations", {"sweep_id": made["Iterations"]})
    made["Plot"] = record("listPlots", query={"limit": 1})["items"][0]["id"]


def _jobs(record: Recorder) -> None:
    first = {"headers": {"Prefer": "respond-async", "Topoloom-Webhook": f"http://{WEBHOOK_HOST}/"}}
    job = record("createDesign", DESIGN | {"nodes": 8}, **first)
    record("readJobEvents", id=job["id"])
    record("readJob", id=job["id"])
    [delivery] = record("listDeliveries", id=job["id"])["items"]
    record("resendDelivery", id=job["id"], delivery=delivery["id"])
    record("listJobs", query={"limit": 1, "count": True})
    record("deleteJob", id=job["id"])
    large = record("createFrontier", {"nodes": 2048, "degree": 4}, headers=first["headers"])
    record.await_begin(large["id"])
    record("cancelJob", id=large["id"])
    for name in ("createDesign", "createFrontier"):
        record(name, BODIES[name])


def _learning_rates(record: Recorder) -> None:
    options = {"min_lr": 0.001, "max_lr": 1.0, "total_steps": 1000, "name": "run 7"}
    session = record("createLrSession", options)
    path = {"id": session["id"]}
    saved = {"lease": session["lease"], "sequence": 1, "losses": []}
    record("observeLrSession", saved, **path)
    longer = {"lease": session["lease"], "sequence": 2, "total_steps": 2000}
    record("extendLrSession", longer, **path)
    record("attachLrSession", {"lease": session["lease"]}, **path)
    record("readLrSession", **path)
    record("readLrHistory", **path)
    record("listLrSessions", query={"limit": 1})
    record("cancelLrSession", **path)
    record("deleteLrSession", **path)


def _names(record: Recorder) -> None:
    """Record the operations without an id."""
    record("readProblem", name="not-stored")
    record("readAtlas", query={"nodes": 8, "degree": 2})
    for name in ("listFamilies", "listFabrics", "listPresets", "readCache", "readHealth",
                 "readReadiness", "readVersion", "readMetrics", "readDeprecations"):  # fmt: skip
        record(name)


def _administration(record: Recorder) -> None:
    key = record("createKey", {"name": "nightly sweeps", "scopes": ["design"], "days": 90})
    record("readKey", id=key["id"])
    record("listKeys")
    record("revokeKey", id=key["id"])
    record("readAuditLog", query={"limit": 1, "action": "revokeKey"})


def _stored(record: Recorder, kind: str, plural: str, identity: str) -> None:
    """Record what all kinds of stored documents share."""
    record(f"list{plural}", query={"limit": 1})
    stored = "Stored" if kind in ("Cost", "Optimum") else ""
    record(f"read{stored}{kind}", id=identity)
    record(f"label{kind}", id=identity, label="rack-7")
    record(f"read{kind}Labels", id=identity)
    record(f"unlabel{kind}", id=identity, label="rack-7")
    record(f"pin{kind}", id=identity)
    record(f"unpin{kind}", id=identity)
    record(f"share{kind}", id=identity)
    record(f"unshare{kind}", id=identity)


def examples_text(examples: Mapping[str, Any]) -> str:
    """Return the text of the file: one operation a line."""
    lines = (f"{json.dumps(name)}: {json.dumps(example)}" for name, example in examples.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    EXAMPLES_FILE.write_text(examples_text(record_examples()))
