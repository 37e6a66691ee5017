"""schedule/1: model of a schedule document; `schedules.formats.schedule` reads and writes it."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from topoloom.app.documents.base import Digest, Document, Node, omitted

_COLLECTIVE = "collective of the schedule"
_TOPOLOGY = "digest of the topology"


class SendDocument(Document):
    """Consecutive chunks of a shard on one link."""

    source: Node = Field(description="sending rank")
    target: Node = Field(description="receiving rank")
    shard: Node = Field(description="rank of the shard")
    first: int = Field(description="first chunk of the shard, from 0", ge=0)
    count: int = Field(description="number of chunks", ge=1)
    op: Literal["copy", "reduce"] = Field(
        description="copy: the receiver stores the data; reduce: the receiver adds it"
    )
    link: int = omitted("index among parallel links", ge=0)


class Steps(Document):
    """A schedule in synchronous steps."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["steps"] = Field(description="steps")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    chunks_per_shard: int = Field(description="number of equal chunks per shard", ge=1)
    steps: list[list[SendDocument]] = Field(description="the sends of each step")


class ShardSizeDocument(Document):
    """The size of the shard of one rank."""

    rank: Node = Field(description="id of the compute node")
    size: int = Field(description="relative size of the shard", ge=1)


class TreeDocument(Document):
    """A tree that carries a part of its root's shard."""

    root: Node = Field(description="rank of the shard")
    weight: int = Field(
        description="multiplicity, as part of trees_per_root times the shard size", ge=1
    )
    edges: list[list[Node]] = Field(
        description="breadth-first from the root; an edge is a path: sender, switches, receiver"
    )


class Trees(Document):
    """A pipelined schedule in trees."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["trees"] = Field(description="trees")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    trees_per_root: int = Field(
        description="sum of the weights of a root, per unit of shard size", ge=1
    )
    root: Node = omitted("source of a broadcast or destination of a reduce")
    shards: list[ShardSizeDocument] = omitted("sizes of the shards, if unequal")
    participants: list[Node] = omitted("participating compute nodes, if not all")
    trees: list[TreeDocument] = Field(description="the trees")


class RouteDocument(Document):
    """A route from one rank to another."""

    path: list[Node] = Field(description="sender, forwarding nodes, receiver")
    weight: int = Field(description="number of units, as part of units_per_pair", ge=1)


class Routes(Document):
    """An all-to-all by routes."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["routes"] = Field(description="routes")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    units_per_pair: int = Field(description="number of equal units of the data of a pair", ge=1)
    routes: list[RouteDocument] = Field(description="routes of all pairs")


class Sequence(Document):
    """An allreduce: a reduce-scatter and an allgather."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["sequence"] = Field(description="sequence")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    parts: list[Annotated[Steps | Trees, Field(discriminator="kind")]] = Field(
        description="schedules that run sequentially, or `together`"
    )
    together: bool = omitted(
        "true if both parts run simultaneously: each piece is distributed as soon as it is reduced"
    )


class ScheduleDocument(
    RootModel[Annotated[Steps | Trees | Routes | Sequence, Field(discriminator="kind")]]
):
    """schedule/1: steps, trees, routes, or a sequence."""
