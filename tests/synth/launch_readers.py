"""Readers of launch files that know the languages, and nothing of the code that writes them.

Each returns the host of every rank, in rank order.
"""

import json
import re
import subprocess

import yaml


def lines(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def launch(text):
    document = json.loads(text)
    assert document["schema"] == "launch/1"
    ranks = [host["name"] for host in document["hosts"] for _ in host["nodes"]]
    assert all(ranks[host["first_rank"]] == host["name"] for host in document["hosts"])
    return ranks


def hostfile(text):
    rows = [re.fullmatch(r"(\S+) slots=([0-9]+)", line).groups() for line in lines(text)]
    return [host for host, slots in rows for _ in range(int(slots))]


def rankfile(text):
    pattern = re.compile(r"rank ([0-9]+)=(\S+) slot=([0-9]+)")
    rows = [pattern.fullmatch(line).groups() for line in lines(text)]
    assert [int(rank) for rank, _, _ in rows] == list(range(len(rows)))
    seen = {}
    for _, host, slot in rows:
        assert int(slot) == seen.setdefault(host, 0)
        seen[host] += 1
    return [host for _, host, _ in rows]


def slurm(text):
    return text.splitlines()


def hosts_of_script(text):
    """Return the hosts of a script's cases."""
    return [host for host, _ in re.findall(r"^  ([\w.-]+)\) (.*) ;;$", text, re.M)]


def run_as(host, text, ending):
    """Run a script as one host, with an ending of the caller's, and return what it prints."""
    done = subprocess.run(
        ["sh", "-c", f"{text}\n{ending}"], env={"HOST": host, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def torchrun(text):
    """Return the hosts by the node rank that the script itself computes."""
    head, _, command = text.partition("exec torchrun ")
    size = int(re.search(r"--nproc-per-node=([0-9]+)", command)[1])
    nodes = int(re.search(r"--nnodes=([0-9]+)", command)[1])
    found = {}
    for host in hosts_of_script(text):
        code, out, _ = run_as(host, head, 'echo "$rank"')
        assert code == 0
        found[int(out)] = host
    order = [found[rank] for rank in range(nodes)]
    assert f"--master-addr={order[0]} " in command
    return [host for host in order for _ in range(size)]


def nccl(text):
    """Return the hosts by the node rank that the script itself sets."""
    found = {}
    for host in hosts_of_script(text):
        code, out, _ = run_as(host, text, 'echo "$NODE_RANK"')
        assert code == 0
        found[int(out)] = host
    return [found[rank] for rank in range(len(found))]


def pods(text):
    service, *found = yaml.safe_load_all(text)
    assert service["kind"] == "Service"
    ranks = {}
    for pod in found:
        assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
        (container,) = pod["spec"]["containers"]
        environment = {entry["name"]: entry["value"] for entry in container["env"]}
        assert environment["NNODES"] == str(len(found))
        assert environment["MASTER_ADDR"] == f"{found[0]['metadata']['name']}.launch"
        host = pod["spec"]["nodeSelector"]["kubernetes.io/hostname"]
        ranks[int(environment["NODE_RANK"])] = host
    return [ranks[rank] for rank in range(len(found))]


def mlx(text):
    rows = json.loads(text)
    for rank, row in enumerate(rows):
        assert len(row["rdma"]) == len(rows)
        assert row["rdma"][rank] is None
    return [row["ssh"] for row in rows]


READERS = {
    "launch": launch,
    "mpi-hostfile": hostfile,
    "mpi-rankfile": rankfile,
    "slurm-hostfile": slurm,
    "torchrun": torchrun,
    "kubernetes-pods": pods,
    "mlx-hostfile": mlx,
    "nccl-env": nccl,
}
BY_HOST = ("kubernetes-pods", "nccl-env", "mlx-hostfile")
"""Formats that have one entry for each host, not for each rank."""
