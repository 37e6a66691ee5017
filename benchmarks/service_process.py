"""A service for a benchmark: a separate process on its own database."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx

TICKS = os.sysconf("SC_CLK_TCK")


class Service:
    """A running service: its address, and the resources that its process has used."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str) -> None:
        self.process = process
        self.url = url

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds of the process, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def resident_bytes(self) -> int:
        """Resident bytes of the process."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(text.split("VmRSS:")[1].split()[0])

    def client(self) -> httpx.Client:
        """Return a client with its own connection."""
        return httpx.Client(base_url=self.url, timeout=900)

    def stop(self) -> float:
        """Ask the process to end; return the seconds until it ended."""
        start = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        return time.perf_counter() - start


@contextmanager
def started(url: str, port: int, **settings: object) -> Iterator[Service]:
    """Start a service on a database, wait until it is ready, and kill it at the end."""
    variables = {f"TOPOLOOM_{name.upper()}": str(value) for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "topoloom", "serve", "--port", str(port)],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": url} | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    service = Service(process, f"http://127.0.0.1:{port}")
    try:
        _wait(service)
        yield service
    finally:
        process.kill()
        process.wait()


def _wait(service: Service) -> None:
    end = time.monotonic() + 120
    while True:
        try:
            if httpx.get(f"{service.url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > end or service.process.poll() is not None:
            raise RuntimeError("the service does not start")
        time.sleep(0.02)


def percentile(seconds: list[float], share: float) -> float:
    """Return the milliseconds that this share of the measurements stays below.

    >>> percentile([0.001, 0.003, 0.002], 0.5)
    2.0
    """
    ordered = sorted(seconds)
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def line(**figures: object) -> None:
    """Print figures as a line of JSON."""
    print(json.dumps(figures), flush=True)
