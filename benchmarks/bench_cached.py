"""How long cached answers of the service take while it computes: GET and POST, p50 and p99.

``python -m benchmarks.bench_cached`` starts the service on a database of its own, stores one
design, and reads it while nothing and while eight clients ask for
long computations, of which four run at a time.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError

PORT = 18765
BASE = f"http://127.0.0.1:{PORT}"
DESIGN = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
READS = 30


def request(path: str, body: object = None) -> tuple[str | None, bytes]:
    """Return the place and the body of an answer."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(BASE + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=300) as answer:
        return answer.headers["Location"], answer.read()


def long_work(number: int) -> None:
    """Ask for one schedule after another; the service is killed meanwhile."""
    with suppress(OSError, URLError):
        for nodes in range(1280 + number, 2048, 12):
            topology = {"recipe": f"GeneralizedKautz(4, {nodes})"}
            asked = {"topology": topology, "collective": "allgather", "algorithm": "forestcoll"}
            request("/v1/schedules", asked)


def measured(path: str, body: object = None) -> str:
    """Return the milliseconds of many requests."""
    seconds = []
    for _ in range(READS):
        start = time.perf_counter()
        request(path, body)
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    return f"{1000 * seconds[READS // 2]:8.1f}{1000 * seconds[int(READS * 0.99) - 1]:8.1f}"


def main() -> None:
    """Print one line for each load."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'topoloom.db'}"
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(PORT)],
            env=os.environ | {"TOPOLOOM_DATABASE_URL": database},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(300):
                try:
                    request("/healthz")
                    break
                except OSError:
                    time.sleep(0.1)
            place, _ = request("/v1/designs", DESIGN)
            assert place is not None
            print("long computations    GET p50     p99   POST p50    p99   (ms)")
            asked = 0
            for load in (0, 8):
                for number in range(asked, load):
                    threading.Thread(target=long_work, args=(number,), daemon=True).start()
                asked = load
                time.sleep(3 if load else 0)
                print(f"{load:>17}", measured(place), measured("/v1/designs", DESIGN), flush=True)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
