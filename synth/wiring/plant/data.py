"""The fields of a plant, before they are validated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.wiring.plant.parts import Host, Panel, State, Trunk, Uniform
from topoloom.synth.wiring.plant.ports import Pair, Port, Present


@dataclass(frozen=True)
class PlantData:
    """The fields of `Plant`, and the names of its ports and pairs."""

    panels: tuple[Panel, ...]
    hosts: tuple[Host, ...]
    trunks: tuple[Trunk, ...] = ()
    states: Mapping[Port, State] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    present: Present = field(default_factory=Present)
    budget_db: Fraction | None = None
    name: str = ""
    uniform: Uniform | None = None
    assumed: tuple[Assumption, ...] = field(default=(), compare=False)

    def port_name(self, port: Port) -> str:
        """Return the name of a port within its panel."""
        return self.panels[port.panel].names(port.side)[port.index]

    def full_name(self, port: Port) -> str:
        """Return how a port is written in documents: panel, slash, port."""
        return f"{self.panels[port.panel].id}/{self.port_name(port)}"

    def ends(self, pair: Pair) -> tuple[Port, Port]:
        """Return the two ports of a pair."""
        return self.panels[pair.panel].ends(pair)

    def pair_name(self, pair: Pair) -> str:
        """Return how a pair is written within its panel: ``3A-12B``."""
        return "-".join(self.port_name(port) for port in self.ends(pair))

    def state(self, port: Port) -> State:
        """Return the state of a port of a panel."""
        return self.states.get(port, State.FREE)
