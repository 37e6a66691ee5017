"""Content negotiation and entity tags."""

from collections.abc import Iterable, Mapping
from typing import Any

from topoloom.app.store.errors import NotAcceptable


def negotiate(form: str | None, accept: str | None, offered: Mapping[str, str]) -> str:
    """Return the format to answer in.

    ``form``, the query parameter, takes precedence over ``accept``, the header.  ``offered``
    maps formats to media types; the first format is the default.

    Raises:
        NotAcceptable: The header allows none of the formats offered.

    >>> offered = {"json": "application/json", "csv": "text/csv"}
    >>> negotiate(None, "text/*;q=0.5, image/png", offered)
    'csv'
    >>> negotiate("json", "text/csv", offered)
    'json'
    """
    if form is not None:
        return form
    if not accept or not accept.strip():
        return next(iter(offered))
    for wanted in _ranges(accept):
        for name, media in offered.items():
            if wanted in ("*/*", media, media.split("/")[0] + "/*"):
                return name
    raise NotAcceptable(accept, list(offered.values()))


def files_described(media_types: Iterable[str]) -> dict[str, Any]:
    """Return the OpenAPI entries of other formats than JSON documents: text or JSON.

    >>> described = files_described(["application/json", "text/csv", "vnd.patch+json"])
    >>> {media: one["schema"]["type"] for media, one in described.items()}
    {'text/csv': 'string', 'vnd.patch+json': ['array', 'object']}
    """
    return {
        media: {"schema": {"type": ["array", "object"] if media.endswith("+json") else "string"}}
        for media in media_types
        if media != "application/json"
    }


def _ranges(accept: str) -> list[str]:
    """Return the media ranges of an Accept header, in descending order of weight."""
    weighted = []
    for index, part in enumerate(accept.split(",")):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            weight = float(quality)
        except ValueError:
            weight = 0.0
        if weight > 0:
            weighted.append((-weight, index, media))
    return [media for _, _, media in sorted(weighted)]


def entity_tag(digest: str, form: str) -> str:
    """Return the strong validator of one representation of a document.

    >>> entity_tag("ab" * 32, "json")
    '"abababababababababababababababab-json"'
    """
    return f'"{digest[:32]}-{form}"'


def is_current(if_none_match: str | None, tag: str) -> bool:
    """Return whether an If-None-Match header names this tag.

    >>> is_current('"a", W/"b"', '"b"'), is_current(None, '"b"'), is_current("*", '"b"')
    (True, False, True)
    """
    if if_none_match is None:
        return False
    names = (name.strip().removeprefix("W/") for name in if_none_match.split(","))
    return any(name in ("*", tag) for name in names)
