"""The service under load: cached answers, exports, hostile bodies, start and stop.

``python -m benchmarks.bench_service [idle] [load] [bodies] [twins] [start]`` starts services on
their own databases and prints a line of JSON for each figure.
"""

import json
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx

from benchmarks.service_process import Service, line, percentile, started

PORT = 18765
DESIGN = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
JSON = {"Content-Type": "application/json"}
READS = 600
CLIENTS = 16


def database(folder: str, name: str) -> str:
    """Return the URL of a new database."""
    return f"sqlite:///{Path(folder) / name}.db"


def idle(folder: str) -> None:
    """Time cached GET and POST: milliseconds, CPU, requests a second at 16 clients."""
    with started(database(folder, "idle"), PORT) as service, service.client() as client:
        place = client.post("/v1/designs", json=DESIGN).headers["Location"]
        for name, ask in _cached(place).items():
            request = _written(client, name, place)
            for _ in range(50):
                ask(client)
            before = service.cpu_seconds
            seconds = [_timed(ask, client) for _ in range(READS)]
            cpu = 1000 * (service.cpu_seconds - before) / READS
            line(
                case=f"idle cached {name}",
                p50_ms=percentile(seconds, 0.5),
                p99_ms=percentile(seconds, 0.99),
                cpu_ms=round(cpu, 3),
                requests_per_s=_throughput(service, request),
            )


def _cached(place: str) -> dict[str, Callable[[httpx.Client], object]]:
    return {
        "GET": lambda client: client.get(place).raise_for_status(),
        "POST": lambda client: client.post("/v1/designs", json=DESIGN).raise_for_status(),
    }


def _timed(ask: Callable[[httpx.Client], object], client: httpx.Client) -> float:
    start = time.perf_counter()
    ask(client)
    return time.perf_counter() - start


def _written(client: httpx.Client, name: str, place: str) -> bytes:
    """Return the bytes of one of the cached requests."""
    body = json.dumps(DESIGN).encode() if name == "POST" else None
    path, headers = ("/v1/designs", JSON) if body else (place, {})
    request = client.build_request(name, path, content=body, headers=headers)
    lines = [
        f"{name} {path} HTTP/1.1",
        *(f"{key}: {text}" for key, text in request.headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def _throughput(service: Service, request: bytes) -> int:
    """Return the answers per second of 16 clients, each on its own connection.

    They write bytes and count bytes: a client that parses HTTP takes longer than the service.
    """
    url = httpx.URL(service.url)
    with socket.create_connection((url.host, url.port)) as first:
        length = _answered(first, request)

    def many(_: int) -> None:
        with socket.create_connection((url.host, url.port)) as connection:
            for _ in range(READS):
                _answered(connection, request, length)

    start = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(many, range(CLIENTS)))
    return round(CLIENTS * READS / (time.perf_counter() - start))


def _answered(connection: socket.socket, request: bytes, length: int = 0) -> int:
    """Send a request; return the received bytes, at least ``length`` or the whole answer."""
    connection.sendall(request)
    answer = b""
    while not answer or len(answer) < (length or _length(answer)):
        received = connection.recv(65_536)
        if not received:
            raise ConnectionError("the service ended the connection")
        answer += received
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise ConnectionError(f"the service answered {answer[:40]!r}")
    return len(answer)


def _length(answer: bytes) -> int:
    """Return the length of an answer by its header; more than received for a partial header."""
    head, end, _ = answer.partition(b"\r\n\r\n")
    said = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return len(head + end) + int(said[1]) if end and said else len(answer) + 1


def load(folder: str) -> None:
    """Time the same during ten long computations and ten large exports; memory of the process."""
    url = database(folder, "load")
    with started(url, PORT) as service, service.client() as client:
        place = client.post("/v1/designs", json=DESIGN).headers["Location"]
        made = client.post(
            "/v1/schedules",
            json={
                "topology": {"recipe": "LineGraph(3, Circulant(16, 3, 4))"},
                "collective": "allreduce",
            },
        ).json()
        schedule = f"/v1/schedules/{made['id']}"
        for number in range(10):
            _in_background(_long_work, service, number)
            _in_background(_export, service, f"{schedule}?format=msccl-xml&inplace={number % 2}")
            _in_background(_export, service, f"{schedule}?format=chakra-et&bytes={2**30 + number}")
        time.sleep(5)
        most = service.resident_bytes
        for name, ask in (_cached(place) | {"/healthz": lambda c: c.get("/healthz")}).items():
            seconds = [_timed(ask, client) for _ in range(READS)]
            most = max(most, service.resident_bytes)
            line(
                case=f"ten jobs and twenty exports, {name}",
                p50_ms=percentile(seconds, 0.5),
                p99_ms=percentile(seconds, 0.99),
                max_ms=percentile(seconds, 1),
            )
        line(case="memory of the process", mib=most >> 20)
        line(case="SIGTERM under this load", seconds=round(service.stop(), 2))


def _in_background(work: Callable[..., object], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _long_work(service: Service, number: int) -> None:
    topology = {"recipe": f"GeneralizedKautz(4, {1280 + number})"}
    asked = {"topology": topology, "collective": "allgather", "algorithm": "forestcoll"}
    _answer(service, "/v1/schedules", json.dumps(asked).encode())


def _export(service: Service, place: str) -> None:
    try:
        with service.client() as client:
            client.get(place)
    except httpx.TransportError:
        return


def _answer(service: Service, path: str, body: bytes) -> httpx.Response | None:
    try:
        with service.client() as client:
            return client.post(path, content=body, headers=JSON)
    except httpx.TransportError:
        return None


def bodies(folder: str) -> None:
    """Send hostile bodies: times of /healthz, and sizes of the answers."""
    with started(database(folder, "bodies"), PORT) as service:
        for name, (path, body) in hostile().items():
            with ThreadPoolExecutor(1) as pool, service.client() as client:
                start = time.perf_counter()
                asked = pool.submit(_answer, service, path, body)
                seconds = [_timed(lambda c: c.get("/healthz"), client)]
                while not asked.done():
                    seconds.append(_timed(lambda c: c.get("/healthz"), client))
                answer = asked.result()
                line(
                    case=name,
                    mib=round(len(body) / 2**20, 1),
                    status=answer.status_code if answer else None,
                    answer_kib=round(len(answer.content) / 2**10, 1) if answer else None,
                    seconds=round(time.perf_counter() - start, 2),
                    healthz_max_ms=percentile(seconds, 1),
                )
        line(case="memory of the process after them", mib=service.resident_bytes >> 20)


def hostile() -> dict[str, tuple[str, bytes]]:
    """Return hostile bodies by their fault, each with its path."""
    unknown = json.dumps({f"k{n}": 0 for n in range(1_000_000)}).encode()
    wrong = json.dumps({"document": {"schema": "topology/1", "nodes": [{}] * 800_000}}).encode()
    ring = [(n, (n + jump) % 16_000) for jump in (1, 2, 3, 5, 8, 13) for n in range(16_000)]
    links = [{"source": source, "target": target, "capacity": 1} for source, target in ring]
    nodes = [{"id": n, "kind": "compute"} for n in range(16_000)]
    large = {"schema": "topology/1", "name": "", "bandwidth_unit": "link"}
    shards = [{"rank": n, "size": -1} for n in range(100_000)]
    schedule = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather", "shards": shards}
    return {
        "a million unknown keys": ("/v1/topologies", unknown),
        "the same for a design": ("/v1/designs", unknown[: 250 * 2**10]),
        "7 MB of wrong entries": ("/v1/topologies", wrong),
        "100,000 wrong shards": ("/v1/schedules", json.dumps(schedule).encode()),
        "7 MB of a sound topology": (
            "/v1/topologies",
            json.dumps(large | {"nodes": nodes, "links": links}).encode(),
        ),
        "a million brackets": ("/v1/topologies", b"[" * 1_000_000),
        "digits without end": ("/v1/topologies", b'{"recipe":' + b"9" * 5_000_000 + b"}"),
    }


def twins(folder: str) -> None:
    """Send a hundred equal requests to two processes on one database; count the computations."""
    url = database(folder, "twins")
    asked = json.dumps({**DESIGN, "nodes": 600}).encode()
    with started(url, PORT) as one, started(url, PORT + 1) as other:
        with ThreadPoolExecutor(100) as pool:
            answers = list(
                pool.map(lambda n: _answer((one, other)[n % 2], "/v1/designs", asked), range(100))
            )
        statuses = [answer.status_code for answer in answers if answer is not None]
        line(
            case="100 identical requests to two processes",
            computed=statuses.count(201),
            known=statuses.count(200),
            different=len({answer.content for answer in answers if answer is not None}) - 1,
        )


def start(folder: str) -> None:
    """Time the start: until ready, until the first answer, and of the next request."""
    begun = time.perf_counter()
    with started(database(folder, "start"), PORT) as service, service.client() as client:
        ready = time.perf_counter()
        client.post("/v1/designs", json=DESIGN).raise_for_status()
        first = time.perf_counter()
        client.post("/v1/designs", json={**DESIGN, "nodes": 14}).raise_for_status()
        line(
            case="start",
            ready_s=round(ready - begun, 2),
            first_answer_s=round(first - ready, 2),
            next_question_s=round(time.perf_counter() - first, 2),
        )


CASES = {"start": start, "idle": idle, "bodies": bodies, "twins": twins, "load": load}


def main() -> None:
    """Run the cases that are named, or all."""
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or CASES:
            CASES[name](folder)


if __name__ == "__main__":
    main()
