"""Ids of stored documents in requests: full ids, or prefixes as in git."""

import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from topoloom.app.store.artifacts import ID_LENGTH, MIN_PREFIX

_PATTERN = f"^[0-9a-f]{{{MIN_PREFIX},{ID_LENGTH}}}$"


def is_id(text: str) -> bool:
    """Return whether a text is an id or a sufficient prefix of an id.

    >>> is_id("3f2a91"), is_id("3f2a9"), is_id("3F2A91"), is_id("lg3-lift-128x4-3f2a")
    (True, False, False, False)
    """
    return re.fullmatch(_PATTERN, text) is not None


def _checked(text: str) -> str:
    if not is_id(text):
        raise ValueError(
            f"must be an id of {ID_LENGTH} lowercase hexadecimal characters, or its first "
            f"{MIN_PREFIX} or more"
        )
    return text


IdPrefix = Annotated[
    str, AfterValidator(_checked), WithJsonSchema({"type": "string", "pattern": _PATTERN})
]
"""An id or a prefix of an id."""
