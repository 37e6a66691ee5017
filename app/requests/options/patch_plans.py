"""The options of topologies as files, of wiring them, and of what is dead."""

from dataclasses import replace
from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import MANY, duration, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

__all__ = [
    "AT_ONCE",
    "DEAD_HOSTS",
    "DEAD_HOST_PORTS",
    "DEAD_PAIRS",
    "DEAD_PORTS",
    "DESIGN_OBJECTIVE",
    "DESIGN_PANELS",
    "DESIGN_PLACE",
    "DESIGN_PLANT",
    "DESIGN_PRESENT",
    "DESIGN_SPARES",
    "DEVICE_FORMAT",
    "HOSTS",
    "LANES",
    "MAKE_FIRST",
    "MAX_DRAINED",
    "MAX_LINKS_DOWN",
    "MAX_MOVES",
    "MAX_REWIRING_SECONDS",
    "OBJECTIVE",
    "PANELS",
    "PLACE",
    "PLANT",
    "PLAN_FORMAT",
    "PRESENT",
    "SPARES",
    "STAY_CONNECTED",
    "TOPOLOGY_FORMAT",
    "WAY",
    "WORST",
    "DeviceFormat",
    "ObjectiveName",
    "PanelKind",
    "PlaceKind",
    "PlanFormat",
    "TopologyFormat",
    "WayName",
]

TopologyFormat: TypeAlias = Literal[
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
PanelKind: TypeAlias = Literal["per-port", "single"]
ObjectiveName: TypeAlias = Literal["moves", "seconds", "drained"]
PlaceKind: TypeAlias = Literal["fixed", "free"]
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
PlanFormat: TypeAlias = Literal["json", "csv"] | DeviceFormat

TOPOLOGY_FORMAT = Option(
    name="format",
    type=TopologyFormat,
    default="json",
    help="what the topology is written as; json is topology/1",
)
PANELS = Option(
    name="panels",
    type=PanelKind,
    default="per-port",
    help="one panel for each port of the hosts, or one for all",
)
HOSTS = whole("hosts", "hosts cabled to the panels; default: the nodes of the topology", 1, 10**6)
LANES = whole("lanes", "ports cabled of each host; default: the degree of the topology", 1, 10**4)
PLANT = Option(
    name="plant",
    type=list,
    help="instead of panels, hosts and lanes: the hosts, panels and cabling that there are, "
    "plant/1, or a list of cables as NetBox and Nautobot have it",
    metavar="FILE",
    typed="JSON, YAML or CSV",
)
PLACE = Option(
    name="place",
    type=PlaceKind,
    default="fixed",
    help="fixed: every node sits on the host of its name or number; free: on whichever host "
    "needs the fewest moves",
)
OBJECTIVE = Option(
    name="objective",
    type=ObjectiveName,
    default="moves",
    help="what is minimized first: moves; seconds that the panels take for them; or drained: hosts "
    "that lose a link meanwhile; then moves",
)
MAX_LINKS_DOWN = whole(
    "max_links_down", "most links that are down in one stage; default: any number", 1, 10**6
)
STAY_CONNECTED = switch("stay_connected", "keep all hosts connected to each other in every stage")
MAKE_FIRST = switch("make_first", "plug all links that have free ports before any link is removed")
SPARES = switch("spares", "also use ports that are marked as spare")
PRESENT = Option(
    name="present",
    type=list,
    help='what is plugged today: pairs {"panel", "a", "b"}, or a patch-plan/1 document, whose '
    "final wiring is meant; default: what the plant says, or nothing",
    metavar="FILE",
    typed="a file of them, or a CSV file with these columns",
)
DESIGN_PANELS = replace(
    PANELS,
    default=None,
    help="count the moves from today's wiring, on one panel for each port of the hosts, or on one "
    "for all",
)
DESIGN_PLANT = replace(
    PLANT, help="count the moves from today's wiring, on this plant: plant/1, or a list of cables"
)
DESIGN_PRESENT = replace(
    PRESENT,
    help=f"count the moves from today's wiring: {PRESENT.help}",
)
DESIGN_PLACE = replace(PLACE, default=None, help=f"with today's wiring: {PLACE.help}")
DESIGN_SPARES = replace(SPARES, default=None, help=f"with today's wiring: {SPARES.help}")
DESIGN_OBJECTIVE = replace(
    OBJECTIVE,
    default=None,
    help="with today's wiring: what is traded against the time of the workload and minimized by "
    "plans: moves; seconds that the panels take for them; or drained: hosts that lose a link "
    "meanwhile; default: moves",
)
MAX_MOVES = whole(
    "max_moves", "only topologies that today's wiring reaches in at most so many moves", 0, 10**7
)
MAX_REWIRING_SECONDS = duration(
    "max_rewiring_seconds",
    "only topologies that today's wiring reaches in at most so much time, all panels at once",
    "seconds",
)
MAX_DRAINED = whole(
    "max_drained",
    "only topologies that today's wiring reaches while at most so many hosts lose a link",
    0,
    10**6,
)
PLAN_FORMAT = Option(
    name="format",
    type=PlanFormat,
    default="json",
    help="json is patch-plan/1, csv a work order, the others are for devices and people",
)
DEVICE_FORMAT = Option(
    name="format",
    type=PlanFormat,
    default=REQUIRED,
    help="what is written: patch-plan/1 (json), a work order (csv), for SONiC-OCS, Polatis, "
    "Calient, DiCon, NetBox, people (html, dot), programs (graphml), or addresses and routes of "
    "the hosts (deployment)",
)
AT_ONCE = whole("at_once", "hosts, panels and pairs that fail together", 1, 2, default=1)
WORST = whole("worst", "how many failures to show, the worst first", 1, 20_000, default=10)
WayName: TypeAlias = Literal["re-patch", "spare-ports", "spare-host", "left-out"]
DEAD_HOSTS = Option(
    name="hosts",
    type=list[str],
    help="dead hosts",
    flag="--dead-host",
    metavar="HOST",
    typed=MANY,
    least=1,
    most=1000,
)
DEAD_HOST_PORTS = Option(
    name="host_ports",
    type=list[str],
    help="dead ports of hosts",
    flag="--dead-host-port",
    metavar="HOST/PORT",
    typed=MANY,
    least=1,
    most=1000,
)
DEAD_PORTS = Option(
    name="ports",
    type=list[str],
    help="dead ports of panels",
    flag="--dead-port",
    metavar="PANEL/PORT",
    typed=MANY,
    least=1,
    most=1000,
)
DEAD_PAIRS = Option(
    name="pairs",
    type=list[str],
    help="plugged pairs through which no light goes, such as panel-0/3A-12B; both ports are then "
    "dead",
    flag="--dead-pair",
    metavar="PANEL/A-B",
    typed=MANY,
    least=1,
    most=1000,
)
WAY = Option(
    name="way",
    type=WayName,
    help="also write the plan of this way and the plant that it is on; without it, ways are only "
    "weighed",
)
