"""What all plots share: size, style, colours, and how a figure becomes a file."""

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
    # Names come from strangers: every text is drawn as it is, never as TeX.
    "text.parse_math": False,
    "text.usetex": False,
}
# Okabe and Ito: told apart by readers of every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#707070"
MAX_NAME = 80
"""Names of topologies are not longer; what files call them may be."""
_DOTS_PER_INCH = 160
_drawing = Lock()
_NAMELESS: dict[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}
"""By suffix, what would make two files of the same plot differ."""


def require_drawable(path: Path, *, beside: bool = False) -> None:
    """Raise unless plots can be drawn, into a file of this name.

    ``beside`` says that standard output gets something else.

    Raises
    ------
    MissingExtra
        matplotlib is not installed.
    UnusableFile
        The suffix is neither .png nor .svg.
    """
    if _form_of(path) not in _NAMELESS:
        raise UnusableFile(path, f"must end in {' or '.join(sorted(_NAMELESS))}")
    if beside and is_stream(path):
        raise UnusableFile(path, "must be a file: standard output has the table")
    require_extra("matplotlib", "plots")


@contextmanager
def drawn(path: Path, width: float, height: float, *, arrange: bool = True) -> "Iterator[Figure]":
    """Yield an empty figure of so many inches; write what was drawn on it to a file.

    ``arrange`` leaves the places of panels and legends to matplotlib.  The user's own
    settings of it do not matter.
    """
    with _styled(width, height, arrange) as figure:
        yield figure
        save(figure, path)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as its suffix says, with neither date nor version in it."""
    write_bytes(path, _content(figure, _form_of(path)))


def _form_of(path: Path) -> str:
    """Return the suffix that says how a figure is written; standard output gets SVG."""
    return ".svg" if is_stream(path) else path.suffix.lower()


def svg(
    draw: "Callable[[Figure], None]", width: float, height: float, *, arrange: bool = True
) -> bytes:
    """Return what ``draw`` draws on an empty figure of so many inches, as SVG; as `drawn`."""
    with _styled(width, height, arrange) as figure:
        draw(figure)
        return _content(figure, ".svg")


@contextmanager
def _styled(width: float, height: float, arrange: bool) -> "Iterator[Figure]":
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # The settings of matplotlib are those of the process: one thread draws at a time.
    with _drawing, mpl.rc_context(), warnings.catch_warnings():
        # A name may have letters that no font here has; a box is drawn instead.
        warnings.filterwarnings("ignore", r"Glyph \d+|Matplotlib currently does not support")
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield Figure(figsize=(width, height), layout="constrained" if arrange else None)


def _content(figure: "Figure", form: str) -> bytes:
    """Return a figure in the form of a suffix, with neither date nor version in it."""
    content = io.BytesIO()
    figure.savefig(content, format=form[1:], dpi=_DOTS_PER_INCH, metadata=_NAMELESS[form])
    return content.getvalue()


def short(text: str, most: int) -> str:
    """Return a text cut to so many characters.

    >>> short("Circulant(12, 2, 3)", 12)
    'Circulant(1…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def label_of(entry: dict[str, Any], most: int) -> str:
    r"""Return the short name of a point, whole, in lines; where it has none, its recipe cut.

    >>> label_of({"name": "lg3-lift-128x4-3f2a", "recipe": "LineGraph(3, Lift(128))"}, 12)
    'lg3-lift-\n128x4-3f2a'
    """
    return fill(entry["name"], most) if entry.get("name") else short(entry["recipe"], most)
