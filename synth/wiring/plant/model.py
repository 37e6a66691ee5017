"""Data model of a plant: panels, hosts with their ports, fixed cabling, and plugged pairs.

Cables between host ports and panel ports are permanent; only cross-connects inside panels
change.  Panels, hosts and ports have a number, their index in a tuple, and a name for people.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from topoloom.synth.wiring.plant.data import PlantData
from topoloom.synth.wiring.plant.passive_panels import Folded, folded
from topoloom.synth.wiring.plant.ports import Pair, Port, Present, Side
from topoloom.synth.wiring.plant.validation import check


@dataclass(frozen=True)
class Plant(PlantData):
    """A plant: panels, hosts, cabling, and the pairs plugged today.

    ``states`` has the ports of panels that are not free.  ``budget_db`` is the maximum loss of
    a path, None for no limit.  ``uniform`` is set on plants of the two regular layouts.
    ``assumed`` lists the assumptions of a reader.

    Raises:
        InvalidPlant: Something breaks a rule; the error names the port, and its field is a JSON
            pointer into the plant/1 document of the same plant.

    >>> from topoloom.synth.wiring.plant import read_plant
    >>> plant = read_plant({
    ...     "schema": "plant/1",
    ...     "panels": [{"id": "ocs-1", "kind": "switch", "a": 2, "b": 2}],
    ...     "hosts": [{"id": "h0", "ports": [{"id": "p", "tx": "ocs-1/0A", "rx": "ocs-1/0B"}]},
    ...               {"id": "h1", "ports": [{"id": "p", "tx": "ocs-1/1A", "rx": "ocs-1/0B"}]}],
    ... })
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidPlant: /hosts/1/ports/0/rx/0: port 0B of ocs-1 has h0 p already
    """

    def __post_init__(self) -> None:
        check(self)

    @cached_property
    def panel_index(self) -> Mapping[str, int]:
        """Number of every panel by its id."""
        return {panel.id: number for number, panel in enumerate(self.panels)}

    @cached_property
    def host_index(self) -> Mapping[str, int]:
        """Number of every host by its id."""
        return {host.id: number for number, host in enumerate(self.hosts)}

    @cached_property
    def port_index(self) -> Mapping[tuple[int, Side], Mapping[str, int]]:
        """Index of every port by its name, for each panel and end of a pair."""
        return {
            (number, side): {name: index for index, name in enumerate(panel.names(side))}
            for number, panel in enumerate(self.panels)
            for side in Side
        }

    @cached_property
    def folded(self) -> Folded:
        """Hosts and trunks as light sees them, passive panels folded away."""
        return folded(self)

    @cached_property
    def trunk_ends(self) -> Mapping[Port, Port]:
        """The port at the other end of the trunk that is at a port."""
        found = {}
        for trunk in self.folded.trunks:
            found[trunk.source], found[trunk.target] = trunk.target, trunk.source
        return found

    @cached_property
    def at(self) -> Mapping[Port, tuple[int, int]]:
        """The (host, port of the host) that light of a panel's port reaches."""
        return {
            port: (host, number)
            for host, row in enumerate(self.folded.hosts)
            for number, host_port in enumerate(row.ports)
            for port in host_port.fibres
        }

    def hosts_of(self, pair: Pair) -> tuple[int, int]:
        """Return the hosts that a pair joins; -1 where no host is cabled."""
        one, other = self.ends(pair)
        return self.at.get(one, (-1, 0))[0], self.at.get(other, (-1, 0))[0]

    def with_present(self, present: Present) -> "Plant":
        """Return the same plant with other pairs plugged."""
        return replace(self, present=present)
