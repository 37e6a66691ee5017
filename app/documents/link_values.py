"""What links are worth, and what undoing changes brings: parts of optimum/1."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Node, omitted

if TYPE_CHECKING:
    from topoloom.schedules.optimum.link_values import LinkValue, Restored


@dataclass(frozen=True, slots=True)
class Worth:
    """What links are worth and what undoing changes brings; None is not asked, or no changes."""

    values: "Sequence[LinkValue] | None" = None
    restored: "Sequence[Restored] | None" = None


class LinkValueDocument(Document):
    """What the links of one kind are worth, both ways, parallel ones together."""

    ends: list[Node] = Field(description="two nodes that such links join")
    alike: int = Field(description="how many pairs of nodes symmetry makes like these", ge=1)
    capacity: Exact = Field(description="from the first node to the second, in bandwidth_unit")
    back: Exact = Field(description="from the second node to the first, in bandwidth_unit")
    more: Exact = omitted("algbw gained by each unit of bandwidth more between these two nodes")
    each_more: Exact = omitted("algbw gained by each unit more between every pair alike at once")
    less: Exact = omitted("algbw lost by each unit of bandwidth less between these two nodes")
    doubled: Exact = omitted("algbw where all links between these two are there twice")
    all_doubled: Exact = omitted("algbw where the links of every pair alike are there twice")


class RestoredDocument(Document):
    """The optimum with one change undone."""

    nodes: list[Node] = Field(description="the node, or the two between which links were changed")
    algbw: Exact = Field(description="with that as it was before, in bandwidth_unit")


def worth_members(worth: Worth) -> dict[str, Any]:
    """Return the members `values` and `restored` of optimum/1, those that were asked for."""
    members: dict[str, Any] = {}
    if worth.values is not None:
        members["values"] = _values(worth.values)
    if worth.restored is not None:
        members["restored"] = [
            RestoredDocument(nodes=list(one.nodes), algbw=str(one.algbw)) for one in worth.restored
        ]
    return members


def _values(values: "Sequence[LinkValue]") -> list[LinkValueDocument]:
    """Return what links are worth; what is not known is left out."""
    found = []
    for value in values:
        known: dict[str, Fraction | None] = {
            "more": value.more,
            "each_more": value.each_more,
            "less": value.less,
            "doubled": value.doubled,
            "all_doubled": value.all_doubled,
        }
        members: dict[str, Any] = {
            name: str(number) for name, number in known.items() if number is not None
        }
        there, back = value.capacities
        found.append(
            LinkValueDocument(
                ends=list(value.pairs[0]),
                alike=len(value.pairs),
                capacity=str(there),
                back=str(back),
                **members,
            )
        )
    return found
