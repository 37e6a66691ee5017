"""Static files of the page, read once, in a folder named for the digest of their contents.

Browsers keep a file of that folder forever.  A changed file changes the name of the folder, and
`SHELL`, which browsers revalidate, names the new folder.
"""

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from topoloom.app.web import documentation
from topoloom.app.web.fields import forms

SHELL = "index.html"
"""File of the page itself; ``{files}`` and ``{modules}`` are filled in."""

FIELDS = "fields.json"
"""File with the fields of the forms, made of the request models."""

CONTENTS = "documentation.json"
"""File with the titles and headings of the documentation."""

_STATIC = Path(__file__).with_name("static")
_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as the service sends it: plain and gzipped, with its media type and digest."""

    content: bytes
    packed: bytes
    media_type: str
    digest: str


@cache
def assets() -> dict[str, Asset]:
    """Return the files of the page by name.

    >>> assets()["main.js"].media_type, b"{files}" in assets()["index.html"].content
    ('text/javascript', False)
    """
    files = dict(_files())
    prefix = f"page/{_version(files)}"
    # A browser loads the modules at once, not each after the module that imports it.
    modules = "\n".join(
        f'<link rel="modulepreload" href="{prefix}/{name}">'
        for name in sorted(files)
        if name.endswith(".js") and name != "documentation.js"
    )
    shell = files[SHELL].replace(b"{files}", prefix.encode())
    files[SHELL] = shell.replace(b"{modules}", modules.encode())
    return {
        name: _asset(content, _MEDIA_TYPES[Path(name).suffix]) for name, content in files.items()
    }


@lru_cache(maxsize=256)
def document(name: str) -> Asset:
    """Return a file of the documentation; a Markdown file becomes a page.

    >>> document("index.md").media_type, b"<h1" in document("index.md").content
    ('text/html', True)
    """
    media_type = documentation.MEDIA_TYPES[Path(name).suffix]
    if not name.endswith(".md"):
        return _asset(documentation.files()[name].read_bytes(), media_type)
    shell = (_STATIC / "documentation.html").read_text("utf-8")
    page = documentation.page_html(name, shell.replace("{files}", f"page/{version()}"))
    return _asset(page.encode(), media_type)


@cache
def version() -> str:
    """Return the name of the folder of the files."""
    return _version(dict(_files()))


def _files() -> Iterator[tuple[str, bytes]]:
    for path in sorted(_STATIC.iterdir()):
        if path.suffix in _MEDIA_TYPES:
            yield path.name, path.read_bytes()
    yield FIELDS, _json(forms())
    yield CONTENTS, _json(documentation.contents())


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _version(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def _asset(content: bytes, media_type: str) -> Asset:
    packed = gzip.compress(content, mtime=0)
    return Asset(content, packed, media_type, hashlib.sha256(content).hexdigest())
