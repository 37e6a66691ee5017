"""Facts that a reader assumes because an input does not state them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from topoloom.synth.errors import InvalidTopology

MAX_ASSUMPTIONS = 1000
MAX_TEXT = 2000
"""Most characters of a sentence in a document."""


class Assumption(NamedTuple):
    """One fact that an input does not state, and the option that states it.

    Args:
        text: A sentence that names the fact and the value taken for it.
        option: The option of `synth.formats.OPTIONS` that changes it; empty where none does.

    >>> Assumption("One NVLink is taken to carry 25 GB/s.", "link_bandwidth").to_document()
    {'text': 'One NVLink is taken to carry 25 GB/s.', 'option': 'link_bandwidth'}
    """

    text: str
    option: str = ""

    def to_document(self) -> dict[str, str]:
        """Return the entry of a document's ``assumed``, without an empty ``option``."""
        return {"text": self.text} | ({"option": self.option} if self.option else {})


def assumed_members(assumed: Iterable[Assumption]) -> dict[str, list[dict[str, str]]]:
    """Return the member ``assumed`` of a document; empty without assumptions."""
    entries = [assumption.to_document() for assumption in assumed]
    return {"assumed": entries} if entries else {}


def assumptions_from_document(value: Any) -> tuple[Assumption, ...]:
    """Return the assumptions in a document's ``assumed``.

    Raises:
        InvalidTopology: The value is no list of objects with ``text`` and optional ``option``.
    """
    if not isinstance(value, list) or len(value) > MAX_ASSUMPTIONS:
        raise InvalidTopology("/assumed", f"must be a list of at most {MAX_ASSUMPTIONS} entries")
    return tuple(_assumption(f"/assumed/{index}", entry) for index, entry in enumerate(value))


def _assumption(place: str, entry: Any) -> Assumption:
    if not isinstance(entry, dict) or "text" not in entry:
        raise InvalidTopology(place, "must be an object with text and an optional option")
    text, option = entry["text"], entry.get("option", "")
    for name, value in (("text", text), ("option", option)):
        if not isinstance(value, str) or len(value) > MAX_TEXT or not value.isprintable():
            raise InvalidTopology(
                f"{place}/{name}", f"must be a printable text of at most {MAX_TEXT} characters"
            )
    return Assumption(text, option)
