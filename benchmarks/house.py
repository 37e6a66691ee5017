"""Write docs/house.md: what every module is for and which package imports which, from the code.

``python -m benchmarks.house`` writes it; a test compares it with what the code says.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "house.md"
FLOORS = ("topoloom", "app", "schedules", "synth")
"""From the top down: each imports from itself and from those below."""

_INTRODUCTION = """# The house

Three floors and a front door: `synth` knows topologies, `schedules` what runs on them, `app`
everything about HTTP, SQL, time and processes; `topoloom` is the face for people who program.
Arrows say who imports from whom, anywhere in a file; they lead down, never up. This page is
made from the code: `make house` writes it, and a test holds it against the imports and the
first lines of the modules. `tests/test_architecture.py` states the rules.
"""


@cache
def modules() -> dict[str, Path]:
    """Return every module of ours by its full name; packages by theirs."""
    found = dict[str, Path]()
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


class Read(NamedTuple):
    """What a module says: its docstring, and the full names it imports, in functions too."""

    told: str
    imports: frozenset[str]


@cache
def read(path: Path) -> Read:
    """Read a module; once, since reading all of them takes seconds."""
    tree, names = ast.parse(path.read_text()), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            names |= {f"{origin}.{alias.name}" for alias in node.names}
    return Read(ast.get_docstring(tree) or "", frozenset(names))


def room(name: str) -> str:
    """Return the room that a module is in: its floor, and the package within that if any.

    >>> room("schedules.formats.msccl.read"), room("schedules.bfb"), room("topoloom")
    ('schedules.formats', 'schedules', 'topoloom')
    """
    parts = name.split(".")
    if len(parts) > 1 and (ROOT / parts[0] / parts[1]).is_dir():
        return ".".join(parts[:2])
    return parts[0]


@cache
def arrows() -> dict[str, set[str]]:
    """Return, for every room, the other rooms it imports from."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        targets = {room(one) for one in read(path).imports if one.split(".")[0] in FLOORS}
        found[room(name)] |= targets - {room(name)}
    return dict(found)


def purpose(path: Path) -> str:
    """Return the first sentence of a module's docstring, as one line."""
    line = " ".join(read(path).told.split("\n\n")[0].split())
    # A bar would end the cell of a table, angle brackets would be markup.
    return line.replace("|", "\\|").replace("<", "&lt;").replace("``", "`")


def drawing() -> Iterator[str]:
    """Yield the lines of the drawing: floors as boxes, rooms in them, arrows between rooms."""
    known = arrows()
    yield "```mermaid"
    yield "flowchart TD"
    for floor in FLOORS:
        yield f"  subgraph {floor}_floor[{floor}]"
        yield from (
            f"    {one.replace('.', '_')}[{one}]" for one in sorted(known) if _floor(one) == floor
        )
        yield "  end"
    for one in sorted(known):
        for other in sorted(known[one]):
            yield f"  {one.replace('.', '_')} --> {other.replace('.', '_')}"
    yield "```"


def page() -> str:
    """Return the text of docs/house.md."""
    lines = [_INTRODUCTION, "## Who imports from whom", "", *drawing(), ""]
    by_room: dict[str, list[str]] = defaultdict(list)
    for name in modules():
        by_room[room(name)].append(name)
    known = arrows()
    for floor in FLOORS:
        lines += [f"## {floor}", ""]
        for one in sorted(by_room):
            if _floor(one) == floor:
                lines += [*_table(one, sorted(by_room[one]), known[one]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _floor(name: str) -> str:
    return name.split(".")[0]


def _table(one: str, names: list[str], targets: set[str]) -> Iterator[str]:
    told = ", ".join(f"`{target}`" for target in sorted(targets)) or "nothing of ours"
    yield f"### {one}"
    yield ""
    yield f"Imports from {told}."
    yield ""
    yield "| module | is for |"
    yield "|---|---|"
    yield from (f"| `{name}` | {purpose(modules()[name])} |" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page())
