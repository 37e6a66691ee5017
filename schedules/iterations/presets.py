"""Training iterations of public models with their public layouts, for any number of ranks.

Sources, checked in November 2026.  A note of a preset names what its source does not state.

- Llama 3 405B: arXiv:2407.21783, table 4: 16,384 GPUs in 8 x 16 x 128 tensor, pipeline and data
  ranks, 16 M tokens in sequences of 8,192: 16 sequences for each replica.
- DeepSeek-V3: arXiv:2412.19437, section 3.2: 16 pipeline stages, 64 expert ranks over 8 hosts,
  ZeRO-1, DualPipe; section 4.2: 15,360 sequences of 4,096 tokens.
- Mixtral: NVIDIA/Megatron-LM, megatron/core/transformer/moe/README.md, reference mappings: 64 GPUs,
  8 expert ranks, 4 stages of 8 chunks, 256 sequences of 4,096 tokens.
- DLRM: MLPerf Training, recommendation_v2: 65,536 records, 26 tables and their lookups.
- ViT-22B: arXiv:2302.05442, table 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

from topoloom.schedules.errors import NoSchedule, UnknownPreset
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.model_layers import layers_of
from topoloom.schedules.iterations.training_job import (
    PipelineOrder,
    Sharding,
    TrainingJob,
    processes_of,
)
from topoloom.schedules.workloads.models import DLRM_LOOKUPS, DLRM_ROWS, MODELS
from topoloom.schedules.workloads.presets import PRESETS
from topoloom.synth.naming.suggestions import one_of


@dataclass(frozen=True, slots=True)
class JobPreset:
    """A public model with its layout.

    ``accelerator`` names the accelerators of the source; ``per_host`` counts those of a host.
    ``least_ranks`` is a number of ranks that the layout divides.
    """

    name: str
    title: str
    accelerator: str
    per_host: int
    least_ranks: int
    source: str
    _made: Callable[[int], TrainingJob]

    def job(self, ranks: int) -> TrainingJob:
        """Return the job on a number of accelerators.

        Raises:
            NoSchedule: The layout does not divide the ranks.

        >>> str(job_preset("mixtral-8x7b").job(64).processes)
        'expert=8,pipeline=4,data=2'
        """
        return self._made(ranks)


def job_preset(name: str) -> JobPreset:
    """Return the preset with a name.

    >>> job_preset("llama")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.UnknownPreset: /preset: must be one of llama3-405b, ...
    """
    if name in PRESETS:
        rule = f"must be a job; {name} is a list of collectives: `topoloom design --preset {name}`"
        raise UnknownPreset("/preset", rule)
    if name not in JOB_PRESETS:
        raise UnknownPreset("/preset", one_of(name, JOB_PRESETS))
    return JOB_PRESETS[name]


def _llama3_405b(ranks: int) -> TrainingJob:
    source = "arXiv:2407.21783, table 4 and section 3.3.2"
    return TrainingJob(
        "llama3-405b",
        layers_of(MODELS["llama3-405b"], 8192),
        processes_of("tensor=8,pipeline=16", ranks),
        microbatches=16,
        samples=8192,
        width=16384,
        sharding=Sharding.OPTIMIZER,
        order=PipelineOrder.INTERLEAVED,
        chunks=8,
        source=source,
        notes=(
            "A replica has 16 microbatches of one sequence of 8,192 tokens, as on 16,384 GPUs; "
            "another number of ranks changes the global batch.",
        ),
    )


def _deepseek_v3(ranks: int) -> TrainingJob:
    expert = 64
    while expert > 1 and ranks % (16 * expert):
        expert //= 2
    return TrainingJob(
        "deepseek-v3",
        layers_of(MODELS["deepseek-v3"], 4096, ((4 * 7168, 8 * 7168), (8 * 7168, 8 * 7168))),
        processes_of(f"expert={expert},pipeline=16", ranks),
        microbatches=120,
        samples=4096,
        width=7168,
        sharding=Sharding.OPTIMIZER,
        order=PipelineOrder.DUALPIPE,
        source="arXiv:2412.19437, sections 2.1.2, 3.2, 3.3 and 4.2",
        notes=(
            "A replica has 120 microbatches of one sequence of 4,096 tokens: 15,360 sequences on "
            "2,048 GPUs; another number of ranks changes the global batch.",
            "A token travels to at most 4 hosts, in FP8 to the experts and in BF16 back.",
            "Assumed: the chunks of the pipeline have equal numbers of layers.",
            "The two stages of a layer in DualPipe exchange their reduced gradients.",
            "Computations run at the BF16 peak, not at that of FP8.",
        ),
    )


def _mixtral(ranks: int) -> TrainingJob:
    both = 2 * 2 * 4096
    return TrainingJob(
        "mixtral-8x7b",
        layers_of(MODELS["mixtral-8x7b"], 4096, ((both, both), (both, both))),
        processes_of("expert=8,pipeline=4", ranks),
        microbatches=16,
        samples=4096,
        width=4096,
        sharding=Sharding.OPTIMIZER,
        order=PipelineOrder.INTERLEAVED,
        chunks=8,
        source="NVIDIA/Megatron-LM, megatron/core/transformer/moe/README.md, reference mappings",
        notes=(
            "A replica has 16 microbatches of one sequence of 4,096 tokens: 256 sequences on 64 "
            "GPUs; another number of ranks changes the global batch.",
        ),
    )


def _dlrm(ranks: int) -> TrainingJob:
    pooled = len(DLRM_ROWS) * 128 * 4
    return TrainingJob(
        "dlrm-dcnv2",
        layers_of(MODELS["dlrm-dcnv2"], 1, ((DLRM_LOOKUPS * 8, pooled), (pooled,))),
        ProcessGroups((("expert", ranks),)),
        samples=512,
        element_bytes=4,
        source="MLPerf Training, recommendation_v2 README",
        notes=(
            "Assumed: a rank has 512 records, the 65,536 of the source on 128 GPUs; another number "
            "of ranks changes the global batch.",
            "The rows of every table are divided evenly among all ranks.",
        ),
    )


def _vit(ranks: int) -> TrainingJob:
    return TrainingJob(
        "vit-22b",
        layers_of(MODELS["vit-22b"], 256),
        ProcessGroups((("data", ranks),)),
        samples=64 * 256,
        sharding=Sharding.FULL,
        source="arXiv:2302.05442, table 1",
        notes=(
            "Assumed: a rank has 64 images of 256 patches, 65,536 images on 1,024 chips; another "
            "number of ranks changes the global batch.",
            "Assumed: parameters are fully sharded over all ranks; the paper divides layers, too.",
        ),
    )


JOB_PRESETS = {
    one.name: one
    for one in (
        JobPreset(
            *("llama3-405b", "Llama 3 405B, 8-way tensor and 16-way pipeline parallel", "h100", 8),
            *(128, "arXiv:2407.21783", _llama3_405b),
        ),
        JobPreset(
            *("deepseek-v3", "DeepSeek-V3, 16-way pipeline and 64-way expert parallel", "h800", 8),
            *(16, "arXiv:2412.19437", _deepseek_v3),
        ),
        JobPreset(
            *("mixtral-8x7b", "Mixtral 8x7B, 4-way pipeline and 8-way expert parallel", "h100", 8),
            *(32, "NVIDIA/Megatron-LM, megatron/core/transformer/moe/README.md", _mixtral),
        ),
        JobPreset(
            *("dlrm-dcnv2", "DLRM of MLPerf, tables on all ranks, dense layers replicated"),
            *("a100", 8, 2, "MLPerf Training, recommendation_v2", _dlrm),
        ),
        JobPreset(
            *("vit-22b", "ViT-22B, fully sharded data parallel", "h100", 8),
            *(2, "arXiv:2302.05442", _vit),
        ),
    )
}
"""The presets, by name."""


def with_parallel(job: TrainingJob, sizes: str, ranks: int) -> TrainingJob:
    """Return the job with other sizes of parallelism.

    Raises:
        NoSchedule: The sizes do not multiply to the ranks, or break another rule of the job.
    """
    try:
        return job.with_parallel(processes_of(sizes, ranks))
    except NoSchedule as error:
        raise NoSchedule("/parallel", error.rule) from None
