"""The loader of MSCCL++ plans: each call runs the plan that serves its size, ranks and buffers."""

import ast
import json
import random
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import topoloom
from tests.schedule_oracles import bidirectional_ring, every_schedule
from topoloom.schedules.formats.mscclpp import load_plans
from topoloom.schedules.formats.mscclpp.write import render
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.model.schedule import Collective

RANKS = 8
NAMES = {Collective.ALLREDUCE: "allreduce", Collective.REDUCE_SCATTER: "reducescatter"}
INPUT, APART = 1 << 40, 1 << 50
"""Addresses of the input of every call, and of an output elsewhere."""


@dataclass
class Call:
    """A collective call as a selector of MSCCL++ 0.9 sees it."""

    collective: str
    message_size: int
    world_size: int = RANKS
    n_ranks_per_node: int = 1
    rank: int = 0
    output_buffer: int = APART
    input_buffer: int = INPUT
    dtype: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(name="float32"))
    hints: dict = field(default_factory=dict)


@pytest.fixture(autouse=True)
def allocations(monkeypatch):
    """Return the starts of allocations on a GPU without one; each ends where the next begins."""
    starts = {0, INPUT, APART}
    monkeypatch.setattr(
        load_plans, "place", lambda address: address - max(one for one in starts if one <= address)
    )
    return starts


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Return the sized files of designs, by collective, and the folder that holds all of them."""
    folder = tmp_path_factory.mktemp("set") / "programs"
    folder.mkdir()
    found = {}
    for collective in NAMES:
        design = topoloom.design(RANKS, 3, collective.value, "1MiB", links="bidirectional")
        found[collective] = topoloom.files(design, "mscclpp-json").files
        for one in found[collective]:
            (folder / one.name).write_text(one.text)
    return found, folder


def plan_of(collective, folder, name="plan.json", **options):
    """Write a plan for a ring of four ranks; return what the loader reads of the folder."""
    ring = bidirectional_ring(4)
    schedule = every_schedule(ring)[f"steps-{collective}"]
    (folder / name).write_text(render(schedule, ring, **options))
    return load_plans.read_plans(folder)


@pytest.mark.parametrize("collective", NAMES)
def test_every_size_runs_the_file_that_states_the_size(sets, collective):
    files, folder = sets[0][collective], sets[1]
    plans = load_plans.read_plans(folder)
    drawn = random.Random(3)
    sizes = [drawn.randrange(1 << power) for power in range(8, 36)]
    sizes += [size // one.multiple * one.multiple for one in files for size in sizes]
    sizes += [end for one in files for end in (one.first_bytes, one.last_bytes) if end]
    chosen = set()
    for size in sizes:
        [served, *more] = [
            one.name
            for one in files
            if one.first_bytes <= size <= (one.last_bytes or size) and size % one.multiple == 0
        ] or [None]
        assert more == []
        plan = load_plans.chosen(plans, Call(NAMES[collective], size))
        assert (plan and plan.path.name) == served
        chosen.add(served)
    assert chosen == {None, *(one.name for one in files)}


def test_a_plan_in_place_serves_calls_whose_shard_lies_in_the_whole_data(tmp_path, allocations):
    outputs = {
        "allgather": lambda rank, shard: INPUT - rank * shard,
        "reduce-scatter": lambda rank, shard: INPUT + rank * shard,
        "allreduce": lambda rank, shard: INPUT,
    }
    for collective, output in outputs.items():
        for inplace in (False, True):
            [plan] = plan_of(collective, tmp_path, inplace=inplace)
            for rank in range(4):
                size, shard = 1 << 20, 1 << 18
                given = shard if collective == "allgather" else size
                here = Call(plan.collective, given, 4, rank=rank, output_buffer=output(rank, shard))
                allocations.add(here.output_buffer)
                apart = Call(plan.collective, given, 4, rank=rank)
                assert (plan.serves(here), plan.serves(apart)) == (inplace, not inplace)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_what_a_plan_sends_over_ports_must_start_an_allocation(collective, tmp_path, allocations):
    size, shard = 1 << 20, 1 << 18
    given = shard if collective == "allgather" else size
    for per_node in (1, 2, 4):
        [plan] = plan_of(collective, tmp_path, ranks_per_node=per_node)
        for moved, buffer in ((0, "i"), (512, "i"), (512, "o")):
            place = {"input_buffer": INPUT, "output_buffer": APART}
            place["input_buffer" if buffer == "i" else "output_buffer"] += moved
            call = Call(plan.collective, given, 4, n_ranks_per_node=4, **place)
            assert plan.serves(call) == (not moved or per_node == 4 or buffer not in plan.sent)
        assert ("i" in plan.sent) == (per_node < 4)
    [plan] = plan_of(collective, tmp_path, inplace=True)
    for rank in range(4):
        whole = {"input_buffer": APART, "output_buffer": APART}
        if collective == "allgather":
            whole["input_buffer"] += rank * shard
        elif collective == "reduce-scatter":
            whole["output_buffer"] += rank * shard
        call = Call(plan.collective, given, 4, rank=rank, **whole)
        assert plan.serves(call)
        allocations.remove(APART)
        allocations.add(APART - 512)
        assert not plan.serves(call)
        allocations.add(APART)


class Driver:
    """The one function of a GPU's driver that the loader calls."""

    start = 4096

    def __init__(self, library):
        if library != "libamdhip64.so":
            raise OSError

    def hipMemGetAddressRange(self, start, size, address):  # noqa: N802
        start._obj.value, size._obj.value = self.start, 1 << 20
        return address.value < self.start


def test_the_place_of_a_buffer_is_that_of_the_driver(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(load_plans.ctypes, "CDLL", Driver)
    assert (load_plans.place(4096), load_plans.place(4608)) == (0, 512)
    with pytest.raises(ValueError, match="0x10"):
        load_plans.place(16)
    monkeypatch.setattr(load_plans, "DRIVERS", load_plans.DRIVERS[:1])
    with pytest.raises(OSError, match="libcuda"):
        load_plans.place(4096)


def test_a_plan_with_memory_channels_needs_its_ranks_on_one_machine(tmp_path):
    for per_node, served in {1: {1, 2, 4}, 2: {2, 4}, 4: {4}}.items():
        [plan] = plan_of("allreduce", tmp_path, ranks_per_node=per_node)
        on = {k for k in (1, 2, 4) if plan.serves(Call("allreduce", 1 << 20, 4, k))}
        assert on == served


def test_a_plan_over_a_switch_that_copies_needs_all_ranks_on_one_machine(tmp_path):
    topology = topoloom.build("dgx-h100-sharp-1")
    schedule = topoloom.schedule(topology, "allreduce")
    text = render(schedule, topology, RUNTIMES["mscclpp-h100"], inplace=True, ranks_per_node=8)
    assert '"switch"' in text
    (tmp_path / "plan.json").write_text(text)
    [plan] = load_plans.read_plans(tmp_path)
    call = partial(Call, "allreduce", 1 << 20, 8, output_buffer=INPUT)
    assert [k for k in (1, 2, 4, 8) if plan.serves(call(n_ranks_per_node=k))] == [8]


def test_other_ranks_types_roots_and_collectives_have_no_plan(tmp_path):
    [plan] = plan_of("allreduce", tmp_path)
    assert plan.serves(Call("allreduce", 1 << 20, 4))
    for other in (
        Call("allreduce", 1 << 20, 8),
        Call("allgather", 1 << 18, 4),
        Call("allreduce", (1 << 20) + 4, 4),
        Call("allreduce", 1 << 20, 4, dtype=SimpleNamespace(name="uint8")),
    ):
        assert not plan.serves(other)
    ring = bidirectional_ring(4)
    rooted = topoloom.schedule(ring, "broadcast", root=2)
    (tmp_path / "plan.json").write_text(render(rooted, ring))
    [plan] = load_plans.read_plans(tmp_path)
    for root in range(4):
        assert plan.serves(Call("broadcast", 1 << 20, 4, hints={"root": [root]})) == (root == 2)


def test_plans_of_groups_are_not_read(tmp_path):
    plan_of("allreduce", tmp_path)
    document = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps(document | {"idle": [3]}))
    assert load_plans.read_plans(tmp_path) == []


class Library(ModuleType):
    """The names of MSCCL++ 0.9 that the loader calls, without GPUs."""

    def __init__(self):
        super().__init__("mscclpp.ext")
        self.added, self.selector = {}, None
        self.ExecutionPlan = lambda path, rank: json.loads(Path(path).read_text()) | {"rank": rank}
        self.Algorithm = lambda id, execution_plan: SimpleNamespace(id=id, plan=execution_plan)
        self.AlgorithmCollectionBuilder = lambda: self

    def add_algorithm_builder(self, algorithm):
        plan = algorithm.plan
        self.added.setdefault(plan["collective"], {})[plan["name"]] = algorithm

    def set_algorithm_selector(self, selector):
        self.selector = selector


def test_registered_plans_are_selected_by_size_and_number_of_ranks(sets, tmp_path, monkeypatch):
    library = Library()
    for name in ("mscclpp", "mscclpp.ext"):
        monkeypatch.setitem(sys.modules, name, library)
    files, folder = sets
    plan_of("allreduce", folder, "of-four-ranks.json")
    load_plans.register(5, RANKS, folder)
    assert sum(map(len, library.added.values())) == sum(map(len, files.values()))
    for one in files[Collective.ALLREDUCE]:
        size = -(-one.first_bytes // one.multiple) * one.multiple
        found = library.selector(library.added, Call("allreduce", size))
        assert found.plan["rank"] == 5
        assert found.id == json.loads((folder / one.name).read_text())["name"]
    assert library.selector(library.added, Call("allreduce", 1 << 20, 4)) is None


def test_the_loader_needs_the_standard_library_and_mscclpp_alone():
    tree = ast.parse(Path(load_plans.__file__).read_text())
    named = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                     [alias.name for alias in node.names])
    }  # fmt: skip
    assert named <= sys.stdlib_module_names
