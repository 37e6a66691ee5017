"""Presets: parameter counts as published, and what a training step sends of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.errors import UnknownPreset
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.models import MODELS
from topoloom.schedules.workloads.presets import (
    BUCKET_BYTES,
    ELEMENT_BYTES,
    FIRST_BUCKET_BYTES,
    PRESETS,
    TOKENS,
    buckets,
    preset,
)
from topoloom.schedules.workloads.tasks import Task, merge_tasks

PUBLISHED = {
    "resnet50": 25_557_032,
    "bert-large": 335_141_888,
    "gpt2-small": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "llama2-7b": 6_738_415_616,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
}
ROUNDED = {"deepseek-v3": "671", "vit-22b": "21.7", "dlrm-dcnv2": "26.2"}
"""Billions of parameters as the papers round them; of DLRM, its tables and dense layers."""


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_as_many_parameters_as_its_published_weights(name):
    parameters = MODELS[name].parameters
    if name in ROUNDED:
        digits = len(ROUNDED[name].partition(".")[2])
        assert f"{parameters / 10**9:.{digits}f}" == ROUNDED[name]
    else:
        assert parameters == PUBLISHED[name]


def sent(tasks, collective):
    return sum(task.size_bytes * task.count for task in tasks if task.collective is collective)


@pytest.mark.parametrize("name", [name for name in PRESETS if name.endswith("-ddp")])
def test_data_parallelism_reduces_every_gradient_once(name):
    known = PRESETS[name]
    assert {task.collective for task in known.tasks} == {Collective.ALLREDUCE}
    size = ELEMENT_BYTES[known.dtype] * known.model.parameters
    assert sent(known.tasks, Collective.ALLREDUCE) == size


@pytest.mark.parametrize("name", [name for name in PRESETS if name.endswith("-fsdp")])
def test_full_sharding_scatters_every_gradient_once_and_gathers_layers_twice(name):
    known = PRESETS[name]
    size = ELEMENT_BYTES[known.dtype]
    layers = sum(part.parameters for part in known.model.parts if part.layer)
    whole = known.model.parameters
    assert sent(known.tasks, Collective.REDUCE_SCATTER) == size * whole
    assert sent(known.tasks, Collective.ALLGATHER) == size * (whole + layers)


def test_expert_parallelism_moves_tokens_four_times_a_layer():
    known = PRESETS["mixtral-8x7b-ep"]
    (moved,) = (task for task in known.tasks if task.collective is Collective.ALL_TO_ALL)
    assert (moved.count, moved.size_bytes) == (4 * 32, TOKENS * 2 * 4096 * 2)
    shared = sum(sum(part.tensors) for part in known.model.parts)
    assert sent(known.tasks, Collective.ALLREDUCE) == 2 * shared
    assert shared < known.model.parameters / 20


@given(st.lists(st.integers(1, 2**27), max_size=40))
def test_buckets_hold_every_tensor_and_close_when_full(sizes):
    found = list(buckets(sizes))
    assert sum(found) == sum(sizes)
    limits = [FIRST_BUCKET_BYTES] + [BUCKET_BYTES] * len(found)
    for bucket, limit in list(zip(found, limits, strict=False))[:-1]:
        assert bucket >= limit
    assert all(bucket < limit + max(sizes) for bucket, limit in zip(found, limits, strict=False))


def test_equal_tasks_are_counted_together():
    gather = Task(Collective.ALLGATHER, 10)
    tasks = merge_tasks(
        [Task(Collective.ALLREDUCE, 10), gather, Task(Collective.ALLGATHER, 20), gather]
    )
    assert [(task.size_bytes, task.count) for task in tasks] == [(20, 1), (10, 2), (10, 1)]


def test_an_unknown_preset_is_refused_with_all_that_are_known():
    with pytest.raises(UnknownPreset) as refused:
        preset("gpt2-xl")
    assert refused.value.field == "/preset"
    assert "gpt2-xl-ddp" in refused.value.rule
