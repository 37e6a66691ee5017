"""A tour of the service: two clusters, from the request to the cables.

``make run`` runs this tour.  It starts the service on a free port, requests topologies over HTTP,
and writes the answers into a folder:

    python examples/tour.py --out out
"""

import argparse
import gzip
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client import Client, Refused

TWELVE_HOSTS = {
    "nodes": 12,
    "degree": 4,  # four ports of 25 Gbit/s
    "collective": "allreduce",
    "bytes": "1MB",
    "node_gbps": 100,
    "alpha_us": 10,
}
THOUSAND_HOSTS = {
    "nodes": 1024,
    "degree": 4,
    "collective": "allreduce",
    "bytes": "1MiB",
    "node_gbps": 100,
    "alpha_us": 10,
}


def main() -> None:
    """Start the service, take the tour, stop the service."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    try:
        tour(out)
    except Refused as refusal:
        sys.exit(f"{refusal}\nwhat the service logged is in {out / 'service.log'}")
    print(f"\nAll files are in {out}/. To go on:")
    print("  make serve                                       the page at http://127.0.0.1:8765")
    print(f"  .venv/bin/topoloom verify {out}/hosts-12.schedule.json \\")
    print(f"      --topology {out}/hosts-12.topology.json")
    print("  .venv/bin/topoloom design --help                 your own cluster")


def tour(out: Path) -> None:
    """Request two designs, and write everything needed to build them."""
    with running_service(out) as client:
        print("Twelve hosts with four 25 Gbit/s ports, allreduce of 1 MB")
        small = ask(client, TWELVE_HOSTS)
        write(client, small, out / "hosts-12", msccl=True)
        print("\n1024 hosts with four 25 Gbit/s ports, allreduce of 1 MiB")
        large = ask(client, THOUSAND_HOSTS)
        write(client, large, out / "hosts-1024", msccl=False)


def ask(client: Client, question: dict[str, Any]) -> dict[str, Any]:
    """Return the design that answers a question, and print it as a ranked table."""
    start = time.perf_counter()
    design = client.post("/v1/designs", question)
    taken = time.perf_counter() - start
    bound = design["bounds"]["seconds"]
    rows = [
        (point["seconds"], point["name"], point["steps"], point["bandwidth"])
        for point in design["frontier"]
    ]
    rows += [(other["seconds"], other["name"], "", "baseline") for other in design["baselines"]]
    width = max(len(row[1]) for row in rows)
    print(f"  {'topology':{width}}  steps  {'T_B':>10}  {'time':>10}  to bound")
    for seconds, name, steps, bandwidth in sorted(rows, key=lambda row: row[0]):
        times = f"{seconds * 1e6:7.1f} us  {seconds / bound:7.2f}x"
        print(f"  {name:{width}}  {steps:>5}  {bandwidth:>10}  {times}")
    print(f"  {'lower bound':{width}}  {'':5}  {'':10}  {bound * 1e6:7.1f} us")
    print(f"  answered in {taken:.2f} s, the schedule verified")
    return design


def write(client: Client, design: dict[str, Any], stem: Path, *, msccl: bool) -> None:
    """Write the best topology, its schedule and its patch plan next to each other."""
    best = design["best"]
    files = [stem.with_name(stem.name + end) for end in (".topology.json", ".schedule.json")]
    client.save(f"/v1/topologies/{best['topology_id']}", files[0])
    client.save(f"/v1/schedules/{best['schedule']['id']}", files[1])
    if msccl:
        files.append(stem.with_name(stem.name + ".msccl.xml"))
        client.save(f"/v1/schedules/{best['schedule']['id']}?format=msccl-xml", files[-1])
    else:
        files[1] = compressed(files[1])
    plan = client.post("/v1/patch-plans", {"topology": {"id": best["topology_id"]}})
    for form in ("json", "csv"):
        files.append(stem.with_name(f"{stem.name}.patch.{form}"))
        client.save(f"/v1/patch-plans/{plan['id']}?format={form}", files[-1])
    for file in files:
        print(f"  wrote {file} ({file.stat().st_size:,} bytes)")


def compressed(file: Path) -> Path:
    """Replace a file by its gzip-compressed form and return the new path."""
    packed = file.with_name(file.name + ".gz")
    with file.open("rb") as source, gzip.open(packed, "wb", compresslevel=5) as target:
        shutil.copyfileobj(source, target)
    file.unlink()
    return packed


@contextmanager
def running_service(out: Path) -> Iterator[Client]:
    """Run the service on a free port of this machine, with its database in ``out``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{out / 'topoloom.db'}"}
    log = out / "service.log"
    with log.open("wb") as output:
        service = subprocess.Popen(
            [sys.executable, "-m", "topoloom", "serve", "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        client = Client(f"http://127.0.0.1:{port}")
        wait_until_ready(client, service, log)
        yield client
    finally:
        service.terminate()
        service.wait(timeout=30)


def wait_until_ready(client: Client, service: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return when the service answers; exit with the end of its log if it does not start."""
    for _ in range(600):
        if client.is_ready():
            return
        if service.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"the service did not start; its last words:\n{log.read_text()[-2000:]}")


if __name__ == "__main__":
    main()
