"""Many ranks: rank 0 talks, the others follow, as real processes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ROOT = Path(__file__).parent.parent.parent
# Threads of torch may outlive the interpreter, and then end the process with SIGABRT (pull request
# 179291 of pytorch): programs end without finalisation.
PROGRAM = """
import json, os, sys
import torch
import torch.distributed as dist
from topoloom.learning_rate import InProcess, LearningRateError, Options
from topoloom.learning_rate.callbacks import Ranks, ResumableBatches, TuningCallback

dist.init_process_group("gloo")
rank, folder, way = dist.get_rank(), sys.argv[1], sys.argv[2]
torch.manual_seed(0)
inputs = torch.randn(64, 5, generator=torch.Generator().manual_seed(rank))
targets = (inputs ** 2).sum(dim=1, keepdim=True)
network = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
model = torch.nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
data = ResumableBatches(64, 8, seed=rank)
options = Options(1e-4, 1.0, 240, candidates=3, max_overhead=0.3)

class Failing(InProcess):
    def observe(self, losses=()):
        if self.state.step > 30:
            raise RuntimeError("the tuner is gone")
        return super().observe(losses)

tuner = (Failing if way == "failing" else InProcess)(options) if rank == 0 else None
told = {"rates": [], "error": None}
path = f"{folder}/rank-{rank}.pt"
callback = TuningCallback(Ranks(tuner), model, optimizer, data=data, resume=path)
try:
    while callback.running:
        batch = next(data)
        loss = torch.nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told["rates"].append(optimizer.param_groups[0]["lr"])
        callback.step(loss)
        if way == "cut" and len(told["rates"]) == 40:
            callback.save(path)
            break
except Exception as error:
    told["error"] = f"{type(error).__name__}: {error}"
told["parameters"] = [value.flatten().tolist() for value in network.parameters()]
told["spent"] = tuner.state.spent if tuner else None
with open(f"{folder}/{way}-{rank}.json", "w") as file:
    json.dump(told, file)
dist.destroy_process_group()
os._exit(0)
"""


def ran(folder, way, ranks=2):
    """Run the program on so many ranks; return what each told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    command = [sys.executable, "-c", PROGRAM, str(folder), way]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=os.environ | shared | {"RANK": str(rank)})
        for rank in range(ranks)
    ]
    assert [process.wait(timeout=200) for process in running] == [0] * ranks
    return [json.loads((folder / f"{way}-{rank}.json").read_text()) for rank in range(ranks)]


@pytest.mark.slow
def test_all_ranks_have_the_same_rates_and_the_same_model_and_resume_bit_for_bit(tmp_path):
    whole = ran(tmp_path, "whole")
    assert whole[0]["rates"] == whole[1]["rates"]
    assert whole[0]["parameters"] == whole[1]["parameters"]
    assert len(whole[0]["rates"]) == whole[0]["spent"] > 240
    cut = ran(tmp_path, "cut")
    assert cut[0]["rates"] == whole[0]["rates"][:40]
    again = ran(tmp_path, "again")
    assert [one["rates"] for one in again] == [one["rates"][40:] for one in whole]
    assert [one["parameters"] for one in again] == [one["parameters"] for one in whole]


@pytest.mark.slow
def test_an_error_on_rank_0_is_one_on_every_rank(tmp_path):
    first, second = ran(tmp_path, "failing")
    assert first["error"] == "RuntimeError: the tuner is gone"
    assert second["error"] == "LearningRateError: /tuner: rank 0: the tuner is gone"


def test_without_a_process_group_it_is_refused():
    from topoloom.learning_rate.callbacks import Ranks
    from topoloom.learning_rate.errors import InvalidOptions

    with pytest.raises(InvalidOptions, match="/group"):
        Ranks(None)
