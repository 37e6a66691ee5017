"""Times of messages that somebody measured, and what they say of rates and latencies."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, StrictInt

from topoloom.app.requests.base import LEAST_POSITIVE, MOST, Request


class MeasuredRow(Request):
    """How long messages took over one link, one way, the last arrival counted."""

    bytes: Annotated[StrictInt, Field(ge=1, le=10**15)] = Field(description="bytes in all")
    seconds: Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)] = Field(
        description="from the start of the first to the arrival of the last"
    )
    messages: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(
        1, description="how many, sent one after another"
    )
    chunks: Annotated[StrictInt, Field(ge=1, le=10**9)] = Field(
        1, description="chunks in all, at least one a message"
    )


def fitted(rows: list[MeasuredRow], degree: int) -> dict[str, Decimal | None]:
    """Return the members of a request that say what a table of times says.

    Raises
    ------
    ValueError
        Nothing can be fitted to it.
    """
    from topoloom.schedules.errors import NoSchedule
    from topoloom.schedules.simulate.fit_link_costs import Row, fit

    try:
        found = fit([Row(row.bytes, row.seconds, row.messages, row.chunks) for row in rows])
    except NoSchedule as error:
        raise ValueError(f"measured {error.rule}") from None
    costs = (found.alpha_seconds, found.overhead_seconds, found.chunk_seconds)
    alpha, overhead, chunk = (Decimal(repr(float(one * 10**6))) for one in costs)
    rate = Decimal(repr(float(found.link_bytes_per_second * 8 * degree / 10**9)))
    return {
        "node_gbps": min(max(rate, LEAST_POSITIVE), Decimal(MOST)),
        "alpha_us": max(alpha, LEAST_POSITIVE),
        "overhead_us": overhead or None,
        "chunk_us": chunk or None,
        "measured": None,
    }
