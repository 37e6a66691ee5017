"""Sparse fields: the requested members of stored documents."""

from collections.abc import Sequence
from typing import Any

from topoloom.app.documents.export import unpacked
from topoloom.app.documents.sparse_fields import parse_whole, select_fields
from topoloom.app.requests.stored_documents import PartQuestion
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact


def part(context: Context, wanted: PartQuestion) -> Any:
    """Return the requested members of a stored document.

    Raises:
        TooLarge: The document is too large to parse.
    """
    return part_of(context.read(wanted.kind, wanted.id), wanted.paths)


def part_of(artefact: Artefact, paths: Sequence[str]) -> Any:
    """Return the members at ``paths`` of a document."""
    return select_fields(parse_whole(unpacked(artefact)), paths)
