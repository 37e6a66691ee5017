"""Plot of time over message size: every point of a frontier, the baselines, the bound."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from app.plots.canvas import COLOURS, short
from app.schemas import Bytes, DesignRequest
from app.services.designs import collective_cost
from schedules.baselines import BASELINES, Workload, bound_seconds, seconds
from schedules.model import Collective

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SIZE", "SizesRequest", "draw", "sizes"]

SIZE = (8.4, 5.4)
_STEPS_PER_DOUBLING = 4
_MAX_RATIO = 4
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_TIME_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))

Time = Callable[[Workload], Fraction | None]


class SizesRequest(DesignRequest):
    """Which collective on which hosts, for sizes of the data between two."""

    bytes: Bytes = Field(alias="to", description="largest size")
    least: Bytes = Field(alias="from", description="smallest size")

    @model_validator(mode="after")
    def _in_order(self) -> "SizesRequest":
        if not self.least < self.bytes:
            raise ValueError("from must be smaller than to")
        return self

    def workload(self, size_bytes: int) -> Workload:
        """Return the workload of one size."""
        collective = Collective.of(self.collective)
        return Workload(collective, size_bytes, self.bytes_per_second, self.alpha_seconds)


def sizes(least: int, most: int) -> list[int]:
    """Return sizes from ``least`` to ``most``, evenly on a logarithmic axis.

    >>> sizes(1000, 2000)
    [1000, 1189, 1414, 1682, 2000]
    """
    found, number = [], 0
    while (size := round(least * 2 ** (number / _STEPS_PER_DOUBLING))) < most:
        found.append(size)
        number += 1
    return [*found, most]


def draw(figure: "Figure", document: dict[str, Any], request: SizesRequest) -> None:
    """Draw the times of a frontier/1 document, and below them their ratios to the bound."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    across = sizes(request.least, request.bytes)
    workloads = [request.workload(size) for size in across]
    bounds = document["bounds"]
    least = [bound_seconds(bounds["steps"], Fraction(bounds["bandwidth"]), w) for w in workloads]
    for label, time, look in _curves(document, Collective.of(request.collective)):
        found = [time(workload) for workload in workloads]
        kept = [i for i, value in enumerate(found) if value is not None]
        if not kept:
            continue
        values = [(across[i], float(found[i]), float(found[i] / least[i])) for i in kept]  # type: ignore[operator,arg-type]
        where, times, ratios = zip(*values, strict=True)
        above.plot(where, times, label=label, **look)
        below.plot(where, ratios, **look)
    above.plot(
        across, list(map(float, least)), color="black", linewidth=1, label="lower bound", zorder=1
    )
    below.axhline(1, color="black", linewidth=1, zorder=1)
    _name(above, below, request)
    figure.legend(loc="outside right upper", frameon=False)


def _curves(
    document: dict[str, Any], collective: Collective
) -> list[tuple[str, Time, dict[str, Any]]]:
    """Return label, time and look of each curve: topologies in colour, baselines dashed."""
    found: list[tuple[str, Time, dict[str, Any]]] = []
    for index, entry in enumerate(document["frontier"]):
        steps, bandwidth = collective_cost(entry, collective)
        look = {"color": COLOURS[index % len(COLOURS)], "linewidth": 2}
        label = f"{short(entry['recipe'], 28)}\n({steps} steps, {bandwidth} M/B)"
        found.append((label, _linear(steps, bandwidth), look))
    nodes, degree = document["request"]["nodes"], document["request"]["degree"]
    shades = ("0.35", "0.55", "0.7")
    for index, baseline in enumerate(BASELINES):
        look = {
            "color": shades[index // len(_DASHES) % len(shades)],
            "linestyle": _DASHES[index % len(_DASHES)],
            "linewidth": 1.5,
        }
        name = baseline.__name__.replace("_", "-")
        found.append((name, _baseline(baseline, nodes, degree), look))
    return found


def _linear(steps: int, bandwidth: Fraction) -> Time:
    return lambda workload: seconds(steps, bandwidth, workload)


def _baseline(baseline: Callable[..., Any], nodes: int, degree: int) -> Time:
    def time(workload: Workload) -> Fraction | None:
        found = baseline(nodes, degree, workload)
        return None if found is None else found.seconds

    return time


def _name(above: "Axes", below: "Axes", request: SizesRequest) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    above.set_xscale("log", base=2)
    above.set_yscale("log")
    low, high = above.get_ylim()
    above.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 500 * low else (1, 2, 5)))
    above.yaxis.set_minor_locator(NullLocator())
    above.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _time(value)))
    # What is further off is seen above; here the best are told apart.
    below.set_ylim(0.9, min(_MAX_RATIO, 1.05 * below.get_ylim()[1]))
    most = request.bytes.bit_length()
    marks = [1 << power for power in range(0, most, 5 if most > 20 else 2)]
    below.xaxis.set_major_locator(FixedLocator(marks))
    below.xaxis.set_minor_locator(NullLocator())
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _size(int(value))))
    below.set_xlim(request.least, request.bytes)
    above.set_title(
        f"{request.collective} between {request.nodes} hosts, {request.degree} ports, "
        f"{request.links} links\n{float(request.node_gbps):g} Gbit/s per host, "
        f"{float(request.alpha_us):g} us per hop",
        loc="left",
        fontsize=10,
    )
    above.set_ylabel("time")
    below.set_ylabel("time / lower bound")
    below.set_xlabel("size of the data (M)")


def _size(value: int) -> str:
    """Name a power of two bytes.

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
