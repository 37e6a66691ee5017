"""Link values and effects of repairs: members of optimum/1."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Node, given_members, omitted, renamed_to

if TYPE_CHECKING:
    from topoloom.schedules.optimum.link_values import LinkValue, RestoredRate


@dataclass(frozen=True, slots=True)
class Worth:
    """Link values and effects of repairs; None if not requested, or without changes."""

    values: "Sequence[LinkValue] | None" = None
    restored: "Sequence[RestoredRate] | None" = None


class LinkValueDocument(Document):
    """Values of equivalent links, in both directions and with parallel links."""

    ends: list[Node] = Field(description="two nodes joined by such links")
    equivalent_pairs: int = omitted("number of equivalent pairs of nodes", ge=1)
    alike: int = renamed_to("equivalent_pairs")
    capacity: Exact = Field(description="from the first node to the second, in bandwidth_unit")
    back: Exact = Field(description="from the second node to the first, in bandwidth_unit")
    more: Exact = omitted("algbw gained per additional unit of bandwidth between the two nodes")
    each_more: Exact = omitted("algbw gained per additional unit between all equivalent pairs")
    less: Exact = omitted("algbw lost per unit of bandwidth removed between the two nodes")
    doubled: Exact = omitted("algbw with all links between the two nodes doubled")
    all_doubled: Exact = omitted("algbw with the links of all equivalent pairs doubled")


class RestoredDocument(Document):
    """The optimum after the repair of one change."""

    nodes: list[Node] = Field(
        description="the repaired node, or the two nodes of the repaired links"
    )
    algbw: Exact = Field(description="algbw after the repair, in bandwidth_unit")


def worth_members(worth: Worth) -> dict[str, Any]:
    """Return the members `values` and `restored` of optimum/1, if requested."""
    restored = None
    if worth.restored is not None:
        restored = [
            RestoredDocument(nodes=list(one.nodes), algbw=str(one.algbw)) for one in worth.restored
        ]
    values = None if worth.values is None else _values(worth.values)
    return given_members(values=values, restored=restored)


def _values(values: "Sequence[LinkValue]") -> list[LinkValueDocument]:
    """Return the link values, without unknown members."""
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
                equivalent_pairs=len(value.pairs),
                alike=len(value.pairs),
                capacity=str(there),
                back=str(back),
                **members,
            )
        )
    return found
