"""Jobs of two and four ranks whose ranks are killed again and again, at moments drawn at random."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import held_port

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
ROOT = Path(__file__).parent.parent.parent
KILLS = 20
SAVE_EVERY = 5
# One process imports PyTorch, and forks the ranks of every job.  A rank kills itself at an event of
# one of its saves: at the call of `save`, in the middle of a file, between the file and its name,
# after the name, or between two saves.  The other ranks lose their connection.
PROGRAM = """
import json, os, signal, sys
import torch
import torch.distributed as dist
from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import Ranks, ResumableBatches, TuningCallback
from topoloom.learning_rate.callbacks import resume, storage

folder, ranks, port, kills = sys.argv[1], *map(int, sys.argv[2:4]), json.loads(sys.argv[4])
torch.set_num_threads(1)


def trained(rank, port, victim=-1, event="", number=0):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    inputs = torch.randn(64, 5, generator=torch.Generator().manual_seed(rank))
    targets = (inputs ** 2).sum(dim=1, keepdim=True)
    layers = torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
    network = torch.nn.Sequential(*layers)
    # Buckets that are never rebuilt add the gradients of all steps in one order.
    model = torch.nn.parallel.DistributedDataParallel(network, find_unused_parameters=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    data = ResumableBatches(64, 8, seed=rank)
    saves = 0

    def die(at):
        if (rank, event, number) == (victim, at, saves):
            os.kill(os.getpid(), signal.SIGKILL)

    def write(path, document, written=resume.write):
        die("in the call")
        written(path, document)
        die("before the name")

    def fsync(file, synced=os.fsync):
        die("in the file")
        synced(file)

    resume.write, storage.os.fsync = write, fsync
    tuner = InProcess(Options(1e-4, 1.0, 300, candidates=3)) if rank == 0 else None
    path, steps = f"{folder}/rank-{rank}.pt", 0
    callback = TuningCallback(Ranks(tuner), model, optimizer, data=data, resume=path)
    while callback.running:
        batch = next(data)
        loss = torch.nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        callback.step(loss)
        steps += 1
        if steps % EVERY == EVERY // 2:
            die("between saves")
        if steps % EVERY == 0 and callback.running:
            saves += 1
            callback.save(path)
            die("after the name")
    return [value.flatten().tolist() for value in network.parameters()]


def end_of(rank, port, *kill):
    told = {"parameters": None, "error": None}
    try:
        told["parameters"] = trained(rank, port, *kill)
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"
    with open(f"{folder}/told-{rank}.json", "w") as file:
        json.dump(told, file)
    os._exit(0)


for kill in [*kills, []]:
    children = []
    for rank in range(ranks):
        child = os.fork()
        if not child:
            end_of(rank, port, *kill)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    told = [json.load(open(f"{folder}/told-{r}.json")) if not c else None
            for r, c in enumerate(codes)]
    print(json.dumps({"codes": codes, "told": told}), flush=True)
os._exit(0)
""".replace("EVERY", str(SAVE_EVERY))
EVENTS = ("in the call", "in the file", "before the name", "after the name", "between saves")


def jobs(folder, ranks, kills):
    """Run a job that is killed, resumed, and at last left alone; return what each run tells."""
    folder.mkdir()
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with held_port() as port:
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, (folder, ranks, port)), json.dumps(kills)],
            cwd=ROOT, env=environment, check=True, timeout=3000, capture_output=True, text=True,
        )  # fmt: skip
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.exhaustive)])
def test_twenty_kills_at_random_moments_change_no_parameter(ranks, tmp_path):
    draw = random.Random(ranks)
    # The first save of a run may be lost, so every run reaches its second one.
    kills = [(draw.randrange(ranks), draw.choice(EVENTS), 2) for _ in range(KILLS)]
    (whole,) = jobs(tmp_path / "whole", ranks, [])
    runs = jobs(tmp_path / "killed", ranks, kills)
    for (victim, event, _), run in zip(kills, runs, strict=False):
        assert run["codes"][victim] == -9, (victim, event, run)
        assert not any(one and one["parameters"] for one in run["told"])
    last = runs[-1]
    assert [one["error"] for one in last["told"]] == [None] * ranks
    assert last["told"] == whole["told"]
    assert all(one == whole["told"][0] for one in whole["told"])
