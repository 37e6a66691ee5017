"""schedule/1: a schedule itself, send by send; the model only, since it is streamed.

`schedules.formats.schedule` writes and reads it.
"""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from topoloom.app.documents.base import Digest, Document, Node, omitted

_COLLECTIVE = "what it carries out"
_TOPOLOGY = "digest of the topology it runs on"


class SendDocument(Document):
    """Some chunks of a shard over one link."""

    source: Node = Field(description="rank that sends")
    target: Node = Field(description="rank that receives")
    shard: Node = Field(description="rank whose shard it is")
    first: int = Field(description="first chunk of the shard, from 0", ge=0)
    count: int = Field(description="number of chunks", ge=1)
    op: Literal["copy", "reduce"] = Field(description="stored at the receiver, or added there")
    link: int = omitted("which of several parallel links", ge=0)


class Steps(Document):
    """A schedule in synchronous steps."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["steps"] = Field(description="steps")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    chunks_per_shard: int = Field(description="equal chunks that each shard is cut into", ge=1)
    steps: list[list[SendDocument]] = Field(description="the sends of each step")


class ShardSizeDocument(Document):
    """The size of the shard of one rank."""

    rank: Node = Field(description="id of the compute node")
    size: int = Field(description="relative to the others", ge=1)


class TreeDocument(Document):
    """A tree that carries a part of its root's shard."""

    root: Node = Field(description="rank whose shard it is")
    weight: int = Field(description="so many of trees_per_root, times the shard's size", ge=1)
    edges: list[list[Node]] = Field(
        description="breadth-first from the root; an edge is a path: sender, switches, receiver"
    )


class Trees(Document):
    """A pipelined schedule in trees."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["trees"] = Field(description="trees")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    trees_per_root: int = Field(description="weights of a root add up to it", ge=1)
    root: Node = omitted("of a broadcast or reduce: where the data begins or ends")
    shards: list[ShardSizeDocument] = omitted("sizes of the shards, where not all equal")
    participants: list[Node] = omitted("compute nodes that take part, where not all do")
    trees: list[TreeDocument] = Field(description="the trees")


class RouteDocument(Document):
    """A route from one rank to another."""

    path: list[Node] = Field(description="sender, nodes that forward, receiver")
    weight: int = Field(description="so many of units_per_pair", ge=1)


class Routes(Document):
    """An all-to-all by routes."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["routes"] = Field(description="routes")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    units_per_pair: int = Field(description="equal units that the data of a pair is cut into", ge=1)
    routes: list[RouteDocument] = Field(description="the routes of all pairs")


class Sequence(Document):
    """An allreduce: a reduce-scatter and an allgather."""

    schema_: Literal["schedule/1"] = Field(alias="schema", description="schedule/1")
    kind: Literal["sequence"] = Field(description="sequence")
    collective: str = Field(description=_COLLECTIVE)
    topology: Digest = Field(description=_TOPOLOGY)
    parts: list[Annotated[Steps | Trees, Field(discriminator="kind")]] = Field(
        description="schedules that run one after the other, or `together`"
    )
    together: bool = omitted(
        "true where both parts run at once: each piece is spread as soon as it is summed"
    )


class ScheduleDocument(
    RootModel[Annotated[Steps | Trees | Routes | Sequence, Field(discriminator="kind")]]
):
    """schedule/1: in steps, in trees, by routes, or a sequence."""
