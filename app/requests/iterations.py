"""Requests for training iterations."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, StrictInt, model_validator

from topoloom.app.requests.base import Positive, Request, Share, optional
from topoloom.app.requests.options import cluster, iterations
from topoloom.app.requests.options.cluster import LinkKind

Text = Annotated[str, Field(min_length=1, max_length=4096)]


class IterationRequest(Request):
    """A job, given as a preset or as a model, and the hosts that it runs on."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": ["preset"]}, {"required": ["model"]}],
            "examples": [{"preset": "mixtral-8x7b", "nodes": 8, "degree": 4}],
        },
    )

    preset: Annotated[str, Field(min_length=1, max_length=100)] = optional(
        "job of a public model: llama3-405b, deepseek-v3, mixtral-8x7b, dlrm-dcnv2 or vit-22b"
    )
    model: dict[str, Any] = optional("instead of a preset: a model file")
    nodes: StrictInt = cluster.NODES.field()
    degree: StrictInt = cluster.DEGREE.field()
    links: LinkKind = cluster.LINKS.field()
    parallel: Text = iterations.PARALLEL.field()
    topology: Text = iterations.TOPOLOGY.field()
    accelerator: Annotated[str, Field(min_length=1, max_length=100)] = (
        iterations.ACCELERATOR.field()
    )
    efficiency: Share = iterations.EFFICIENCY.field()
    accelerators_per_host: StrictInt = iterations.ACCELERATORS_PER_HOST.field()
    inside_gbps: Positive = iterations.INSIDE_GBPS.field()
    node_gbps: Positive = iterations.ITERATION_NODE_GBPS.field()
    alpha_us: Positive = cluster.ALPHA_US.field()
    microbatches: StrictInt = iterations.MICROBATCHES.field()

    @model_validator(mode="after")
    def _one_job(self) -> Self:
        if (self.preset is None) == (self.model is None):
            raise ValueError("must have exactly one of preset and model")
        return self
