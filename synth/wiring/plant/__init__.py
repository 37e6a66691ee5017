"""The plant: which hosts, ports and panels there are, and what is plugged between them."""

from synth.wiring.plant.document import read_plant
from synth.wiring.plant.model import Plant
from synth.wiring.plant.parts import Host, HostPort, Kind, Layout, Mode, Panel, State, Trunk
from synth.wiring.plant.ports import Pair, Port, Present, Side
from synth.wiring.plant.read import TEXT_FORMATS, read_plant_text, read_plant_values
from synth.wiring.plant.table import plant_csv
from synth.wiring.plant.uniform import cross_wired, duplex, sized, uniform
from synth.wiring.plant.writing import plant_digest, plant_document

__all__ = [
    "TEXT_FORMATS",
    "Host",
    "HostPort",
    "Kind",
    "Layout",
    "Mode",
    "Pair",
    "Panel",
    "Plant",
    "Port",
    "Present",
    "Side",
    "State",
    "Trunk",
    "cross_wired",
    "duplex",
    "plant_csv",
    "plant_digest",
    "plant_document",
    "read_plant",
    "read_plant_text",
    "read_plant_values",
    "sized",
    "uniform",
]
