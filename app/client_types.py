"""What the client's methods are asked; made by ``python -m app.client_typing``."""

# fmt: off
# ruff: noqa: E501
from typing import Any, Literal, Required, TypedDict

__all__ = [
    "DesignRequest",
    "ListQuery",
    "OptimumQuery",
    "PatchPlanRequest",
    "ScheduleRequest",
    "SimulationRequest",
    "TopologySource",
]


class DesignRequest(TypedDict, total=False):
    """What is asked by POST /v1/designs."""

    nodes: Required[int]
    degree: Required[int]
    links: Literal["unidirectional", "bidirectional"]
    parallel_links: bool
    vertex_transitive: bool
    families: list[str]
    max_steps: int
    all_to_all: bool
    node_gbps: float
    alpha_us: float
    collective: Literal["allgather", "reduce-scatter", "allreduce", "all-to-all"]
    bytes: int | str
    workload: list[dict[str, Any]]
    preset: str


class ListQuery(TypedDict, total=False):
    """What is asked by GET /v1/designs."""

    limit: int
    cursor: str


class OptimumQuery(TypedDict, total=False):
    """What is asked by GET /v1/topologies/{id}/optimum."""

    collective: Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]
    trees_per_root: int
    max_gap: int | str
    root: str
    shards: list[str]
    participants: list[str]


class PatchPlanRequest(TypedDict, total=False):
    """What is asked by POST /v1/patch-plans."""

    topology: Required[dict[str, Any]]
    panels: Literal["per-port", "single"]
    hosts: int
    lanes: int
    present: list[Any] | dict[str, Any]


class ScheduleRequest(TypedDict, total=False):
    """What is asked by POST /v1/schedules."""

    trees_per_root: int
    max_gap: int | str
    root: int | str
    shards: list[dict[str, Any]]
    participants: list[int | str]
    topology: Required[dict[str, Any]]
    collective: Required[Literal["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"]]
    algorithm: Literal["bfb", "slack", "forestcoll", "lifted", "mcf", "shortest-paths"]
    max_chunks: int
    steps: int


class SimulationRequest(TypedDict, total=False):
    """What is asked by POST /v1/schedules/{id}/simulation."""

    bytes: Required[int | str]
    alpha_us: float
    node_gbps: float
    link_gbps: float
    overhead_us: float
    channels: int
    chunks: int
    synchronous: bool


class TopologySource(TypedDict, total=False):
    """What is asked by POST /v1/topologies."""

    recipe: str
    fabric: str
    document: dict[str, Any]
    id: str
    name: str
    text: str
    format: Literal["json", "matrix", "matrix-market", "node-link", "graphml", "gexf", "gml", "edgelist", "undirected-edgelist", "adjlist", "undirected-adjlist", "multiline-adjlist", "graph6", "sparse6", "digraph6", "nccl-xml", "nvidia-smi", "rocm-smi", "amd-smi"]
    capacity_attribute: str
    kind_attribute: str
    switch_values: list[str]
    unit: str
    link_bandwidth: int | str
    nvlink: str
    boxes: int
    network: str
    oversubscription: int | str
    nics: str
    nic_bandwidth: int | str
    pcie: Literal["auto", "always"]
    changes: dict[str, Any]
    graphs: dict[str, Any]
