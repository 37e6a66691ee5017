"""The back end "topoloom" of torch.distributed gives what gloo gives, by given schedules."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="the extra `execute` is not installed")

import torch
from torch.distributed.distributed_c10d import _set_pg_timeout

import topoloom
import topoloom.torch
from tests.schedules.torch_programs import PROGRAMS
from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.torch_backend.scheduled_group import ScheduledGroup
from topoloom.schedules.torch_backend.shared_schedules import SharedSchedules

RANKS = 4
TRAINING = ("subgroups", "data_parallel", "fully_sharded", "distributed_tensors")
PYTORCH_TESTS = (
    "test_all_reduce_coalesced_sum", "test_broadcast_full_group", "test_ddp_logging_data_cpu",
)  # fmt: skip
SCRIPT = Path(__file__).with_name("torch_programs.py")
ROOT = SCRIPT.parent.parent.parent


def run(command, **environment):
    """Run a command of Python; return what ended and what it said."""
    return subprocess.run(
        [sys.executable, *map(str, command)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def results_of(folder, ranks, *programs, design):
    """Return what every program gives at every rank, by back end."""
    done = run([SCRIPT, folder, ranks, *programs], TOPOLOOM_DESIGN=design)
    assert done.returncode == 0, done.stderr[-3000:]
    return {
        backend: [torch.load(folder / f"{backend}-{rank}.pt") for rank in range(ranks)]
        for backend in ("gloo", "topoloom")
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return results_of(tmp_path_factory.mktemp("torch"), RANKS, design="Torus(2, 2)")


def require_same(results, program):
    """Require equal whole numbers on both back ends, and fractions within rounding."""
    for ours, theirs in zip(results["topoloom"], results["gloo"], strict=True):
        assert len(ours[program]) == len(theirs[program]) > 0
        for one, other in zip(ours[program], theirs[program], strict=True):
            if one.dtype == torch.float64:
                torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
            else:
                assert torch.equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("program", [one.__name__ for one in PROGRAMS])
def test_programs_give_on_every_rank_what_gloo_gives(results, program):
    require_same(results, program)


@pytest.mark.slow
def test_training_between_eight_ranks_gives_what_gloo_gives(tmp_path):
    results = results_of(tmp_path, 8, *TRAINING, design="")
    for program in TRAINING:
        require_same(results, program)


@pytest.mark.slow
def test_schedules_run_every_collective(results):
    for found in results["topoloom"]:
        assert found["scheduled"] == sorted(Collective)


@pytest.mark.slow
def test_each_reason_to_run_without_a_schedule_is_logged_once(results):
    stated = "sizes are stated or uneven"
    reduction = "the reduction is no sum of numbers and no average of fractions"
    for found in results["topoloom"]:
        assert found["unscheduled"] == [("all-to-all", stated), ("allreduce", reduction)]


@pytest.mark.slow
@pytest.mark.parametrize("program", ["data_parallel", "fully_sharded"])
def test_all_ranks_end_with_the_same_parameters_to_the_last_bit(results, program):
    first, *others = (found[program][4:] for found in results["topoloom"])
    assert len(first) == 4
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(first, other, strict=True))


@pytest.mark.slow
def test_the_program_of_the_guide_runs(tmp_path):
    guide = (ROOT / "docs" / "how-to" / "run-in-pytorch.md").read_text()
    script = tmp_path / "train.py"
    script.write_text(guide.split("```python\n")[1].split("```")[0])
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node", RANKS, script]
    done = run(torchrun, TOPOLOOM_DESIGN="BiRing(4)")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("loss ")
    assert "without a schedule" not in done.stderr


@pytest.mark.slow
def test_pytorchs_own_tests_pass_on_both_back_ends(tmp_path):
    pytest.importorskip("expecttest", reason="the extra `test` is not installed")
    report = tmp_path / "outcomes.json"
    command = [sys.executable, "-m", "benchmarks.bench_torch_tests", "--json", str(report)]
    subprocess.run(
        [*command, "--only", *PYTORCH_TESTS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=850,
    )
    for outcomes in json.loads(report.read_text()).values():
        assert outcomes == {name: ["passed", ""] for name in PYTORCH_TESTS}


@pytest.fixture
def fabric_for(monkeypatch):
    """Return a function that returns the fabric of four ranks for a value of the variable."""

    def of(design):
        monkeypatch.setenv("TOPOLOOM_DESIGN", design)
        topoloom.torch.fabric_for.cache_clear()
        return topoloom.torch.fabric_for(4)

    yield of
    topoloom.torch.fabric_for.cache_clear()


def test_a_design_is_a_file_a_recipe_or_a_fabric(fabric_for, tmp_path):
    ring = tmp_path / "ring.txt"
    ring.write_text("a b 25\nb a 25\n")
    document = {
        "schema": "design/1",
        "request": {"alpha_us": 3, "node_gbps": 200},
        "co_design": {"recipe": "BiRing(5)"},
    }
    design = tmp_path / "design.json"
    design.write_text(json.dumps(document))
    given = {"BiRing(3)": 3, "dgx-a100-2": 16, str(ring): 2, str(design): 5, "": 4}
    assert {name: fabric_for(name).ranks for name in given} == given
    assert fabric_for(str(design)).network.alpha_seconds == Fraction(3, 10**6)


@pytest.mark.parametrize("wrong", ["nowhere.json", "Ring(", "0123abcd"])
def test_what_names_no_design_is_refused(fabric_for, wrong):
    with pytest.raises(ValueError):
        fabric_for(wrong)


def shared(fabric_of):
    """Return what two ranks of a group share."""
    store = torch.distributed.HashStore()  # pyright: ignore[reportPrivateImportUsage]
    return [SharedSchedules(store, rank, 2, fabric_of) for rank in range(2)]


def test_all_ranks_run_the_schedules_that_rank_0_makes(fabric_for):
    asked = []
    ranks = shared(lambda size: asked.append(size) or fabric_for("Complete(2)"))
    first, second = (each.of(Collective.REDUCE, 1) for each in ranks)
    assert first == second and [one.first_bytes for one in first] == [0]
    assert asked == [2]


def test_a_design_of_other_ranks_leaves_collectives_to_the_inner_back_end(fabric_for, caplog):
    for each in shared(lambda size: fabric_for("BiRing(3)")):
        assert each.of(Collective.ALLREDUCE) == ()
        assert "the design has 3 hosts, the group 2 ranks" in caplog.text
        caplog.clear()


def test_a_design_that_cannot_be_read_is_an_error_on_every_rank(fabric_for):
    for each in shared(lambda size: fabric_for("Ring(")):
        with pytest.raises(ExecutionFailed, match="design"):
            each.of(Collective.ALLREDUCE)


@pytest.fixture
def pair(fabric_for):
    """Return two ranks of a group that waits up to ten minutes; each belongs to a thread."""
    store, fabric = torch.distributed.HashStore(), fabric_for("Complete(2)")

    def joined(rank):
        options = SimpleNamespace(
            store=store, group_rank=rank, group_size=2, timeout=timedelta(minutes=10)
        )
        return ScheduledGroup(options, lambda ranks: fabric)

    with ThreadPoolExecutor(2) as threads:
        yield list(threads.map(joined, range(2)))


def options(**values):
    found = torch.distributed.AllreduceOptions()
    for name, value in values.items():
        setattr(found, name, value)
    return found


SECOND = timedelta(seconds=1)
LATE = {
    "options of the call": lambda group: group.allreduce([torch.ones(4)], options(timeout=SECOND)),
    "a short form": lambda group: group.allreduce(torch.ones(4), timeout=SECOND),
    "the group": lambda group: (_set_pg_timeout(SECOND, group), group.allreduce(torch.ones(4)))[1],
    "the wait": lambda group: group.allreduce(
        [torch.ones(4)], options(asyncOp=True, timeout=SECOND)
    ),
}
"""Place of a time limit -> a call of which only one rank takes part."""


@pytest.mark.parametrize("place", LATE)
def test_a_call_that_a_rank_misses_ends_with_an_error_at_the_time_limit(pair, place):
    with pytest.raises(RuntimeError, match=r"[Tt]imed out"):
        LATE[place](pair[0]).wait(timedelta(milliseconds=1))


def test_short_forms_of_a_call_give_what_the_long_forms_give(pair):
    def called(group):
        rank, found = group.rank(), torch.arange(4) + group.rank()
        group.allreduce(found, torch.distributed.ReduceOp.SUM).wait()
        root = torch.full((3,), rank)
        group.broadcast(root, 1).wait()
        gathered = [torch.empty(2, dtype=torch.int64) for _ in range(2)]
        group.allgather(gathered, torch.full((2,), rank)).wait()
        shard = torch.empty(2, dtype=torch.int64)
        group.reduce_scatter(shard, [torch.full((2,), rank + part) for part in (0, 5)]).wait()
        return [one.tolist() for one in (found, root, *gathered, shard)]

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(called, pair)
    assert first == [[1, 3, 5, 7], [1, 1, 1], [0, 0], [1, 1], [1, 1]]
    assert second == [*first[:4], [11, 11]]
