"""Text output of the bottleneck of an optimum/1 document."""

from typing import Any

from topoloom.schedules.optimum.cut_description import id_ranges

MOST_CUT_LINES = 8
MOST_MISSING = 60


def cut_lines(cut: dict[str, Any], unit: str) -> list[str]:
    """Return the lines on the nodes inside a cut, by box, and on the links across the cut.

    >>> cut = {"exit_capacity": "25", "boxes": [], "links": [
    ...     {"sources": ["0.gpu0", "0.gpu1"], "targets": ["hub"], "count": 2, "capacity": "25/2"}]}
    >>> cut_lines(cut, "GB/s")
    ['leaving        2 links 0.gpu0..1 -> hub, 25/2 GB/s each']
    """
    alike: dict[tuple[int, str, str], list[str]] = {}
    for part in cut.get("boxes", ()):
        prefix = f"{part['box']}." if part["box"] else ""
        held, missing = (
            id_ranges(str(node).removeprefix(prefix) for node in part[name])
            for name in ("switches", "missing")
        )
        alike.setdefault((len(part["compute"]), missing, held), []).append(part["box"])
    held_lines = []
    for (compute, missing, switches), boxes in alike.items():
        where = f"box{'es' if len(boxes) > 1 else ''} {id_ranges(boxes)}: " if boxes != [""] else ""
        nodes = [f"{compute} compute"] if compute else []
        if compute and 0 < len(missing) <= MOST_MISSING:
            nodes = [f"{compute} compute (not {missing})"]
        each = " each" if len(boxes) > 1 else ""
        held_lines.append(f"{where}{' + '.join([*nodes, *([switches] if switches else [])])}{each}")
    verb = "leaving" if "exit_capacity" in cut else "entering"
    link_lines = [
        f"{group['count']} link{'s' if group['count'] > 1 else ''} "
        f"{id_ranges(group['sources'])} -> "
        f"{id_ranges(group['targets'])}, {group['capacity']} {unit}"
        + (" each" if group["count"] > 1 else "")
        for group in cut.get("links", ())
    ]
    return [*with_label("inside", held_lines), *with_label(verb, link_lines)]


def with_label(label: str, lines: list[str]) -> list[str]:
    """Return lines under one label: the first lines and the number of further lines."""
    shown = lines[:MOST_CUT_LINES]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more, in --json")
    labels = [label, *[""] * len(shown)]
    return [f"{label:<14} {line}" for label, line in zip(labels, shown, strict=False)]
