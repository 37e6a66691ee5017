"""Request for the time of a traced program over latency and bandwidth."""

from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from topoloom.app.requests.base import NotNegative, Positive, Request, optional
from topoloom.app.requests.options import network_curves as options

Table = Annotated[str, Field(min_length=1)]


class NetworkCurvesRequest(Request):
    """The collectives of a trace, as a table, and the networks that they run on."""

    instances: Table = Field(
        description="CSV with a row per collective and rank: goal_rank, stream, start, end, "
        "commId, collective, algo, proto, nranks, data_size, channels, chunkSteps, sliceSteps, "
        "stepSize"
    )
    rings: Table = optional(
        "CSV with a row per communicator, channel and rank: commId, channelId, myRank, nextRank, "
        "nodeId"
    )
    kernel_times: dict[str, Any] = optional(
        "NPKit's events: an object from bytes to measured nanoseconds for each; default: "
        "reductions and copies take no time"
    )
    rank: StrictInt = options.TRACE_RANK.field()
    latency_us: list[NotNegative] = options.LATENCIES_US.field()
    gbps: list[Positive] = options.RATES_GBPS.field()
    max_latency_us: Positive = options.MOST_LATENCY_US.field()
    min_gbps: Positive = options.LEAST_GBPS.field()
    max_gbps: Positive = options.MOST_GBPS.field()
    inside_us: NotNegative = options.TRACE_INSIDE_US.field()
    inside_gbps: Positive = options.TRACE_INSIDE_GBPS.field()
    message_us: NotNegative = options.MESSAGE_END_US.field()
    accelerators_per_host: StrictInt = options.TRACE_ACCELERATORS.field()
    separate_channels: StrictBool = options.SEPARATE_CHANNELS.field()

    @model_validator(mode="after")
    def _within_the_axes(self) -> Self:
        if self.min_gbps >= self.max_gbps:
            raise ValueError("min_gbps must be below max_gbps")
        return self
