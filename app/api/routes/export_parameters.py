"""Query parameters of export formats."""

from typing import Annotated

from fastapi import Depends

from topoloom.app.requests.base import Bytes, Positive
from topoloom.app.requests.options import exports
from topoloom.app.requests.schedules import ExportRequest


async def _options(
    dialect: Annotated[str | None, exports.DIALECT.query(max_length=40)] = None,
    runtime: Annotated[str | None, exports.RUNTIME.query(max_length=40)] = None,
    inplace: Annotated[bool | None, exports.INPLACE.query()] = None,
    instances: Annotated[int | None, exports.INSTANCES.query()] = None,
    ranks_per_node: Annotated[int | None, exports.RANKS_PER_NODE.query()] = None,
    min_bytes: Annotated[Bytes | None, exports.MIN_BYTES.query()] = None,
    max_bytes: Annotated[Bytes | None, exports.MAX_EXPORT_BYTES.query()] = None,
    scratch_budget: Annotated[Bytes | None, exports.SCRATCH_BUDGET.query()] = None,
    channels: Annotated[int | None, exports.TUNER_CHANNELS.query()] = None,
    bytes: Annotated[Bytes | None, exports.EXPORT_BYTES.query()] = None,
    alpha_us: Annotated[Positive | None, exports.EXPORT_ALPHA_US.query()] = None,
    node_gbps: Annotated[Positive | None, exports.EXPORT_NODE_GBPS.query()] = None,
) -> ExportRequest:
    """Return the export options of the query."""
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
