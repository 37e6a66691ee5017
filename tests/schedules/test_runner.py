"""`topoloom.Runner` on tensors of a process group: every element is what it must be."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.execute.programs.rank_program import DATA, OUTPUT, RELAY
from topoloom.schedules.execute.programs.route_program import programs_of_routes
from topoloom.schedules.execute.runner import Runner, Served
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule

ROOT = Path(__file__).parent.parent.parent
torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
dist = importlib.import_module("torch.distributed")

WORLD = 4
# Ended without finalisation, which threads of torch may outlive, to end in SIGABRT.
CASES = """
import os, sys
import torch
import torch.distributed as dist
import topoloom
from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.execute.runner import Runner, Served

rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
store = dist.FileStore(folder + "/rendezvous", world)
dist.init_process_group("gloo", store=store, rank=rank, world_size=world)


def data(seed, count, dtype=torch.int64):
    made = torch.Generator().manual_seed(seed)
    return torch.randint(-1000, 1000, (count,), generator=made).to(dtype)


def every(count, dtype=torch.int64):
    return [data(at, count, dtype) for at in range(world)]


def check(name, fine):
    if not fine:
        raise SystemExit(f"{name} is wrong at rank {rank}")


for source in ("Torus(2, 2)", "GeneralizedKautz(2, 4)"):
    for algorithm in ("bfb", "forestcoll"):
        runner = Runner([
            topoloom.schedule(source, collective, algorithm=algorithm)
            for collective in ("allreduce", "allgather", "reduce-scatter")
        ])
        for count in (0, 4, 60, 4000):
            mine, total = data(rank, count), sum(every(count))
            tensor = mine.clone()
            runner.all_reduce(tensor)
            check("all_reduce", torch.equal(tensor, total))
            again = data(rank + 7, count)
            runner.all_reduce(again)
            wanted = sum(data(at + 7, count) for at in range(world))
            check("all_reduce again", torch.equal(again, wanted))
            share = count // world
            shard = torch.empty(share, dtype=torch.int64)
            runner.reduce_scatter(shard, mine)
            check("reduce_scatter", torch.equal(shard, total[rank * share:][:share]))
            check("input", torch.equal(mine, data(rank, count)))
            whole = torch.empty(count, dtype=torch.int64)
            runner.all_gather(whole, mine[:share])
            wanted = torch.cat([one[:share] for one in every(count)])
            check("all_gather", torch.equal(whole, wanted))

    exchange = Runner(topoloom.schedule(source, "all-to-all"))
    for count in (4, 60, 4000):
        got = torch.empty(count, dtype=torch.int64)
        exchange.all_to_all(got, data(rank, count))
        part = count // world
        wanted = torch.cat([one[rank * part:][:part] for one in every(count)])
        check("all_to_all", torch.equal(got, wanted))

    root = Runner(topoloom.schedule(source, "broadcast", root=2))
    got = data(rank, 1001)
    root.broadcast(got)
    check("broadcast", torch.equal(got, data(2, 1001)))

# Shapes and types are those of the tensors.
small = Runner(topoloom.schedule("Torus(2, 2)", "allreduce"))
for dtype in (torch.float32, torch.float64, torch.int32):
    tensor = data(rank, 24, dtype).view(2, 3, 4)
    small.all_reduce(tensor)
    check("type", torch.equal(tensor, sum(every(24, dtype)).view(2, 3, 4)))

# In one pass every rank gathers all contributions.
once = Runner(topoloom.schedule("GeneralizedKautz(2, 4)", "allreduce", algorithm="bfb-one-shot"))
for count in (0, 1, 25, 25, 4000):
    tensor = data(rank, count)
    once.all_reduce(tensor)
    check("one pass", torch.equal(tensor, sum(every(count))))

# The schedule is the one of the size.
few, many = (topoloom.schedule(name, "allreduce") for name in ("Torus(2, 2)", "UniRing(4)"))
sized = Runner([Served(many, 1 << 16), few])
check("choice", sized.schedule_for("allreduce", 100) is few)
check("choice", sized.schedule_for("allreduce", 1 << 16) is many)
for count in (16, 1 << 14):
    tensor = data(rank, count)
    sized.all_reduce(tensor)
    check("sized", torch.equal(tensor, sum(every(count))))

# A group of some ranks has ranks of its own.
pair = dist.new_group([1, 3])
if rank in (1, 3):
    two = Runner(topoloom.schedule("UniRing(2)", "allreduce"), pair)
    tensor = data(rank, 100)
    two.all_reduce(tensor)
    check("group", torch.equal(tensor, data(1, 100) + data(3, 100)))

# A design brings its schedules.
found = topoloom.design(4, 2, "allreduce", "1MiB", links="bidirectional")
designed = Runner(topoloom.runnable(found))
tensor = data(rank, 1 << 12)
designed.all_reduce(tensor)
check("design", torch.equal(tensor, sum(every(1 << 12))))


def refused(field, call):
    try:
        call()
    except ExecutionFailed as error:
        check(f"{error} is not at {field}", error.field == field)
    else:
        check(field + " was taken", False)


torus = topoloom.schedule("Torus(2, 2)", "allreduce")
refused("/schedules/0", lambda: Runner(topoloom.schedule("UniRing(3)", "allreduce")))
refused("/schedules", lambda: Runner([]))
refused("/collective", lambda: small.broadcast(torch.zeros(4)))
refused("/tensor", lambda: small.all_reduce(torch.zeros(4, 4).t()))
refused("/output", lambda: exchange.all_to_all(torch.zeros(3), torch.zeros(3)))
refused("/shard", lambda: runner.all_gather(torch.zeros(8), torch.zeros(3)))
refused("/output", lambda: runner.reduce_scatter(torch.zeros(2, dtype=torch.int32), torch.zeros(8)))
refused("/pipeline_chunks", lambda: Served(torus, 0, 0))
dist.barrier()
dist.destroy_process_group()
os._exit(0)
"""

HOOKED = """
import os, sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import topoloom

rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
store = dist.FileStore(folder + "/rendezvous", world)
dist.init_process_group("gloo", store=store, rank=rank, world_size=world)


def gradients(hooked):
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Linear(9, 7), torch.nn.Linear(7, 3))
    model = DistributedDataParallel(layers)
    if hooked:
        runner = topoloom.Runner(topoloom.schedule("Torus(2, 2)", "allreduce"))
        model.register_comm_hook(runner, topoloom.Runner.hook)
    torch.manual_seed(100 + rank)
    model(torch.randn(5, 9)).square().mean().backward()
    return [parameter.grad for parameter in model.parameters()]


for own, ours in zip(gradients(False), gradients(True), strict=True):
    torch.testing.assert_close(ours, own)
sys.path.insert(0, "examples")
import gradients as example
assert example.main() > 0
dist.barrier()
dist.destroy_process_group()
os._exit(0)
"""


def together(script, folder, world=WORLD):
    """Run a script in so many processes; return what each said that went wrong."""
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(rank), str(world), str(folder)],
            cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(world)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=240)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [text for process, text in zip(processes, said, strict=True) if process.returncode]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="loopback is named lo")
@pytest.mark.parametrize("script", [CASES, HOOKED], ids=["collectives", "hook"])
def test_every_collective_gives_every_rank_what_it_promises(script, tmp_path):
    assert together(script, tmp_path) == []


def test_without_a_process_group_it_is_said():
    schedule = RouteSchedule(Collective.ALL_TO_ALL, "sha256:0", (0, 1), 1, ())
    with pytest.raises(ExecutionFailed) as caught:
        Runner(Served(schedule))
    assert caught.value.field == "/group"


def test_blocks_pass_by_others_in_memory_of_their_own():
    ways = [(i, (i + 1) % 4) for i in range(4)] + [(i, (i + 1) % 4, (i + 2) % 4) for i in range(4)]
    ways += [(i, (i + 1) % 4, (i + 2) % 4, (i + 3) % 4) for i in range(4)]
    ring = RouteSchedule(
        Collective.ALL_TO_ALL, "sha256:0", tuple(range(4)), 1, tuple(Route(way, 1) for way in ways)
    )
    for program in programs_of_routes(ring, 40):
        assert program.relay == 3 * 10
        assert [number for number, _ in program.turns] == [0, 1, 2]
        taken = [p for _, turn in program.turns for t in turn.receives for p in t.pieces]
        sent = [p for _, turn in program.turns for t in turn.sends for p in t.pieces]
        assert sum(p.past - p.first for p in taken if p.buffer == OUTPUT) == 30
        assert sum(p.past - p.first for p in sent if p.buffer == DATA) == 30
        assert {p.buffer for p in taken} == {OUTPUT, RELAY}
