"""Plot of time by data size: the points of a frontier, the baselines, the bound."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.app.plots.canvas import COLOURS, GREY, label_of
from topoloom.app.plots.message_size_times import Times, costs_of
from topoloom.app.requests.message_sizes import SizesRequest, sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.4, 5.4)
_WIDE = 30
"""Width of the legend in characters."""
_MAX_RATIO = 4
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_TIME_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SHADES = ("0.35", "0.55", "0.7")
_DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))


class Curve(NamedTuple):
    """Times by size in seconds, with label and style."""

    label: str
    sizes: list[int]
    seconds: list[Fraction]
    look: dict[str, Any]


def draw(figure: "Figure", document: dict[str, Any], request: SizesRequest) -> None:
    """Draw the times of a frontier/1 document, with their ratios to the bound below."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    times, drawn = Times(request, document["bounds"]), sizes(*request.range)
    least = {size: times.bound(size) for size in drawn}
    for curve in (*_points(document, times, drawn), *_baselines(times, drawn)):
        above.plot(curve.sizes, list(map(float, curve.seconds)), label=curve.label, **curve.look)
        pairs = zip(curve.sizes, curve.seconds, strict=True)
        below.plot(curve.sizes, [float(time / least[size]) for size, time in pairs], **curve.look)
    look = {"color": "black", "linewidth": 1, "zorder": 1}
    above.plot(drawn, list(map(float, least.values())), label=times.bound_name, **look)
    below.axhline(1, **look)
    if request.collective is None and drawn[0] <= request.total_bytes <= drawn[-1]:
        for panel, label in ((above, "the workload as it is"), (below, None)):
            panel.axvline(request.total_bytes, color=GREY, linestyle=":", label=label)
    _name(above, below, request)
    below.set_ylabel(f"time / {times.bound_name}")
    figure.legend(loc="outside right upper", frameon=False)


def _points(document: dict[str, Any], times: Times, drawn: list[int]) -> Iterator[Curve]:
    """Yield the curves of the topologies, in color."""
    for index, entry in enumerate(document["frontier"]):
        yield Curve(
            _label(entry, times.request),
            drawn,
            [times.on(entry, size) for size in drawn],
            {"color": COLOURS[index % len(COLOURS)], "linewidth": 2},
        )


def _label(entry: dict[str, Any], request: SizesRequest) -> str:
    """Return the short name of a point; for a single collective, with its cost."""
    name = label_of(entry, _WIDE)
    if request.collective is None:
        return name
    cost = costs_of(entry, request.tasks[0].collective)
    return f"{name}\n({cost.steps} steps, {cost.bandwidth} M/B)"


def _baselines(times: Times, drawn: list[int]) -> Iterator[Curve]:
    """Yield the dashed curves of the baselines."""
    by_size = [times.baselines(size) for size in drawn]
    for index, name in enumerate(by_size[0]):
        look = {
            "color": _SHADES[index // len(_DASHES) % len(_SHADES)],
            "linestyle": _DASHES[index % len(_DASHES)],
            "linewidth": 1.5,
        }
        yield Curve(name, drawn, [seconds[name] for seconds in by_size], look)


def _name(above: "Axes", below: "Axes", request: SizesRequest) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    above.set_xscale("log", base=2)
    above.set_yscale("log")
    low, high = above.get_ylim()
    above.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 500 * low else (1, 2, 5)))
    above.yaxis.set_minor_locator(NullLocator())
    above.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _time(value)))
    # The lower panel separates the best curves; the upper panel shows all.
    below.set_ylim(0.9, min(_MAX_RATIO, 1.05 * below.get_ylim()[1]))
    least, most = request.range
    powers = most.bit_length()
    marks = [1 << power for power in range(0, powers, 5 if powers > 20 else 2)]
    below.xaxis.set_major_locator(FixedLocator(marks))
    below.xaxis.set_minor_locator(NullLocator())
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _size(int(value))))
    below.set_xlim(least, most)
    above.set_title(
        f"{_workload_name(request)} between {request.nodes} hosts, {request.degree} ports, "
        f"{request.links} links\n{float(request.node_gbps):g} Gbit/s per host, "
        f"{float(request.alpha_us):g} us per hop",
        loc="left",
        fontsize=10,
    )
    above.set_ylabel("time")
    single = request.collective is not None
    below.set_xlabel("size of the data (M)" if single else "size of all data, each part alike")


def _workload_name(request: SizesRequest) -> str:
    if request.collective is None and request.preset is None:
        return f"a workload of {len(request.tasks)} tasks"
    return request.collective or request.preset


def _size(value: int) -> str:
    """Return a power of two bytes with its unit.

    >>> _size(1 << 15), _size(1)
    ('32 KiB', '1 B')
    """
    unit = min((value.bit_length() - 1) // 10, len(_BYTE_UNITS) - 1)
    return f"{value >> (10 * unit)} {_BYTE_UNITS[unit]}"


def _time(value: float) -> str:
    factor, unit = next(
        (pair for pair in _TIME_UNITS if value >= 0.9999 * pair[0]), _TIME_UNITS[-1]
    )
    return f"{value / factor:g} {unit}"
