"""What the client's methods are asked; made by ``python -m topoloom.app.codegen.client_types``."""

# fmt: off
# ruff: noqa: E501
from typing import Any, Literal, Required, TypedDict

__all__ = [
    "BatchRequest",
    "ComparisonRequest",
    "CostRequest",
    "CrossWiringRequest",
    "DesignRequest",
    "FrontierRequest",
    "ListQuery",
    "LrLeaseRequest",
    "LrObservationRequest",
    "LrSessionRequest",
    "ObservationRequest",
    "OptimumQuery",
    "PatchPlanRequest",
    "RepairsRequest",
    "ScheduleRequest",
    "SimulationRequest",
    "SurveyRequest",
    "SweepRequest",
    "TimedScheduleRequest",
    "TopologyOptimumRequest",
    "TopologySource",
    "VerifyRequest",
]


class BatchRequest(TypedDict, total=False):
    """What is asked by POST /v1/designs/batch."""

    designs: Required[list[dict[str, Any]]]


class ComparisonRequest(TypedDict, total=False):
    """What is asked by POST /v1/comparisons."""

    designs: list[str]
    schedules: list[str]
    topology: dict[str, Any]
    collective: Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]
    root: int | str
    bytes: int | str
    alpha_us: float
    node_gbps: float
    overhead_us: float
    chunk_us: float


class CostRequest(TypedDict, total=False):
    """What is asked by POST /v1/costs."""

    topology: Required[dict[str, Any]]


class CrossWiringRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans/cross-wiring."""

    plant: Required[list[dict[str, Any]] | dict[str, Any]]


class DesignRequest(TypedDict, total=False):
    """What is asked by POST /v1/designs."""

    nodes: Required[int]
    degree: Required[int]
    links: Literal["unidirectional", "bidirectional"]
    parallel_links: bool
    vertex_transitive: bool
    families: list[str]
    bases: list[str]
    max_steps: int
    schedule: Literal["bfb", "best"]
    all_to_all: bool
    node_gbps: float
    port_gbps: float
    alpha_us: float
    collective: Literal["allgather", "reduce-scatter", "allreduce", "all-to-all"]
    bytes: int | str
    workload: list[dict[str, Any]]
    preset: str
    panels: Literal["per-port", "single"]
    plant: list[dict[str, Any]] | dict[str, Any]
    present: list[dict[str, Any]] | dict[str, Any]
    place: Literal["fixed", "free"]
    spares: bool
    objective: Literal["moves", "seconds", "drained"]
    max_moves: int
    max_rewiring_seconds: float
    max_drained: int
    overhead_us: float
    chunk_us: float
    measured: list[dict[str, Any]]


class FrontierRequest(TypedDict, total=False):
    """What is asked by POST /v1/frontiers."""

    nodes: Required[int]
    degree: Required[int]
    links: Literal["unidirectional", "bidirectional"]
    parallel_links: bool
    vertex_transitive: bool
    families: list[str]
    bases: list[str]
    max_steps: int
    schedule: Literal["bfb", "best"]
    all_to_all: bool


class ListQuery(TypedDict, total=False):
    """What is asked by GET /v1/designs."""

    limit: int
    cursor: str
    sort: Literal["created", "-created", "nodes", "-nodes", "degree", "-degree", "steps", "-steps", "bandwidth", "-bandwidth"]
    nodes: int
    nodes_min: int
    nodes_max: int
    degree: int
    degree_min: int
    degree_max: int
    steps: int
    steps_min: int
    steps_max: int
    bandwidth: int | str
    bandwidth_min: int | str
    bandwidth_max: int | str
    created_min: str
    created_max: str
    links: Literal["unidirectional", "bidirectional"]
    family: str
    label: str
    pinned: bool
    fields: str


class LrLeaseRequest(TypedDict, total=False):
    """What is asked by POST /v1/lr-sessions/{id}/lease."""

    lease: str
    sequence: int


class LrObservationRequest(TypedDict, total=False):
    """What is asked by POST /v1/lr-sessions/{id}/observations."""

    lease: Required[str]
    sequence: Required[int]
    losses: list[float | Literal["nan", "inf", "-inf"]]
    unasked: bool


class LrSessionRequest(TypedDict, total=False):
    """What is asked by POST /v1/lr-sessions."""

    name: str
    min_lr: Required[float]
    max_lr: Required[float]
    total_steps: Required[int]
    method: Literal["topoloom", "paper"]
    seed: int
    warmup_steps: int
    warmup_lr: float
    tau_min: int
    tau_max: int
    trial_fraction: float
    side_by_side: int
    candidates: int
    kappa: float
    validation: Literal["late", "never"]
    eps: float
    anchor: Literal["cosine", "wsd", "none"]
    decay_share: float
    continue_winner: bool
    stop_hopeless: bool
    warm_start: bool
    hold_rate: bool
    look_above: bool
    stop_rises: bool
    max_overhead: float | Literal["inf"]


class ObservationRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans/{id}/observations."""

    panels: dict[str, Any]
    neighbours: list[dict[str, Any]]
    stage: int


class OptimumQuery(TypedDict, total=False):
    """What is asked by GET /v1/topologies/{id}/optimum."""

    collective: Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]
    trees_per_root: int
    max_gap: int | str
    root: str
    shards: list[str]
    participants: list[str]
    values: bool


class PatchPlanRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans."""

    topology: Required[dict[str, Any]]
    panels: Literal["per-port", "single"]
    hosts: int
    lanes: int
    plant: list[dict[str, Any]] | dict[str, Any]
    spares: bool
    place: Literal["fixed", "free"]
    objective: Literal["moves", "seconds", "drained"]
    max_links_down: int
    stay_connected: bool
    make_first: bool
    present: list[Any] | dict[str, Any]


class RepairsRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans/{id}/repairs."""

    hosts: list[str]
    host_ports: list[str]
    ports: list[str]
    pairs: list[str]
    way: Literal["re-patch", "spare-ports", "spare-host", "left-out"]


class ScheduleRequest(TypedDict, total=False):
    """What is asked by POST /v1/schedules."""

    trees_per_root: int
    max_gap: int | str
    root: int | str
    shards: list[dict[str, Any]]
    participants: list[int | str]
    topology: Required[dict[str, Any]]
    collective: Required[Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]]
    algorithm: Literal["bfb", "slack", "forestcoll", "lifted", "bfb-one-shot", "slack-one-shot", "lifted-one-shot", "mcf", "shortest-paths"]
    max_height: int
    max_chunks: int
    steps: int


class SimulationRequest(TypedDict, total=False):
    """What is asked by POST /v1/schedules/{id}/simulation."""

    bytes: Required[int | str]
    alpha_us: float
    node_gbps: float
    link_gbps: float
    overhead_us: float
    chunk_us: float
    channels: int
    chunks: int
    synchronous: bool


class SurveyRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans/{id}/survey."""

    at_once: int
    worst: int


class SweepRequest(TypedDict, total=False):
    """What is asked by POST /v1/sweeps."""

    over: Required[Literal["sizes", "time", "faults"]]
    nodes: list[int | str]
    degrees: list[int | str]
    topology: dict[str, Any]
    lost: list[Literal["link", "host", "switch"]]
    question: dict[str, Any]


class TimedScheduleRequest(TypedDict, total=False):
    """What is asked by POST /v1/simulations."""

    bytes: Required[int | str]
    alpha_us: float
    node_gbps: float
    link_gbps: float
    overhead_us: float
    chunk_us: float
    channels: int
    chunks: int
    synchronous: bool
    topology: dict[str, Any]
    schedule: dict[str, Any]
    schedule_id: str
    text: str
    format: Literal["msccl-xml", "mscclpp-json", "nccl-tuner-csv"]
    dialect: Literal["msccl", "azure", "rccl"]
    runtime: str
    traces: list[str]


class TopologyOptimumRequest(TypedDict, total=False):
    """What is asked by POST /v1/optima."""

    trees_per_root: int
    max_gap: int | str
    root: int | str
    shards: list[dict[str, Any]]
    participants: list[int | str]
    collective: Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]
    values: bool
    topology: Required[dict[str, Any]]


class TopologySource(TypedDict, total=False):
    """What is asked by POST /v1/topologies."""

    recipe: str
    fabric: str
    document: dict[str, Any]
    id: str
    name: str
    text: str
    format: Literal["json", "matrix", "matrix-market", "node-link", "graphml", "gexf", "gml", "edgelist", "undirected-edgelist", "adjlist", "undirected-adjlist", "multiline-adjlist", "graph6", "sparse6", "digraph6", "slurm", "msccl-tools", "taccl", "nccl-xml", "nvidia-smi", "rocm-smi", "amd-smi"]
    capacity_attribute: str
    kind_attribute: str
    switch_values: list[str]
    unit: str
    directed: bool
    link_bandwidth: int | str
    nvlink: str
    pcie_bandwidth: int | str
    cpu_bandwidth: int | str
    boxes: int
    network: str
    oversubscription: int | str
    nics: str
    nic_bandwidth: int | str
    pcie: str
    changes: dict[str, Any]
    graphs: dict[str, Any]


class VerifyRequest(TypedDict, total=False):
    """What is asked by POST /v1/verify."""

    topology: dict[str, Any]
    schedule: dict[str, Any]
    schedule_id: str
    text: str
    format: Literal["msccl-xml", "mscclpp-json", "nccl-tuner-csv"]
    dialect: Literal["msccl", "azure", "rccl"]
    runtime: str
    traces: list[str]
