"""Request of SimAI-OXC: an allreduce in each communication domain."""

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, field_validator

from topoloom.app.requests.base import Request

MAX_VOLUME = 10**15
"""Most bytes of a rank: SimAI-OXC sends a double, which holds all whole numbers up to here."""
MAX_RANKS = 4096

Rank = Annotated[StrictInt, Field(ge=0, lt=2**31)]
Domain = Annotated[list[Rank], Field(min_length=2, max_length=MAX_RANKS)]


class OxcRequest(Request):
    """Request of the client of SimAI-OXC; the members have the names of that client."""

    ranktable: dict[str, Any] = Field(
        default_factory=dict,
        description="ranks and their addresses; not used: the domains name the ranks",
    )
    dpCommDomain: Annotated[list[Domain], Field(min_length=1, max_length=MAX_RANKS)] = Field(  # noqa: N815
        description="ranks of each domain; each domain runs the allreduce on its own"
    )
    commDomainVolume: Annotated[float, Field(ge=1, le=MAX_VOLUME)] = Field(  # noqa: N815
        description="bytes that every rank of a domain reduces, a whole number"
    )
    rankIdRackIdMap: dict[Annotated[str, Field(pattern="^[0-9]{1,10}$")], StrictStr] = Field(  # noqa: N815
        default_factory=dict,
        max_length=MAX_RANKS,
        description="rack of each rank; ranks of a rack become neighbors",
    )
    algName: Annotated[StrictStr, Field(max_length=4096)] = Field(  # noqa: N815
        description="ALGO_OXC_RING, ALGO_OXC_HD (recursive halving and doubling), ALGO_OXC_NB "
        "(all to all neighbors of a full mesh), or a recipe with as many nodes as each domain"
    )

    @field_validator("commDomainVolume")
    @classmethod
    def _whole(cls, value: float) -> float:
        if value != int(value):
            raise ValueError("must be a whole number of bytes")
        return value

    @field_validator("dpCommDomain")
    @classmethod
    def _disjoint(cls, value: list[list[int]]) -> list[list[int]]:
        ranks = [rank for domain in value for rank in domain]
        if len({*ranks}) < len(ranks):
            raise ValueError("must have each rank in one domain, once")
        if len(ranks) > MAX_RANKS:
            raise ValueError(f"must have at most {MAX_RANKS} ranks in all")
        return value
