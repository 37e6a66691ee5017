"""Parts of stored documents: only the members that were asked for."""

from collections.abc import Sequence
from typing import Any

from topoloom.app.documents.export import unpacked
from topoloom.app.documents.sparse_fields import parse_whole, picked
from topoloom.app.requests.stored_documents import PartQuestion
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact


def part(context: Context, wanted: PartQuestion) -> Any:
    """Return some members of a stored document.

    Raises
    ------
    TooLarge
        The document is too large for its parts to be told.
    """
    return part_of(context.read(wanted.kind, wanted.id), wanted.paths)


def part_of(artefact: Artefact, paths: Sequence[str]) -> Any:
    """Return the same of a document at hand."""
    return picked(parse_whole(unpacked(artefact)), paths)
