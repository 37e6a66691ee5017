"""The documentation, as the service sends it: each page is the HTML of its Markdown.

A page keeps the path of its file, so links between pages and to pictures need no change.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import topoloom

if TYPE_CHECKING:
    from markdown_it.token import Token

FOLDER = Path(topoloom.__file__).with_name("docs")
"""The documentation of this version: in a wheel a folder, in a checkout a link to ``docs``."""

INDEX = "index.md"
"""The first page."""

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".md": "text/html",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""Suffix of a file -> media type in a browser."""

_SECTIONS = {
    "": "Overview",
    "tutorials": "Tutorials",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "notes": "Notes",
}
"""Folder -> name of its pages, in the order of the list of pages."""

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)


class Heading(NamedTuple):
    """A heading of a page: its level, its text without marks, and its anchor."""

    level: int
    text: str
    anchor: str


@cache
def files() -> dict[str, Path]:
    """Return the files of the documentation by their paths.

    >>> files()["how-to/boxes.md"].name
    'boxes.md'
    """
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in MEDIA_TYPES)
    return {path.relative_to(FOLDER).as_posix(): path for path in found}


@cache
def headings(name: str) -> tuple[Heading, ...]:
    """Return the headings of a page; the first is its title.

    Anchors are those of GitHub.

    >>> headings("how-to/use-the-page.md")[0]
    Heading(level=1, text='Use the page', anchor='use-the-page')
    """
    seen: Counter[str] = Counter()
    found = []
    for marks, text in _HEADING.findall(_FENCE.sub("", files()[name].read_text("utf-8"))):
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        times = f"-{seen[anchor]}" if seen[anchor] else ""
        seen[anchor] += 1
        found.append(Heading(len(marks), re.sub(r"[`*]|\]\([^)]*\)|\[", "", text), anchor + times))
    return tuple(found)


def sections() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each section with the paths of its pages, sorted by title."""
    pages = [name for name in files() if name.endswith(".md")]
    for folder, title in _SECTIONS.items():
        own = [name for name in pages if name.rpartition("/")[0] == folder]
        yield title, sorted(own, key=lambda name: (name != INDEX, headings(name)[0].text))


def contents() -> list[dict[str, Any]]:
    """Return what the search of the page knows: section, path, title and headings of each page."""
    return [
        {
            "section": section,
            "path": name,
            "title": headings(name)[0].text,
            "headings": [[one.text, one.anchor] for one in headings(name)[1:]],
        }
        for section, names in sections()
        for name in names
    ]


def page_html(name: str, shell: str) -> str:
    """Return a page as HTML, without inline styles: an alignment becomes a class.

    ``shell`` has the texts ``{title}``, ``{up}``, ``{pages}`` and ``{content}``.

    >>> page_html("index.md", "{title} {up}")
    'Topoloom ../'
    """
    parts = {
        "{title}": html.escape(headings(name)[0].text),
        "{up}": "../" * (1 + name.count("/")),
        "{pages}": _list_of_pages(name),
        "{content}": _html(name),
    }
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], shell)


def _list_of_pages(name: str) -> str:
    """Return links to all pages, and below the present page to its headings."""
    up = "../" * name.count("/")
    lines = []
    for section, names in sections():
        lines.append(f"<h2>{section}</h2><ul>")
        for one in names:
            title = html.escape(headings(one)[0].text)
            here = ' aria-current="page"' if one == name else ""
            inner = "".join(
                f'<li><a href="#{anchor}">{html.escape(text)}</a></li>'
                for level, text, anchor in headings(one)
                if here and level == 2
            )
            inner = inner and f"<ul>{inner}</ul>"
            lines.append(f'<li><a href="{up}{one}"{here}>{title}</a>{inner}</li>')
        lines.append("</ul>")
    return "\n".join(lines)


def _html(name: str) -> str:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(files()[name].read_text("utf-8"))
    anchors = iter(headings(name))
    for token in tokens:
        if token.type == "heading_open":
            token.attrSet("id", next(anchors).anchor)
        elif token.type in ("th_open", "td_open") and "style" in token.attrs:
            alignment = str(token.attrs.pop("style"))
            token.attrSet("class", alignment.removeprefix("text-align:"))
    # The keyboard scrolls tables and code that are wider than the page.
    markdown.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    markdown.add_render_rule("fence", _code)
    return markdown.renderer.render(tokens, markdown.options, {})


def _code(_: Any, tokens: "list[Token]", index: int, *__: Any) -> str:
    return f'<pre tabindex="0"><code>{html.escape(tokens[index].content.rstrip())}</code></pre>'
