"""The check of MSCCL++ plans on a GPU expects what plans do, and notices what they must not do."""

import json
import random
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from benchmarks import bench_mscclpp_gpu as gpu
from benchmarks import mscclpp_calls as calls
from benchmarks import mscclpp_plans as plans

KINDS = ("int32", "uint32", "float16", "bfloat16", "float32")


class Machine:
    """All GPUs of a plan with real memory: blocks in random order, an operation at a time."""

    def __init__(self, document, memories, chunk, kind, seed):
        self.gpus, self.chunk, self.kind = document["gpus"], chunk, kind
        self.memories, self.draw = memories, random.Random(seed)
        self.signals, self.semaphores = Counter(), Counter()
        self.ends = self.joined()

    def joined(self):
        """Join the k-th channel of a type to a peer with the k-th one back."""
        found = defaultdict(list)
        for gpu_ in self.gpus:
            for group in gpu_["channels"]:
                kind = group["channel_type"]
                for at, peer in enumerate(group["connected_to"]):
                    found[kind, gpu_["id"], peer].append((kind, gpu_["id"], at))
        return {
            end: found[kind, peer, one][at]
            for (kind, one, peer), ends in found.items()
            for at, end in enumerate(ends)
        }

    def place(self, rank, block, entry):
        owner, buffer = rank, entry.get("type")
        if buffer is None:
            (refs,) = block["remote_buffer_refs"]
            remote = self.gpus[rank]["remote_buffers"][
                refs["remote_buffer_ids"][entry["buffer_id"]]
            ]
            owner, buffer = remote["rank"], remote["type"]
        first = entry["index"] * self.chunk
        return self.memories[owner][buffer][first : first + entry["size"] * self.chunk]

    def run(self, rank, block, op):
        """Run an operation; return whether it could run."""
        ids = op.get("semaphore_ids", ())
        end = None
        if "channel_ids" in op:
            (group,) = block["channels"]
            end = (op["channel_type"], rank, group["channel_ids"][op["channel_ids"][0]])
        if op["name"] in {"wait", "rlxwait"}:
            if not self.signals[end]:
                return False
            self.signals[end] -= 1
        if op["name"] == "sem_acquire":
            if not all(self.semaphores[rank, each] for each in ids):
                return False
            self.semaphores.subtract((rank, each) for each in ids)
        if op["name"] == "sem_release":
            self.semaphores.update((rank, each) for each in ids)
        if "dst_buff" in op:
            sources = [self.place(rank, block, each) for each in op["src_buff"]]
            (target,) = (self.place(rank, block, each) for each in op["dst_buff"])
            target[:] = calls.added(sources, self.kind) if len(sources) > 1 else sources[0]
        if op["name"] in {"signal", "rlxsignal", "pwsf"}:
            self.signals[self.ends[end]] += 1
        return True

    def finish(self):
        """Run all blocks to their ends."""
        left = [
            (each["id"], block, iter(block["ops"]))
            for each in self.gpus
            for block in each["threadblocks"]
        ]
        heads = [next(ops, None) for _, _, ops in left]
        while any(heads):
            ready = [at for at, head in enumerate(heads) if head]
            self.draw.shuffle(ready)
            moved = [at for at in ready if self.run(*left[at][:2], heads[at])]
            assert moved, "the plan deadlocks"
            for at in moved:
                heads[at] = next(left[at][2], None)


def faults(document, step):
    """Return what the check says of each rank after a run on a machine."""
    plan = calls.read(document)
    made = [calls.contents(plan, rank, step) for rank in range(plan.ranks)]
    memories = []
    for each, (place, memory, _) in zip(document["gpus"], made, strict=True):
        views = {"s": np.zeros(each["scratch_chunks"] * step.chunk, np.uint8)}
        for name, (at, first, last) in (("i", place.source), ("o", place.target)):
            views[name] = memory[at][first:last]
        memories.append(views)
    Machine(document, memories, step.chunk, step.kind, step.seed).finish()
    return [
        calls.fault(plan, rank, step, inputs, memory)
        for rank, (_, memory, inputs) in enumerate(made)
    ]


def sample(count, seed=3):
    draw = random.Random(seed)
    small = [
        case
        for case in plans.cases(draw)
        if case.fabric in {"Complete(4)", "UniRing(5)", "dgx-a100-1"}
    ]
    found = [(case, plans.text(case)) for case in draw.sample(small, count)]
    return [(case, json.loads(made)) for case, made in found if made]


@pytest.mark.slow
def test_what_plans_do_is_what_the_check_expects_and_a_message_without_its_data_is_noticed():
    collectives = set()
    for at, (case, document) in enumerate(sample(60)):
        step = calls.Step(16, KINDS[at % len(KINDS)], at, before=64 * (at % 2), after=32 * (at % 2))
        assert not any(faults(document, step)), case
        assert any(faults(gpu.spoiled(json.loads(json.dumps(document))), step)), case
        collectives.add((case.collective, case.inplace))
    assert len(collectives) == 11


def test_an_output_an_input_and_bytes_beside_a_buffer_are_checked():
    gpus = [{"input_chunks": 1, "output_chunks": 2}] * 2
    plan = calls.read({"collective": "allgather", "inplace": False, "gpus": gpus})
    step = calls.Step(16, "int32", 1, before=8, after=8)
    for allocation, place, word in ((0, 3, "outside"), (0, 9, "input"), (1, 9, "output")):
        _, memory, inputs = calls.contents(plan, 0, step)
        memory[1][8:40] = np.concatenate(inputs)
        assert calls.fault(plan, 0, step, inputs, memory) is None
        memory[allocation][place] ^= 1
        assert word in (calls.fault(plan, 0, step, inputs, memory) or "")


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_drawn_data_do_not_depend_on_the_order(kind):
    drawn = [calls.drawn((1, rank), 64, kind) for rank in range(20)]
    assert (calls.added(drawn, kind) == calls.added(drawn[::-1], kind)).all()
    assert (calls.added(drawn, kind) != calls.added(drawn[1:], kind)).any()


def test_the_calls_of_a_plan_have_the_sizes_that_it_accepts_and_keep_buffers_large_enough():
    gpus = [{"input_chunks": 3, "output_chunks": 3}] * 2
    head = {"collective": "allreduce", "inplace": True, "gpus": gpus}
    document = head | {"min_message_size": 96, "max_message_size": 3 * 2**20}
    made = list(gpu.steps(document, [16, 48, gpu.LARGEST, 2**21], before=512, most=2**22))
    assert [step.chunk for step in made] == [32, 32, 48, 48, 2**20]
    made = list(gpu.steps(document, [16, 48], before=512, most=2**22))
    kept = [(one, step) for one, step in pairwise(made) if step.kept]
    assert kept and all(step.chunk <= one.chunk and step.before == one.before for one, step in kept)
