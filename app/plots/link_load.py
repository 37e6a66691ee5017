"""Plot of link loads: a node-by-node matrix, colored by the load of each link."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from topoloom.app.plots.canvas import GREY, MAX_NAME, short
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Schedule
from topoloom.schedules.simulate.link_utilization import busy_shares
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.6, 5.6)
MAX_NODES = 512
_MAX_NAMED, _MAX_LABEL = 40, 16
# In a row; longer rows of names are turned upright.
_MAX_CHARACTERS = 60


def draw(figure: "Figure", schedule: Schedule, topology: Topology) -> None:
    """Draw the link loads of a valid schedule on its topology.

    Raises:
        NoSchedule: The topology has no links.
        TooLarge: The topology has more than `MAX_NODES` nodes.
    """
    if not topology.link_count:
        raise NoSchedule("/topology", "must have links")
    if topology.node_count > MAX_NODES:
        raise TooLarge("/topology", f"must have at most {MAX_NODES} nodes for a plot")
    from matplotlib import colormaps

    busy = busy_shares(schedule, topology)
    order = [*topology.compute_nodes, *(n for n in topology.nodes if n in topology.switches)]
    place = {node: index for index, node in enumerate(order)}
    shares = np.full((len(order), len(order)), np.nan)
    for (source, target), share in busy.items():
        shares[place[source], place[target]] = 100 * share
    panel = figure.subplots()
    colours = colormaps["cividis_r"].with_extremes(bad="white")
    image = panel.imshow(shares, cmap=colours, vmin=0, vmax=100, interpolation="nearest")
    figure.colorbar(image, ax=panel, shrink=0.85, label="busy, % of the time on the wire")
    _name(panel, [short(str(node), _MAX_LABEL) for node in order], len(topology.compute_nodes))
    values = sorted(busy.values())
    panel.set_title(
        f"{schedule.collective} on {short(topology.name or 'topology', MAX_NAME)}\n"
        f"{len(values)} joined pairs: busiest {_percent(values[-1])}, "
        f"mean {_percent(sum(values, Fraction()) / len(values))}, least {_percent(values[0])}",
        loc="left",
        fontsize=10,
    )


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g} %"


def _name(panel: "Axes", names: list[str], ranks: int) -> None:
    """Label both axes with the nodes; draw lines between cells and around the ranks."""
    count = len(names)
    apart = -(-count // _MAX_NAMED)
    shown = range(0, count, apart)
    size = max(5.0, min(9.0, 220 / len(shown)))
    long = max(len(names[at]) for at in shown) * len(shown) > _MAX_CHARACTERS
    panel.set_xticks(shown, [names[at] for at in shown], rotation=90 if long else 0, fontsize=size)
    panel.set_yticks(shown, [names[at] for at in shown], fontsize=size)
    panel.tick_params(length=0)
    panel.grid(visible=False)
    if count <= 2 * _MAX_NAMED:
        panel.set_xticks(np.arange(-0.5, count), minor=True)
        panel.set_yticks(np.arange(-0.5, count), minor=True)
        panel.grid(which="minor", color="0.88", linewidth=0.5, alpha=1)
        panel.tick_params(which="minor", length=0)
    for spine in panel.spines.values():
        spine.set(visible=True, color="0.6")
    if ranks < count:
        panel.axhline(ranks - 0.5, color=GREY, linewidth=1)
        panel.axvline(ranks - 0.5, color=GREY, linewidth=1)
    panel.set_xlabel("to")
    panel.set_ylabel("from")
