"""Measured message times, and the rates and latencies fitted to them."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, StrictInt

from topoloom.app.requests.base import LEAST_POSITIVE, MOST, Request


class MeasuredRow(Request):
    """Time of messages over one link, in one direction, until the last arrival."""

    bytes: Annotated[StrictInt, Field(ge=1, le=10**15)] = Field(description="total bytes")
    seconds: Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)] = Field(
        description="time from the start of the first message to the arrival of the last"
    )
    messages: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(
        1, description="number of messages, sent one after another"
    )
    chunks: Annotated[StrictInt, Field(ge=1, le=10**9)] = Field(
        1, description="total chunks, at least one per message"
    )


def fitted_members(rows: list[MeasuredRow], degree: int) -> dict[str, Decimal | None]:
    """Return the request members that replace a table of measured times.

    Raises:
        ValueError: The table does not determine the costs.
    """
    from topoloom.schedules.errors import NoSchedule
    from topoloom.schedules.simulate.fit_link_costs import Row, fit

    try:
        costs = fit([Row(row.bytes, row.seconds, row.messages, row.chunks) for row in rows])
    except NoSchedule as error:
        raise ValueError(f"measured {error.rule}") from None
    times = (costs.alpha_seconds, costs.overhead_seconds, costs.chunk_seconds)
    alpha, overhead, chunk = (Decimal(repr(float(seconds * 10**6))) for seconds in times)
    rate = Decimal(repr(float(costs.link_bytes_per_second * 8 * degree / 10**9)))
    return {
        "node_gbps": min(max(rate, LEAST_POSITIVE), Decimal(MOST)),
        "alpha_us": max(alpha, LEAST_POSITIVE),
        "overhead_us": overhead or None,
        "chunk_us": chunk or None,
        "measured": None,
    }
