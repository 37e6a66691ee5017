"""The operations that a job may carry out: each a request and one function of the services."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import ConfigDict

from app.artefacts import KINDS, Artefact
from app.jobs.model import Task
from app.request_base import Request
from app.schemas import (
    DesignRequest,
    FrontierRequest,
    OptimumRequest,
    PatchPlanRequest,
    ScheduleRequest,
)
from app.services import costs, designs, frontiers, patch_plans, schedules, sweeps, topologies
from app.services.context import Context
from app.sweep_request import SweepRequest
from app.topology_source import TopologySource

__all__ = ["OPERATIONS", "CostTask", "Operation", "OptimumTask", "carry_out", "place"]


class CostTask(Request):
    """Of which topology the cost is wanted."""

    topology: TopologySource


class OptimumTask(Request):
    """Of which topology which optimum is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    topology: TopologySource
    question: OptimumRequest


@dataclass(frozen=True, slots=True)
class Operation:
    """What is asked, what answers it, and which kind of document the answer is."""

    request: type[Request]
    answer: Callable[[Context, Any], Artefact]
    kind: str


def _cost(context: Context, task: CostTask) -> Artefact:
    return costs.measure(context, task.topology, field="/topology")


def _optimum(context: Context, task: OptimumTask) -> Artefact:
    return costs.optimum(context, task.topology, task.question, field="/topology")


OPERATIONS = MappingProxyType(
    {
        "design": Operation(DesignRequest, designs.create, "design"),
        "frontier": Operation(FrontierRequest, frontiers.frontier, "frontier"),
        "topology": Operation(TopologySource, topologies.create, "topology"),
        "cost": Operation(CostTask, _cost, "cost"),
        "optimum": Operation(OptimumTask, _optimum, "optimum"),
        "schedule": Operation(ScheduleRequest, schedules.create, "schedule"),
        "patch-plan": Operation(PatchPlanRequest, patch_plans.create, "patch-plan"),
        "sweep": Operation(SweepRequest, sweeps.create, "sweep"),
    }
)
"""Name of an operation -> what it is."""


def carry_out(context: Context, task: Task) -> Artefact:
    """Return the stored answer of a task, computed if need be.

    Raises
    ------
    Exception
        What the services raise.
    """
    operation = OPERATIONS[task.operation]
    request = operation.request.model_validate(json.loads(task.body))
    return operation.answer(context, request)


def place(operation: str, made: str) -> str:
    """Return the path of the document that an operation made.

    >>> place("patch-plan", "3f2a91")
    '/v1/patch-plans/3f2a91'
    """
    known = OPERATIONS.get(operation)
    kind = operation if known is None else known.kind
    return f"/v1/{KINDS.get(kind, kind).replace('_', '-')}/{made}"
