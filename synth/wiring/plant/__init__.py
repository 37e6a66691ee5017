"""The plant: hosts, ports, panels, and the pairs plugged between them."""

from topoloom.synth.wiring.plant.document_reader import read_plant
from topoloom.synth.wiring.plant.document_writer import plant_digest, plant_document
from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.parts import (
    Host,
    HostPort,
    Kind,
    Layout,
    Mode,
    Panel,
    State,
    Trunk,
)
from topoloom.synth.wiring.plant.ports import Pair, Port, Present, Side
from topoloom.synth.wiring.plant.readers import TEXT_FORMATS, read_plant_text, read_plant_values
from topoloom.synth.wiring.plant.regular_plants import cross_wired, duplex, smallest_plant, uniform

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
    "plant_digest",
    "plant_document",
    "read_plant",
    "read_plant_text",
    "read_plant_values",
    "smallest_plant",
    "uniform",
]
