"""The answer to SimAI-OXC: a list of flows."""

from typing import Annotated

from pydantic import Field, RootModel

Flow = Annotated[list[int], Field(min_length=4, max_length=4)]
"""Source rank, target rank, step, bytes."""


class OxcFlows(RootModel[list[Flow]]):
    """Flows of an allreduce: source rank, target rank, step from 0, bytes."""
