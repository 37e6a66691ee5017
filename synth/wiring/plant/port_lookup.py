"""Look-up of panel ports by their names in documents."""

import re
from collections.abc import Iterable
from typing import Any

from topoloom.synth.errors import InvalidPlant, quoted
from topoloom.synth.wiring.plant.parts import Panel
from topoloom.synth.wiring.plant.ports import Port, Side


class Places:
    """Look-up of ports by their names in documents: ``panel/port``."""

    def __init__(self, panels: Iterable[Panel]) -> None:
        self.panels = tuple(panels)
        self._number = {panel.id: number for number, panel in enumerate(self.panels)}
        self._ports = [
            {name: (side, index) for side, row in ((Side.A, panel.a), (Side.B, panel.b))
             for index, name in enumerate(row)}
            for panel in self.panels
        ]  # fmt: skip

    def panel(self, name: Any, field: str) -> int:
        """Return the number of a panel."""
        if not isinstance(name, str) or name not in self._number:
            raise InvalidPlant(field, f"there is no panel {quoted(name)}")
        return self._number[name]

    def port_on(self, panel: int, name: Any, field: str) -> Port:
        """Return the port of that name on a panel."""
        found = self._ports[panel].get(str(name) if isinstance(name, int) else name)
        if found is None:
            raise InvalidPlant(field, f"{self.panels[panel].id} has no port {quoted(name)}")
        return Port(panel, *found)

    def port(self, text: Any, field: str) -> Port:
        """Return the port of ``panel/port``; either part may hold slashes itself."""
        if not isinstance(text, str) or "/" not in text:
            raise InvalidPlant(field, f'must be a port, written "panel/port"; not {quoted(text)}')
        known = []
        for cut in (match.start() for match in re.finditer("/", text)):
            panel = self._number.get(text[:cut])
            if panel is not None:
                known.append(text[:cut])
                if text[cut + 1 :] in self._ports[panel]:
                    return Port(panel, *self._ports[panel][text[cut + 1 :]])
        if known:
            raise InvalidPlant(
                field, f"{known[-1]} has no port {quoted(text[len(known[-1]) + 1 :])}"
            )
        raise InvalidPlant(field, f"there is no panel of the port {quoted(text)}")
