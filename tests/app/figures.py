"""What is asked of every picture: its texts are whole, inside, and none lies over another."""

from itertools import combinations

from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse


def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


def texts(figure):
    """Return every text that is seen, with its place in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    drawing = FigureCanvasAgg(figure)
    drawing.draw()
    renderer = drawing.get_renderer()
    unseen = set()
    for axis in (axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                unseen |= {tick.label1, tick.label2}
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in unseen
    ]


def require_legible(figure):
    found = texts(figure)
    width, height = figure.bbox.size
    for text, box in found:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
    for (one, first), (other, second) in combinations(found, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, down) <= 1, (one, other)
    return [text for text, _ in found]
