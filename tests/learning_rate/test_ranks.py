"""Many ranks: rank 0 talks, the others follow, as real processes; also where they are killed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import held_port

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ROOT = Path(__file__).parent.parent.parent
# Threads of torch may outlive the interpreter, and then end the process with SIGABRT (pull request
# 179291 of pytorch): programs end without finalisation.
PROGRAM = """
import json, logging, os, signal, sys
import torch
import torch.distributed as dist
from topoloom.learning_rate import InProcess, LearningRateError, Options
from topoloom.learning_rate.callbacks import Ranks, ResumableBatches, TuningCallback

dist.init_process_group("gloo")
rank, folder, way = dist.get_rank(), sys.argv[1], sys.argv[2]
torch.manual_seed(rank if way == "unlike" else 0)
inputs = torch.randn(64, 5, generator=torch.Generator().manual_seed(rank))
targets = (inputs ** 2).sum(dim=1, keepdim=True)
network = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
model = torch.nn.parallel.DistributedDataParallel(network)
if way == "unlike":  # as where a rank loads another file than the others
    torch.nn.init.normal_(network[0].weight)
groups, more = model.parameters(), {"max_overhead": 0.3}
if way == "ratios":
    groups = [{"params": list(network[place].parameters())} for place in (0, 2)]
    more = {"max_overhead": 0.6, "group_ratios": (0, 1)}
optimizer = torch.optim.AdamW(groups, lr=0.1)
data = ResumableBatches(64, 8, seed=rank)
options = Options(1e-4, 1.0, 240, candidates=3, **more)

class Failing(InProcess):
    def observe(self, losses=()):
        if self.state.step > 30:
            raise RuntimeError("the tuner is gone")
        return super().observe(losses)

tuner = (Failing if way == "failing" else InProcess)(options) if rank == 0 else None
told = {"rates": [], "ratios": [], "error": None, "log": []}
logger = logging.getLogger("topoloom.learning_rate")
logger.setLevel(logging.INFO)
logger.addHandler(logging.Handler())
logger.handlers[0].emit = lambda record: told["log"].append(record.getMessage())
path = f"{folder}/rank-{rank}.pt"

# "killed:RANK:PLACE:SAVE": the rank kills itself in its n-th save, before it writes, between the
# write and the rename, or after it.
_, victim, place, number = way.split(":") if way.startswith("killed") else (way, -1, "", 0)
saves = 0
if int(victim) == rank:
    from topoloom.learning_rate.callbacks import resume

    def die(at):
        if place == at and saves == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    def write(path, document, written=resume.write):
        die("before")
        written(path, document)
        die("between")

    resume.write = write

try:
    if way == "alone":
        TuningCallback(InProcess(options), model, optimizer, data=data)
    callback = TuningCallback(Ranks(tuner), model, optimizer, data=data, resume=path)
    while callback.running:
        batch = next(data)
        loss = torch.nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told["rates"].append(optimizer.param_groups[0]["lr"])
        told["ratios"].append(optimizer.param_groups[-1]["lr"] / optimizer.param_groups[0]["lr"])
        callback.step(loss)
        if way.startswith("killed") and len(told["rates"]) % 10 == 0:
            saves += 1
            callback.save(path)
            if int(victim) == rank:
                die("after")
        if way == "cut" and len(told["rates"]) == 40:
            callback.save(path)
            callback.save(f"{folder}/job.pt")  # one file for both
except Exception as error:
    told["error"] = f"{type(error).__name__}: {error}"
told["parameters"] = [value.flatten().tolist() for value in network.parameters()]
told["spent"] = tuner.state.spent if tuner else None
with open(f"{folder}/{way}-{rank}.json", "w") as file:
    json.dump(told, file)
dist.destroy_process_group()
os._exit(0)
"""


def ended(folder, way, ranks=2):
    """Run the program on a number of ranks to its end; return the exit codes."""
    with held_port() as port:
        return ended_on(port, folder, way, ranks)


def ended_on(port, folder, way, ranks):
    """Run the program on a number of ranks that meet at a port; return the exit codes."""
    shared = {"WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-c", PROGRAM, str(folder), way]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=os.environ | shared | {"RANK": str(rank)})
        for rank in range(ranks)
    ]
    try:
        if way.startswith("killed"):
            running[int(way.split(":")[1])].wait(timeout=600)
        for process in running:  # the others of a killed rank lose their connection
            process.wait(timeout=600)
    finally:
        for process in running:
            process.kill()
    return [process.wait(timeout=60) for process in running]


def ran(folder, way, ranks=2):
    """Run the program on a number of ranks; return their reports."""
    assert ended(folder, way, ranks) == [0] * ranks
    return [json.loads((folder / f"{way}-{rank}.json").read_text()) for rank in range(ranks)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Reports of two ranks of an undisturbed run."""
    return ran(tmp_path_factory.mktemp("whole"), "whole")


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """The folder of two ranks that save at step 40 and end, and what they tell."""
    folder = tmp_path_factory.mktemp("cut")
    return folder, ran(folder, "cut")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["before", "between"])
def test_ranks_killed_around_a_write_resume_from_one_save(place, undisturbed, tmp_path):
    codes = ended(tmp_path, f"killed:1:{place}:2")
    assert codes[1] == -9
    again = ran(tmp_path, "again")
    assert [one["error"] for one in again] == [None, None]
    assert [one["parameters"] for one in again] == [one["parameters"] for one in undisturbed]
    made = len(again[0]["rates"])
    # Where rank 1 has not written the second save, both go back to the first.
    assert made == undisturbed[0]["spent"] - (10 if place == "before" else 20)
    assert again[0]["rates"] == undisturbed[0]["rates"][-made:]


@pytest.mark.slow
def test_ranks_try_the_same_ratios_between_groups_and_end_alike(tmp_path):
    one, other = ran(tmp_path, "ratios")
    assert (one["error"], other["error"]) == (None, None)
    assert (one["rates"], one["ratios"]) == (other["rates"], other["ratios"])
    assert one["parameters"] == other["parameters"]
    assert len({round(ratio, 3) for ratio in one["ratios"]}) > 1


@pytest.mark.slow
def test_a_rank_without_a_common_save_is_refused_on_every_rank(cut, tmp_path):
    folder = shutil.copytree(cut[0], tmp_path / "again")
    (folder / "rank-1.pt").unlink()
    for one in ran(folder, "again"):
        assert "RanksDiffer: /rank-" in one["error"]
        assert "no save in common: rank 0 has save 1, rank 1 has none" in one["error"]
        assert one["rates"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("unlike", "RanksDiffer: /ranks/1: has other parameters than rank 0"),
        ("alone", "InvalidOptions: /tuner: must be Ranks(tuner) where several ranks train"),
    ],
)
def test_ranks_that_would_part_are_refused(way, said, tmp_path):
    for one in ran(tmp_path, way):
        assert said in one["error"]
        assert one["rates"] == []


@pytest.mark.slow
def test_all_ranks_have_the_same_rates_and_the_same_model_and_resume_bit_for_bit(
    undisturbed, cut, tmp_path
):
    whole = undisturbed
    assert whole[0]["rates"] == whole[1]["rates"]
    assert whole[0]["parameters"] == whole[1]["parameters"]
    assert len(whole[0]["rates"]) == whole[0]["spent"] > 240
    assert whole[0]["log"][-1].startswith("finished, 240 steps kept of")
    assert whole[1]["log"] == []
    folder, told = cut
    assert told[0]["rates"] == whole[0]["rates"][:40]
    for one in told:
        assert "RanksDiffer: /path: must be a file of its own on each rank" in one["error"]
    again = ran(shutil.copytree(folder, tmp_path / "again"), "again")
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


def test_a_digest_sees_every_bit_and_every_place():
    from topoloom.learning_rate.callbacks.ranks import digest

    values = torch.arange(6, dtype=torch.float32)
    assert digest([values]) == digest([values.clone()])
    assert digest([values]) != digest([values.flip(0)])
    assert digest([torch.zeros(2)]) != digest([-torch.zeros(2)])
    assert digest([torch.zeros(0)]) == [0, 0]
    for kind in (torch.bfloat16, torch.float64, torch.complex64, torch.int8):
        assert digest([values.to(kind)]) == digest([values.to(kind)])
        assert digest([values.to(kind)]) != digest([(values + 1).to(kind)])
