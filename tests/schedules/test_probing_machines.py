"""`topoloom probe` under torchrun between machines: network namespaces joined by one link."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom.schedules.execute.link_probe import SHAPES

ROOT = Path(__file__).parent.parent.parent
APART = """
set -e
unshare -n sleep 300 &
other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add here type veth peer name there
ip link set there netns $other
ip addr add 10.9.0.1/24 dev here
ip link set here up
ip link set lo up
nsenter -t $other -n ip addr add 10.9.0.2/24 dev there
nsenter -t $other -n ip link set there up
nsenter -t $other -n ip link set lo up
run() {
    "$PYTHON" -m torch.distributed.run --nnodes 2 --node-rank $1 --nproc-per-node 1 \
        --master-addr 10.9.0.1 --master-port 29512 -m app probe --repeat 3 --out "$FOLDER/$1.csv"
}
export -f run
GLOO_SOCKET_IFNAME=there nsenter -t $other -n bash -c 'run 1' &
member=$!
GLOO_SOCKET_IFNAME=here run 0
wait $member
"""


def permitted():
    tools = all(map(shutil.which, ("unshare", "nsenter", "ip", "bash")))
    tried = ["unshare", "-rn", "ip", "link", "add", "x", "type", "veth", "peer", "name", "y"]
    return tools and subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_two_machines_are_measured_over_the_link_that_joins_them(tmp_path):
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    if not permitted():
        pytest.skip("namespaces with links of their own are not permitted here")
    environment = {"PYTHON": sys.executable, "FOLDER": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["unshare", "-rn", "bash", "-c", APART],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with (tmp_path / "0.csv").open() as file:
        rows = list(csv.DictReader(file))
    shapes = {(int(row["messages"]), int(row["chunks"]), int(row["bytes"])) for row in rows}
    assert shapes == set(SHAPES)
    assert all(float(row["seconds"]) > 0 for row in rows)
    # Only the first rank has the times.
    assert not (tmp_path / "1.csv").exists()
