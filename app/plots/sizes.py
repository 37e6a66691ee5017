"""Plot of time over message size: every point of a frontier, the baselines, the bound."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field, model_validator

from app.documents.base import cost_of
from app.plots.canvas import COLOURS, short
from app.quantities import Bytes
from app.schemas import PassName, TimedRequest
from schedules.baselines import BASELINES, Operation, bound_seconds, seconds
from schedules.design import collective_cost
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
_SHADES = ("0.35", "0.55", "0.7")
_DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))


class Curve(NamedTuple):
    """The seconds that something takes at each size, and how it is drawn."""

    label: str
    sizes: list[int]
    seconds: list[Fraction]
    look: dict[str, Any]


class SizesRequest(TimedRequest):
    """Which collective on which hosts, for sizes of the data between two."""

    collective: PassName
    bytes: Bytes = Field(alias="to", description="largest size")
    least: Bytes = Field(alias="from", description="smallest size")

    @model_validator(mode="after")
    def _in_order(self) -> "SizesRequest":
        if not self.least < self.bytes:
            raise ValueError("from must be smaller than to")
        return self

    def workload(self, size_bytes: int) -> Operation:
        """Return the workload of one size."""
        collective = Collective.of(self.collective)
        return Operation(collective, size_bytes, self.bytes_per_second, self.alpha_seconds)


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
    workloads = [request.workload(size) for size in sizes(request.least, request.bytes)]
    bound = document["bounds"]["steps"], Fraction(document["bounds"]["bandwidth"])
    least = {work.size_bytes: bound_seconds(*bound, work) for work in workloads}
    for curve in (*_points(document, workloads), *_baselines(document, workloads)):
        above.plot(curve.sizes, list(map(float, curve.seconds)), label=curve.label, **curve.look)
        pairs = zip(curve.sizes, curve.seconds, strict=True)
        below.plot(curve.sizes, [float(time / least[size]) for size, time in pairs], **curve.look)
    look = {"color": "black", "linewidth": 1, "zorder": 1}
    above.plot([*least], list(map(float, least.values())), label="lower bound", **look)
    below.axhline(1, **look)
    _name(above, below, request)
    figure.legend(loc="outside right upper", frameon=False)


def _points(document: dict[str, Any], workloads: list[Operation]) -> Iterator[Curve]:
    """Yield the curves of the topologies, in colour."""
    for index, entry in enumerate(document["frontier"]):
        costs = cost_of(entry), cost_of(entry["transpose"])
        cost = collective_cost(*costs, workloads[0].collective)
        steps, bandwidth = cost.steps, cost.bandwidth
        yield Curve(
            f"{short(entry['recipe'], 28)}\n({steps} steps, {bandwidth} M/B)",
            [work.size_bytes for work in workloads],
            [seconds(steps, bandwidth, work) for work in workloads],
            {"color": COLOURS[index % len(COLOURS)], "linewidth": 2},
        )


def _baselines(document: dict[str, Any], workloads: list[Operation]) -> Iterator[Curve]:
    """Yield the curves of the baselines that these hosts can run, dashed."""
    nodes, degree = document["request"]["nodes"], document["request"]["degree"]
    for index, baseline in enumerate(BASELINES):
        found = [(work.size_bytes, baseline(nodes, degree, work)) for work in workloads]
        kept = [(size, answer) for size, answer in found if answer is not None]
        if kept:
            yield Curve(
                kept[0][1].name,
                [size for size, _ in kept],
                [answer.seconds for _, answer in kept],
                {
                    "color": _SHADES[index // len(_DASHES) % len(_SHADES)],
                    "linestyle": _DASHES[index % len(_DASHES)],
                    "linewidth": 1.5,
                },
            )


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
