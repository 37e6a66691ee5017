"""Write docs/reference/atlas.md and docs/images/atlas-*.svg.

    python -m benchmarks.atlas [--processes 2] [--out docs]

Needs the extra ``plots``.  The same catalog and the same matplotlib give the same bytes.
"""

import argparse
import time
from pathlib import Path

from benchmarks.atlas import plots, tables
from benchmarks.atlas.survey import DEGREES, PUBLISHED, SIZES, Survey, survey


def write(found: Survey, directory: Path) -> list[Path]:
    """Write reference/atlas.md and images/*.svg below a directory; return their paths."""
    figures = {tables.STEPS: plots.steps(found), tables.EXCESS: plots.excess(found)}
    if front := found.beside(PUBLISHED):
        figures[tables.FRONTIER] = plots.staircase(front, PUBLISHED)
    images = directory / "images"
    text = directory / "reference" / "atlas.md"
    for folder in (images, text.parent):
        folder.mkdir(parents=True, exist_ok=True)
    text.write_text(tables.page(found), encoding="utf-8")
    for name, figure in figures.items():
        plots.save(figure, images / name)
    return [text, *(images / name for name in figures)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args()
    start = time.perf_counter()
    found = survey(SIZES, DEGREES, options.processes)
    paths = write(found, options.out)
    print(f"{time.perf_counter() - start:.0f} s: {', '.join(map(str, paths))}")


if __name__ == "__main__":
    main()
