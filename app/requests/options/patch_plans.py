"""Options of topology files, patch plans and failed parts."""

from dataclasses import replace
from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import duration, several, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

LaunchFormat: TypeAlias = Literal[
    "launch",
    "mpi-hostfile",
    "mpi-rankfile",
    "slurm-hostfile",
    "torchrun",
    "kubernetes-pods",
    "mlx-hostfile",
    "nccl-env",
]
"""Formats that start a program in an order of ranks: of topologies and of plans."""
GraphFormat: TypeAlias = Literal[
    "json",
    "graphml",
    "dot",
    "edgelist",
    "gexf",
    "gml",
    "node-link",
    "adjlist",
    "matrix-market",
    "graph6",
    "sparse6",
    "digraph6",
]
SchedulerFormat: TypeAlias = Literal["slurm", "slurm-yaml", "node-labels", "kueue", "kai"]
SimulatorFormat: TypeAlias = Literal[
    "astra-sim", "ns3", "simai", "htsim", "phantora", "infragraph", "infragraph-text"
]
TopologyFormat: TypeAlias = GraphFormat | LaunchFormat | SchedulerFormat | SimulatorFormat
PanelKind: TypeAlias = Literal["per-port", "single"]
ObjectiveName: TypeAlias = Literal["moves", "seconds", "drained"]
AssignmentKind: TypeAlias = Literal["fixed", "free"]
DeviceFormat: TypeAlias = Literal[
    "sonic-cli",
    "sonic-patch",
    "sonic-config",
    "polatis-netconf",
    "polatis-scpi",
    "calient-tl1",
    "dicon",
    "netbox-csv",
    "html",
    "dot",
    "graphml",
    "deployment",
]
PlanFormat: TypeAlias = Literal["json", "csv"] | DeviceFormat | LaunchFormat

TOPOLOGY_FORMAT = Option(
    name="format",
    type=TopologyFormat,
    default="json",
    help="output format; json is topology/1; launch, mpi-hostfile, mpi-rankfile, slurm-hostfile, "
    "torchrun, kubernetes-pods, mlx-hostfile and nccl-env start a program in an order of ranks "
    "that follows the cables; slurm, slurm-yaml, node-labels, kueue and kai describe groups of "
    "hosts to schedulers; astra-sim, ns3, simai, htsim, phantora, infragraph and infragraph-text "
    "describe the fabric to simulators",
)
PANELS = Option(
    name="panels",
    type=PanelKind,
    default="per-port",
    help="per-port: one panel for each port of a host; single: one panel for all ports",
)
HOSTS = whole("hosts", "number of cabled hosts; default: the nodes of the topology", 1, 10**6)
PORTS_PER_HOST = whole(
    "ports_per_host",
    "number of cabled ports per host; default: the degree of the topology",
    1,
    10**4,
)
PLANT = Option(
    name="plant",
    type=list,
    help="existing hosts, panels and cables, instead of regular panels for a number of hosts: "
    "plant/1, or a list of cables from NetBox or Nautobot",
    metavar="FILE",
    typed="JSON, YAML or CSV; or netbox:URL",
)
HOST_ASSIGNMENT = Option(
    name="host_assignment",
    type=AssignmentKind,
    default="fixed",
    help="fixed: each node on the host with its name or number; free: the assignment with the "
    "fewest moves",
)
OBJECTIVE = Option(
    name="objective",
    type=ObjectiveName,
    default="moves",
    help="quantity to minimize before the number of moves: moves; seconds: panel time; drained: "
    "hosts that lose a link during the work",
)
MAX_LINKS_DOWN = whole(
    "max_links_down", "limit of links down in one stage; default: no limit", 1, 10**6
)
STAY_CONNECTED = switch("stay_connected", "keep all hosts connected to each other in every stage")
MAKE_BEFORE_BREAK = switch(
    "make_before_break", "plug links with free ports before the first link is removed"
)
USE_SPARE_PORTS = switch("use_spare_ports", "also use ports marked as spare")
CURRENT_WIRING = Option(
    name="current_wiring",
    type=list,
    help='current wiring: pairs {"panel", "a", "b"}, answers of devices, cables of NetBox, or any '
    'format of a plan for its final wiring; a text as {"text": "..."}; default: the wiring in the '
    "plant, or none",
    metavar="FILE",
    typed="any format of docs/reference/device-formats.md; or netbox:URL",
)
DESIGN_PANELS = replace(
    PANELS, default=None, help=f"count moves from the current wiring; {PANELS.help}"
)
DESIGN_PLANT = replace(
    PLANT, help="count moves from the current wiring, on this plant: plant/1, or a list of cables"
)
DESIGN_CURRENT_WIRING = replace(CURRENT_WIRING, help=f"count moves from the {CURRENT_WIRING.help}")
DESIGN_HOST_ASSIGNMENT = replace(
    HOST_ASSIGNMENT, default=None, help=f"with the current wiring; {HOST_ASSIGNMENT.help}"
)
DESIGN_USE_SPARE_PORTS = replace(
    USE_SPARE_PORTS, default=None, help=f"with the current wiring: {USE_SPARE_PORTS.help}"
)
DESIGN_OBJECTIVE = replace(
    OBJECTIVE,
    default=None,
    help="with the current wiring: quantity to trade against the time of the workload: moves; "
    "seconds: panel time; drained: hosts that lose a link during the work; default: moves",
)
MAX_MOVES = whole("max_moves", "limit of moves from the current wiring", 0, 10**7)
MAX_REWIRING_SECONDS = duration(
    "max_rewiring_seconds",
    "limit of the time to rewire from the current wiring, with all panels at work at once",
    "seconds",
)
MAX_DRAINED = whole(
    "max_drained",
    "limit of hosts that lose a link while the current wiring is changed",
    0,
    10**6,
)
PLAN_FORMAT = Option(
    name="format",
    type=PlanFormat,
    default="json",
    help="json: patch-plan/1; csv: a work order; others: device and document formats",
)
DEVICE_FORMAT = Option(
    name="format",
    type=PlanFormat,
    default=REQUIRED,
    help="json: patch-plan/1; csv: a work order; sonic, polatis, calient, dicon: device commands; "
    "netbox-csv: cables for NetBox; html, dot, graphml: for people and programs; deployment: "
    "addresses and routes of the hosts; launch, mpi, slurm, torchrun, kubernetes, mlx and nccl: "
    "ranks in the order of the cables",
)
AT_ONCE = whole("at_once", "number of simultaneous failures", 1, 2, default=1)
WORST = whole("worst", "number of failures to list, worst first", 1, 20_000, default=10)
RepairName: TypeAlias = Literal["re-patch", "spare-ports", "spare-host", "left-out"]


def _dead(name: str, help: str, metavar: str) -> Option:
    flag = f"--dead-{name.removesuffix('s').replace('_', '-')}"
    return several(name, list[str], help, 1000, flag=flag, metavar=metavar)


DEAD_HOSTS = _dead("hosts", "dead hosts", "HOST")
DEAD_HOST_PORTS = _dead("host_ports", "dead ports of hosts", "HOST/PORT")
DEAD_PORTS = _dead("ports", "dead ports of panels", "PANEL/PORT")
DEAD_PAIRS = _dead(
    "pairs",
    "plugged pairs without light, such as panel-0/3A-12B; both ports count as dead",
    "PANEL/A-B",
)
REPAIR = Option(
    name="repair",
    type=RepairName,
    help="also write the plan and the plant of this repair; default: only compare the repairs",
)
