"""What a query may say about the format that something is written in."""

from typing import Annotated

from fastapi import Depends

from app.options import exporting
from app.quantities import Bytes, Positive
from app.schedule_requests import ExportRequest

__all__ = ["OptionsDep"]


async def _options(
    dialect: Annotated[str | None, exporting.DIALECT.query(max_length=40)] = None,
    runtime: Annotated[str | None, exporting.RUNTIME.query(max_length=40)] = None,
    inplace: Annotated[bool | None, exporting.INPLACE.query()] = None,
    instances: Annotated[int | None, exporting.INSTANCES.query()] = None,
    ranks_per_node: Annotated[int | None, exporting.RANKS_PER_NODE.query()] = None,
    min_bytes: Annotated[Bytes | None, exporting.MIN_BYTES.query()] = None,
    max_bytes: Annotated[Bytes | None, exporting.MAX_EXPORT_BYTES.query()] = None,
    scratch_budget: Annotated[Bytes | None, exporting.SCRATCH_BUDGET.query()] = None,
    channels: Annotated[int | None, exporting.TUNER_CHANNELS.query()] = None,
    bytes: Annotated[Bytes | None, exporting.EXPORT_BYTES.query()] = None,
    alpha_us: Annotated[Positive | None, exporting.EXPORT_ALPHA_US.query()] = None,
    node_gbps: Annotated[Positive | None, exporting.EXPORT_NODE_GBPS.query()] = None,
) -> ExportRequest:
    """Return what the query says about the format."""
    given = {
        "dialect": dialect,
        "runtime": runtime,
        "inplace": inplace,
        "instances": instances,
        "ranks_per_node": ranks_per_node,
        "min_bytes": min_bytes,
        "max_bytes": max_bytes,
        "scratch_budget": scratch_budget,
        "channels": channels,
        "bytes": bytes,
        "alpha_us": alpha_us,
        "node_gbps": node_gbps,
    }
    return ExportRequest(**{name: value for name, value in given.items() if value is not None})


OptionsDep = Annotated[ExportRequest, Depends(_options)]
