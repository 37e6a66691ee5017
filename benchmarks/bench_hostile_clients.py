"""Time ordinary clients of a service while strangers and a greedy client attack the service.

    python -m benchmarks.bench_hostile_clients --times 10
    python -m benchmarks.bench_hostile_clients --times 10 --addresses 10 --only slow-bodies
    python -m benchmarks.bench_hostile_clients --cores 2 1 1
    python -m benchmarks.bench_hostile_clients --real-time --rounds 3
    python -m benchmarks.bench_hostile_clients --database-url postgresql+psycopg://user@host/empty

Ten clients with keys of their own read and ask for stored designs on connections that they keep,
send probes on new connections, and have small new designs computed.  They use 127.0.0.1; attacks
come from another process and from 127.0.0.2 on.  A phase without an attack precedes each attack;
``--rounds`` repeats both phases, and the figures are of the answers of all rounds together.  A line
of JSON has, for each kind of request, p50 and p99 of both phases in milliseconds, the ratio of the
p99, and the counts; and the answers 5xx and 4xx and the broken connections of both phases.

``--times 1`` is one of: 1,000 bodies of 33 MB at 1.1 KiB/s each; 1,100 heads that never end; 100
wrong keys a second; 280 distinct large designs under one key.  An attacker opens a connection that
the service closed again after `PAUSE` seconds.  ``attack`` counts what the attackers did meanwhile.

Attackers run on other machines, and take no processor time from the service.  So the service and
its workers have all cores but one; the clients and the attackers share that core, and the attackers
yield to the clients.  ``--cores 2 1 1`` gives two cores to the service and its workers, one to the
clients and another to the attackers.  ``--share-cores`` lets all of them use all cores.

``--stand-in`` sends the attacks to a program that accepts and closes connections, on the cores of
the service.  The ratio is then that of the machine: its kernel, and the core of the clients.

``--real-time`` shields a measurement from other work on the machine: the service, the clients and,
below them, the attackers get real-time priorities, which needs root.  Workers get none, so other
work lengthens new designs.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple, cast

import uvloop

from benchmarks.service_process import Service, line, percentile, started
from topoloom.app.auth import api_keys
from topoloom.app.store.database import migrate, open_engine

PAUSE = 10.0
"""Seconds before an attacker opens a closed connection again."""

SLICES = 20
"""Parts of a second: an attack spreads its bytes evenly."""

IP_BIND_ADDRESS_NO_PORT = 24
"""Socket option of Linux; see ip(7)."""

HOST = b"Host: localhost\r\n"


def request(method: str, path: str, key: str, body: dict[str, object] | None = None) -> bytes:
    """Return an HTTP request with a key, and with a JSON body if there is one."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode() + HOST
    if content:
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(content)
    return head + b"\r\n" + content


@dataclass(frozen=True)
class Attack:
    """An attack: connections at ``--times 1``, their first bytes, and the bytes of each second."""

    connections: int
    first: Callable[[str], bytes]
    each_second: Callable[[str], bytes] = lambda key: b""
    closes_on_answer: bool = False


def _slow_body(key: str) -> bytes:
    return (
        b"POST /v1/topologies HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
        b"Content-Length: 33000000\r\n\r\n"
    )


def _wrong_key(key: str) -> bytes:
    return request("GET", "/v1/designs", f"tl_{random.getrandbits(32):08x}_{'0' * 48}")


def _large_design(key: str) -> bytes:
    body = {
        "nodes": random.randrange(400, 1000),
        "degree": random.randrange(4, 9),
        "collective": "allreduce",
        "bytes": random.randrange(10**6, 10**9),
    }
    return request("POST", "/v1/designs", key, body)


ATTACKS = {
    "slow-bodies": Attack(1_000, _slow_body, lambda key: b" " * 1126),
    "half-heads": Attack(1_100, lambda key: b"GET /healthz HTTP/1.1\r\n" + HOST),
    "wrong-keys": Attack(100, _wrong_key, _wrong_key),
    "greedy-key": Attack(280, _large_design, closes_on_answer=True),
}


class Attacker(asyncio.Protocol):
    """A connection of an attack; opens itself again after its end."""

    def __init__(
        self, attack: Attack, key: str, port: int, source: str, end: Event, done: Counter[str]
    ) -> None:
        self.attack, self.key, self.end, self.done = attack, key, end, done
        self.port, self.source = port, source
        self.transport: asyncio.Transport | None = None

    async def open(self, after: float) -> None:
        """Connect after some seconds; try again while the service does not accept."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(after)
            after = PAUSE
            connection = socket.socket()
            connection.setblocking(False)
            # The kernel chooses the port at the connect: a bind would search all used ports.
            connection.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
            try:
                connection.bind((self.source, 0))
                await loop.sock_connect(connection, ("127.0.0.1", self.port))
                await loop.create_connection(lambda: self, sock=connection)
                return
            except OSError:
                connection.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first bytes."""
        self.transport = cast("asyncio.Transport", transport)
        self.done["connections"] += 1
        self._write(self.attack.first(self.key))

    def data_received(self, data: bytes) -> None:
        """Ignore an answer, or end the connection."""
        if self.attack.closes_on_answer and self.transport is not None:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Open the connection again later."""
        self.transport = None
        if not self.end.is_set():
            self.opening = asyncio.get_running_loop().create_task(self.open(PAUSE))

    def send(self) -> None:
        """Send the bytes of one second."""
        if self.transport is not None and not self.transport.is_closing():
            self._write(self.attack.each_second(self.key))

    def _write(self, sent: bytes) -> None:
        assert self.transport is not None
        self.done["bytes"] += len(sent)
        self.transport.write(sent)


async def _attack(
    name: str, times: int, addresses: int, key: str, port: int, end: Event, told: Connection
) -> None:
    """Attack until the event ``end``; then tell the counts."""
    attack, done = ATTACKS[name], Counter[str]()
    attackers = [
        Attacker(attack, key, port, f"127.0.0.{2 + number % addresses}", end, done)
        for number in range(attack.connections * times)
    ]
    opening = [asyncio.ensure_future(one.open(random.random() * PAUSE)) for one in attackers]
    part = 0
    while not end.is_set():
        for attacker in attackers[part % SLICES :: SLICES]:
            attacker.send()
        part += 1
        await asyncio.sleep(1 / SLICES)
    for task in opening:
        task.cancel()
    told.send(dict(done))


def _attack_process(cores: set[int], *given: object) -> None:
    os.sched_setaffinity(0, cores)
    # A niceness is not enough: a client would wait for the end of the time slice of an attacker.
    if os.sched_getscheduler(0) == os.SCHED_RR:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    else:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    raise_file_limit()
    uvloop.run(_attack(*given))  # pyright: ignore[reportArgumentType]


@contextmanager
def attacked(
    name: str, times: int, addresses: int, key: str, port: int, cores: set[int]
) -> Iterator[dict[str, float]]:
    """Run an attack in a process of its own on these cores, fully begun when the block begins.

    The dictionary gets what the attackers did in each second after the end of the block.
    """
    spawned = multiprocessing.get_context("spawn")
    end, (hears, told), done = spawned.Event(), spawned.Pipe(duplex=False), {}
    given = (cores, name, times, addresses, key, port, end, told)
    process = spawned.Process(target=_attack_process, args=given)
    process.start()
    start = time.monotonic()
    time.sleep(PAUSE + 2)
    try:
        yield done
    finally:
        seconds = time.monotonic() - start
        end.set()
        if hears.poll(20):
            done |= {what: round(count / seconds) for what, count in hears.recv().items()}
        process.join(20)
        process.kill()


@dataclass
class Measured:
    """Latencies in seconds by kind of request, counts of failures, cores that the service used."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    server_errors: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    refused: int = 0
    cores: list[float] = field(default_factory=list)

    def note(self, kind: str, seconds: float, status: int) -> None:
        """Add an answer."""
        self.seconds.setdefault(kind, []).append(seconds)
        if status >= 500:
            self.server_errors[f"{kind} {status}"] += 1
        self.refused += 400 <= status < 500


class Client:
    """An ordinary client: a key and a connection that it keeps."""

    def __init__(self, port: int, key: str, number: int) -> None:
        self.port, self.key = port, key
        self.random = random.Random(number)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, sent: bytes) -> int:
        """Send a request; return the status of its answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or 0))
        if b"connection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        """Close the connection."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None

    def kinds(self, place: str) -> dict[str, bytes]:
        """Return a request of each kind; the new design was never asked before."""
        new = SMALL | {"bytes": self.random.randrange(10**12)}
        return {
            "get": request("GET", place, self.key),
            "post": request("POST", "/v1/designs", self.key, SMALL),
            "probe": b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
            "new": request("POST", "/v1/designs", self.key, new),
        }

    async def work(self, place: str, end: float, measured: Measured) -> None:
        """Ask until a time of the clock; one request in twenty is a new design."""
        while time.monotonic() < end:
            kind = self.random.choices(["get", "post", "probe", "new"], [40, 40, 15, 5])[0]
            if kind == "probe":
                self.close()
            start = time.perf_counter()
            try:
                status = await asyncio.wait_for(self.ask(self.kinds(place)[kind]), 60)
                measured.note(kind, time.perf_counter() - start, status)
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                measured.broken += 1
                self.close()
            await asyncio.sleep(0.05 * self.random.random())


SMALL: dict[str, object] = {"nodes": 14, "degree": 3, "collective": "allgather", "bytes": 10**6}


async def measure(
    measured: Measured, port: int, keys: list[str], place: str, seconds: float
) -> None:
    """Add what ten ordinary clients see in some seconds."""
    clients = [Client(port, key, random.getrandbits(32)) for key in keys]
    end = time.monotonic() + seconds
    await asyncio.gather(*(client.work(place, end, measured) for client in clients))
    for client in clients:
        client.close()


def stored_design(service: Service, key: str) -> str:
    """Have the small design computed and stored; return its path."""
    headers = {"Authorization": f"Bearer {key}", "Prefer": "wait=60"}
    with service.client() as client:
        while True:
            made = client.post("/v1/designs", json=SMALL, headers=headers).raise_for_status()
            if made.status_code == 200:
                return made.headers["Location"]


def raise_file_limit() -> None:
    """Raise the limit of this process on open files as far as the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Cores(NamedTuple):
    """Cores of the service with its workers, of the clients, and of the attackers."""

    service: set[int]
    clients: set[int]
    attackers: set[int]

    @classmethod
    def shared(cls) -> "Cores":
        """Let all use all cores of this process."""
        return cls(*[os.sched_getaffinity(0)] * 3)

    @classmethod
    def usual(cls) -> "Cores":
        """Give the service all cores but one, and that core to the clients and attackers."""
        own = os.sched_getaffinity(0)
        ours = {min(own)}
        return cls(own - ours or ours, ours, ours)

    @classmethod
    def counted(cls, numbers: list[int]) -> "Cores":
        """Give each as many cores of its own."""
        own = iter(sorted(os.sched_getaffinity(0)))
        found = [set(islice(own, number)) for number in numbers]
        if [len(cores) for cores in found] != numbers:
            raise SystemExit(f"--cores: {sum(numbers)} cores must be available")
        return cls(*found)


def _accept_and_close(told: Connection) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listening:
        told.send(listening.getsockname()[1])
        while True:
            listening.accept()[0].close()


@contextmanager
def stand_in() -> Iterator[int]:
    """Run a program that accepts and closes connections; yield its port."""
    hears, told = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_accept_and_close, args=(told,))
    process.start()
    try:
        yield hears.recv()
    finally:
        process.kill()


def make_real_time(process: int) -> None:
    """Give the threads of a process, and threads that they start, a real-time priority."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(2))


def add(
    found: Measured, service: Service, port: int, keys: list[str], place: str, seconds: float
) -> None:
    """Add what ordinary clients see in some seconds, and the processor use of the service."""
    before, start = service.cpu_seconds, time.monotonic()
    asyncio.run(measure(found, port, keys, place, seconds))
    found.cores.append(round((service.cpu_seconds - before) / (time.monotonic() - start), 2))


def report(before: Measured, during: Measured, **facts: object) -> None:
    """Print the latencies of both phases, and their ratio, as a line of JSON."""
    kinds: dict[str, object] = {}
    for kind in sorted(before.seconds.keys() & during.seconds.keys()):
        old, new = before.seconds[kind], during.seconds[kind]
        kinds[kind] = {
            "p50": [percentile(old, 0.5), percentile(new, 0.5)],
            "p99": [percentile(old, 0.99), percentile(new, 0.99)],
            "p99_ratio": round(percentile(new, 0.99) / percentile(old, 0.99), 2),
            "answers": [len(old), len(new)],
        }
    phases = {
        name: [getattr(before, name), getattr(during, name)]
        for name in ("server_errors", "broken", "refused", "cores")
    }
    line(**facts, **phases, **kinds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=10, help="multiple of each attack's load")
    parser.add_argument("--addresses", type=int, default=1, help="addresses that attack")
    parser.add_argument("--seconds", type=float, default=20, help="length of each phase")
    parser.add_argument("--rounds", type=int, default=1, help="phases of each kind")
    parser.add_argument("--only", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--database-url", help="an empty database; default: a temporary SQLite")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--share-cores", action="store_true", help="let all use all cores")
    where.add_argument(
        "--cores",
        type=int,
        nargs=3,
        metavar=("SERVICE", "CLIENTS", "ATTACKERS"),
        help="numbers of cores of their own",
    )
    parser.add_argument("--stand-in", action="store_true", help="attack a trivial program instead")
    parser.add_argument("--real-time", action="store_true", help="shield from other work; root")
    said = parser.parse_args()
    raise_file_limit()
    if said.cores:
        cores = Cores.counted(said.cores)
    else:
        cores = Cores.shared() if said.share_cores else Cores.usual()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        url = said.database_url or f"sqlite:///{Path(folder) / 'hostile.db'}"
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        engine = open_engine(url)
        migrate(engine)
        *keys, greedy = [api_keys.create(engine, f"client {n}", ["design"])[1] for n in range(11)]
        engine.dispose()
        with ExitStack() as running:
            os.sched_setaffinity(0, cores.service)  # The service inherits them.
            started_service = started(url, port, auth="keys")
            service = running.enter_context(started_service)
            attacked_port = running.enter_context(stand_in()) if said.stand_in else port
            os.sched_setaffinity(0, cores.clients)
            place = stored_design(service, keys[0])
            if said.real_time:
                make_real_time(service.process.pid)
                make_real_time(os.getpid())
            asyncio.run(measure(Measured(), port, keys, place, 3))
            phase = service, port, keys, place, said.seconds
            for name in said.only:
                before, during, sent = Measured(), Measured(), list[dict[str, float]]()
                attack = name, said.times, said.addresses, greedy, attacked_port
                for _ in range(said.rounds):
                    add(before, *phase)
                    with attacked(*attack, cores.attackers) as done:
                        add(during, *phase)
                    sent.append(done)
                facts = {"times": said.times, "addresses": said.addresses, "each_second": sent}
                report(before, during, attack=name, **facts)


if __name__ == "__main__":
    main()
