"""Send webhooks to a receiver that drips, dies and comes back, and to a fast receiver beside it.

    python -m benchmarks.bench_webhooks --jobs 200 --dead 20 --kill
    python -m benchmarks.bench_webhooks --database-url postgresql+psycopg://user@host/empty

Two services without workers share the deliveries of one database.  The slow receiver reads a
message and answers with one byte a second, then refuses connections, then answers at once.  The
receiver of ``--dead`` messages never answers.  ``--kill`` kills a service while its messages drip,
and starts the service again.  A line of JSON has the time from the end of a job to its message at
the fast receiver, alone and beside the slow one, and the ratio of the p99.  The last line counts
the deliveries by state, those that the slow receiver accepted twice, and those that are lost: the
benchmark fails if there are any of these.  Attempts at a dead receiver take 21 minutes.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
from sqlalchemy import Engine, func, select

from benchmarks.service_process import Service, line, percentile, started
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.webhooks.deliveries import UNSENT, DeliveryState
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.tables import WebhookRow
from topoloom.app.webhook_signatures import verify_webhook

PORTS = (18781, 18782)
FAST, SLOW, DEAD = 18783, 18784, 18785
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
RULES = WebhookRules(tuple(f"127.0.0.1:{port}" for port in (FAST, SLOW, DEAD)), SECRET, True)
SETTINGS = {
    "run_worker": "false",
    "webhook_hosts": ",".join(RULES.hosts),
    "webhook_secret": SECRET,
    "webhook_private": "true",
}


class Receiver:
    """A receiver of webhooks: times by job, and how often each delivery was accepted."""

    def __init__(self, port: int) -> None:
        self.port, self.drips = port, False
        self.accepted: Counter[str] = Counter()
        self.times: dict[str, float] = {}
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Accept connections."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self.port)

    def close(self) -> None:
        """Refuse connections from now on."""
        assert self._server is not None
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
            headers = dict(field.split(": ", 1) for field in head)
            body = await reader.readexactly(int(headers["Content-Length"]))
            delivery = verify_webhook(headers, body, SECRET)
            for byte in b"HTTP/1.1 200 OK\r\n" if self.drips else b"":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
            if not self.drips:
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                await writer.drain()
                self.accepted[delivery] += 1
                self.times[headers["Topoloom-Job"]] = time.perf_counter()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class Source:
    """Makes jobs with webhooks, and ends them at a service."""

    def __init__(self, engine: Engine, service: httpx.AsyncClient) -> None:
        self._jobs, self._service, self._number = Jobs(engine, webhooks=RULES), service, 0

    async def end(self, port: int) -> tuple[str, float]:
        """End a job with a webhook; return its id and the time."""
        self._number += 1
        task = Task.of("design", {"number": self._number})
        url = f"http://127.0.0.1:{port}/hook?token=1"
        job = await asyncio.to_thread(self._jobs.enqueue, task, webhook=url)
        answer = await self._service.post(f"/v1/jobs/{job}/cancel")
        answer.raise_for_status()
        return job, time.perf_counter()


async def fast_times(source: Source, receiver: Receiver, count: int) -> list[float]:
    """Return the seconds from the ends of some jobs to their messages, in order."""
    ends = []
    for _ in range(count):
        ends.append(await source.end(receiver.port))
        await asyncio.sleep(0.05)
    while not all(job in receiver.times for job, _ in ends):
        await asyncio.sleep(0.05)
    return [receiver.times[job] - end for job, end in ends]


def counted(engine: Engine) -> dict[str, int]:
    """Return the number of deliveries by state."""
    query = select(WebhookRow.state, func.count()).group_by(WebhookRow.state)
    with engine.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


async def played(asked: argparse.Namespace, engine: Engine, services: ExitStack) -> None:
    """Play the receivers; print one line for each measurement."""
    first, second = (start(services, asked.database_url, port) for port in PORTS)
    fast, slow = Receiver(FAST), Receiver(SLOW)
    slow.drips = True
    await fast.open()
    await slow.open()
    async with httpx.AsyncClient(base_url=first.url, timeout=60) as client:
        source = Source(engine, client)
        alone = await fast_times(source, fast, asked.fast)
        for number in range(asked.jobs):
            await source.end(DEAD if number < asked.dead else SLOW)
        beside = await fast_times(source, fast, asked.fast)
        for name, seconds in (("alone", alone), ("beside", beside)):
            line(fast=name, p50=percentile(seconds, 0.5), p99=percentile(seconds, 0.99))
        line(p99_ratio=round(percentile(beside, 0.99) / percentile(alone, 0.99), 2))
        if asked.kill:
            second.process.kill()
            second.process.wait()
            await asyncio.to_thread(start, services, asked.database_url, PORTS[1])
        await asyncio.sleep(asked.drip)
        slow.close()
        await asyncio.sleep(asked.down)
        slow.drips = False
        await slow.open()
        began = time.monotonic()
        while any(counted(engine).get(state, 0) for state in UNSENT):
            await asyncio.sleep(0.5)
    report(engine, slow, asked.jobs + 2 * asked.fast, time.monotonic() - began)


def start(services: ExitStack, url: str, port: int) -> Service:
    """Start a service without a worker."""
    return services.enter_context(started(url, port, **SETTINGS))


def report(engine: Engine, slow: Receiver, jobs: int, seconds: float) -> None:
    """Print the counts; fail if a delivery is lost or was accepted twice."""
    states = counted(engine)
    with engine.connect() as connection:
        query = select(WebhookRow.id).where(
            WebhookRow.state == DeliveryState.DELIVERED, WebhookRow.host == f"127.0.0.1:{SLOW}"
        )
        delivered = set(connection.execute(query).scalars())
    twice = sum(count > 1 for count in slow.accepted.values())
    lost = len(delivered.symmetric_difference(slow.accepted)) + jobs - sum(states.values())
    line(jobs=jobs, **states, accepted_twice=twice, lost=lost, seconds_after_return=round(seconds))
    if lost or twice:
        raise SystemExit("a delivery is lost, or was accepted twice")


def main() -> None:
    """Run the benchmark on a database, by default a new SQLite file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=40, help="jobs for the slow receiver")
    parser.add_argument("--dead", type=int, default=0, help="of these, jobs for a dead receiver")
    parser.add_argument("--fast", type=int, default=100, help="jobs for the fast receiver, twice")
    parser.add_argument("--drip", type=float, default=30, help="seconds that the receiver drips")
    parser.add_argument("--down", type=float, default=30, help="seconds that the receiver is dead")
    parser.add_argument("--kill", action="store_true", help="kill a service while it sends")
    parser.add_argument("--database-url", help="an empty database; default: an SQLite file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as services:
        asked.database_url = asked.database_url or f"sqlite:///{Path(folder) / 'topoloom.db'}"
        engine = open_engine(asked.database_url)
        migrate(engine)
        asyncio.run(played(asked, engine, services))
        engine.dispose()


if __name__ == "__main__":
    main()
