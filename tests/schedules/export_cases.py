"""Topologies with schedules of ours, on which every exporter is tried, and their files opened."""

import xml.etree.ElementTree as ET
from functools import cache

from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

FABRICS = ("dgx-1v", "dgx-a100-2", "mi250-1")
RECIPES = ("Torus(4, 4)", "Circulant(9, 1, 2)", "Kautz(2, 2)", "Hypercube(3)", "UniRing(3)")
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")
EVERY = [(name, collective) for name in FABRICS + RECIPES for collective in COLLECTIVES]
LARGE = ("mi250-2", "allreduce")


@cache
def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


@cache
def schedule_of(name, collective):
    topology = topology_of(name)
    algorithm = "bfb" if "(" in name else "forestcoll"
    return make(topology, Collective.of(collective), algorithm)


def text_of(algo):
    return ET.tostring(algo, encoding="unicode").replace(" />", "/>")


def attribute(node, name):
    return next(each for each in node.attr if each.name == name)


def operations(document):
    """Yield every list of operations."""
    for gpu in document["gpus"]:
        for block in gpu["threadblocks"]:
            yield block["ops"]
