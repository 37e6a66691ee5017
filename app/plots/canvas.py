"""Common code of plots: style, colors, and output of figures."""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from threading import Lock
from typing import TYPE_CHECKING, Any

from topoloom.app.extras import require_extra
from topoloom.app.files.local_files import UnusableFile, is_stream, write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "topoloom",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Names are untrusted input: draw every text literally, never as TeX.
    "text.parse_math": False,
    "text.usetex": False,
}
# Okabe and Ito: told apart by readers of every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#707070"
MAX_NAME = 80
"""Limit of the characters of a name; names in files can be longer."""
_DOTS_PER_INCH = 160
_drawing = Lock()
_NAMELESS: dict[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}
"""Suffix -> metadata to remove for reproducible files."""


def require_drawable(path: Path, *, beside: bool = False) -> None:
    """Raise unless a plot can be written to a file of this name.

    ``beside`` is true if standard output carries other output.

    Raises:
        MissingExtra: matplotlib is not installed.
        UnusableFile: The suffix is neither .png nor .svg.
    """
    if _form_of(path) not in _NAMELESS:
        raise UnusableFile(path, f"must end in {' or '.join(sorted(_NAMELESS))}")
    if beside and is_stream(path):
        raise UnusableFile(path, "must be a file: standard output carries the table")
    require_extra("matplotlib", "plots")


@contextmanager
def saved_figure(
    path: Path, width: float, height: float, *, arrange: bool = True
) -> "Iterator[Figure]":
    """Yield an empty figure with a size in inches; write the finished figure to a file.

    With ``arrange``, matplotlib lays out panels and legends.  Settings of the user have no effect.
    """
    with _styled(width, height, arrange) as figure:
        yield figure
        save(figure, path)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure in the format of the suffix, without date and version."""
    write_bytes(path, _content(figure, _form_of(path)))


def _form_of(path: Path) -> str:
    """Return the suffix of the format; SVG for standard output."""
    return ".svg" if is_stream(path) else path.suffix.lower()


def svg(
    draw: "Callable[[Figure], None]", width: float, height: float, *, arrange: bool = True
) -> bytes:
    """Return the drawing of ``draw`` as SVG; width and height in inches."""
    with _styled(width, height, arrange) as figure:
        draw(figure)
        return _content(figure, ".svg")


@contextmanager
def _styled(width: float, height: float, arrange: bool) -> "Iterator[Figure]":
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # The settings of matplotlib are global: one thread draws at a time.
    with _drawing, mpl.rc_context(), warnings.catch_warnings():
        # A name may have letters without a font; matplotlib draws a box.
        warnings.filterwarnings("ignore", r"Glyph \d+|Matplotlib currently does not support")
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield Figure(figsize=(width, height), layout="constrained" if arrange else None)


def _content(figure: "Figure", form: str) -> bytes:
    """Return the bytes of a figure in a format, without date and version."""
    content = io.BytesIO()
    figure.savefig(content, format=form[1:], dpi=_DOTS_PER_INCH, metadata=_NAMELESS[form])
    return content.getvalue()


def short(text: str, most: int) -> str:
    """Return a text, truncated to ``most`` characters.

    >>> short("Circulant(12, 2, 3)", 12)
    'Circulant(1…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def label_of(entry: dict[str, Any], most: int) -> str:
    r"""Return the short name of a point, wrapped; without a name, the truncated recipe.

    >>> label_of({"name": "lg3-lift-128x4-3f2a", "recipe": "LineGraph(3, Lift(128))"}, 12)
    'lg3-lift-\n128x4-3f2a'
    """
    return fill(entry["name"], most) if entry.get("name") else short(entry["recipe"], most)
