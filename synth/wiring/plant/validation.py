"""Validation of a plant; every fault gives one error that names the port."""

from collections.abc import Iterator

from topoloom.synth.errors import InvalidPlant, SynthError
from topoloom.synth.wiring.plant.data import PlantData
from topoloom.synth.wiring.plant.names import require_printable
from topoloom.synth.wiring.plant.parts import MAX_PORTS, HostPort, Kind, Mode, Panel
from topoloom.synth.wiring.plant.ports import Pair, Port, Present, Side


def check(plant: PlantData) -> None:
    """Raise `InvalidPlant` at the first rule that the plant breaks.

    The field of the error is a JSON pointer into its plant/1 document.
    """
    require_printable(plant.name, "/name")
    if plant.uniform is not None and not plant.present.pairs:
        return  # the builder makes nothing else than valid plants
    check_panels(plant.panels)
    _unique([host.id for host in plant.hosts], "/hosts", "host")
    taken: dict[Port, str] = {}
    for pointer, name, port, side in _cabled(plant):
        _take(plant, taken, pointer, name, port, side)
    for number, state in enumerate(plant.states):
        _require_port(plant, state, f"/port_states/{number}")
    if plant.budget_db is not None and plant.budget_db < 0:
        raise InvalidPlant("/link_budget_db", "must not be negative")
    check_pairs(
        plant, plant.present, [f"/cross_connects/{i}" for i in range(len(plant.present.pairs))]
    )


def check_panels(panels: tuple[Panel, ...]) -> None:
    """Raise `InvalidPlant` at the first rule that panels break by themselves."""
    _unique([panel.id for panel in panels], "/panels", "panel")
    ports = sum(len(panel.a) + len(panel.b) for panel in panels)
    if ports > MAX_PORTS:
        raise InvalidPlant("/panels", f"must have at most {MAX_PORTS} ports in all; has {ports}")
    for number, panel in enumerate(panels):
        _check_panel(panel, f"/panels/{number}")


def _unique(names: list[str], field: str, what: str) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if not name:
            raise InvalidPlant(f"{field}/{number}/id", "must not be empty")
        require_printable(name, f"{field}/{number}/id")
        if name in seen:
            raise InvalidPlant(f"{field}/{number}/id", f"{what} {name} is there already")
        seen.add(name)


def _check_panel(panel: Panel, field: str) -> None:
    if panel.one_sided and panel.mode is Mode.DIRECTED:
        raise InvalidPlant(
            f"{field}/mode", f"{panel.id} has no B side, so it must be bidirectional"
        )
    require_printable(panel.profile, f"{field}/profile")
    require_printable(panel.place, f"{field}/place")
    names: set[str] = set()
    for member, side in (("ports" if panel.one_sided else "a", panel.a), ("b", panel.b)):
        for number, name in enumerate(side):
            if not name:
                raise InvalidPlant(field, f"every port of {panel.id} must have a name")
            require_printable(name, f"{field}/{member}/{number}")
            if name in names:
                raise InvalidPlant(field, f"port {name} of {panel.id} is there twice")
            names.add(name)
    if not panel.a:
        raise InvalidPlant(field, f"{panel.id} must have ports")
    if panel.move_seconds < 0:
        raise InvalidPlant(f"{field}/move_seconds", "must not be negative")
    if panel.kind is Kind.SHUFFLE:
        _check_shuffle(panel, field)
    elif panel.bundles:
        raise InvalidPlant(f"{field}/bundles", f"only shuffle panels have them; {panel.id} is none")
    if panel.loss_db < 0:
        raise InvalidPlant(f"{field}/loss_db", "must not be negative")
    if panel.at_once < 1:
        raise InvalidPlant(f"{field}/at_once", "must be at least 1")


def _check_shuffle(panel: Panel, field: str) -> None:
    if panel.mode is not Mode.BIDIRECTIONAL:
        raise InvalidPlant(f"{field}/mode", f"{panel.id} is glass, so it must be bidirectional")
    if panel.bundles < 1 or len(panel.a) != len(panel.b) or len(panel.a) % panel.bundles:
        raise InvalidPlant(
            f"{field}/bundles",
            f"must be of equally many fibres, as many on both sides of {panel.id} in all",
        )


def _cabled(plant: PlantData) -> Iterator[tuple[str, str, Port, Side | None]]:
    """Yield (pointer, name of the cabled end, the panel's port, the required side)."""
    for h, host in enumerate(plant.hosts):
        _unique([port.id for port in host.ports], f"/hosts/{h}/ports", f"{host.id}: port")
        for p, port in enumerate(host.ports):
            field, name = f"/hosts/{h}/ports/{p}", f"{host.id} {port.id}"
            _check_lanes(port, field, name)
            if port.tx and port.tx == port.rx:
                yield from ((f"{field}/at/{i}", name, end, None) for i, end in enumerate(port.tx))
                continue
            yield from ((f"{field}/tx/{i}", name, end, Side.A) for i, end in enumerate(port.tx))
            yield from ((f"{field}/rx/{i}", name, end, Side.B) for i, end in enumerate(port.rx))
    for number, trunk in enumerate(plant.trunks):
        if trunk.loss_db < 0:
            raise InvalidPlant(f"/trunks/{number}/loss_db", "must not be negative")
        if trunk.source.panel == trunk.target.panel:
            raise InvalidPlant(f"/trunks/{number}/to", "must be on another panel than from")
        name = f"trunk {number}"
        one_way = any(
            plant.panels[end.panel].mode is Mode.DIRECTED
            for end in (trunk.source, trunk.target)
            if 0 <= end.panel < len(plant.panels)
        )
        # Through glass a trunk may come from either side; the port of the directed panel tells.
        sides = (Side.B, Side.A) if one_way else (None, None)
        yield f"/trunks/{number}/from", name, trunk.source, sides[0]
        yield f"/trunks/{number}/to", name, trunk.target, sides[1]


def _check_lanes(port: HostPort, field: str, name: str) -> None:
    if port.tx and port.rx and len(port.tx) != len(port.rx):
        raise InvalidPlant(
            field, f"{name} sends on {len(port.tx)} lanes, receives on {len(port.rx)}"
        )
    if port.duplex and bool(port.tx) != bool(port.rx):
        raise InvalidPlant(field, f"{name} is duplex, so both its fibres must be cabled")
    if port.tx and port.tx == port.rx and not port.duplex:
        raise InvalidPlant(field, f"{name} has one fibre for both ways, so it must be duplex")


def _require_port(plant: PlantData, port: Port, field: str) -> None:
    if not 0 <= port.panel < len(plant.panels):
        raise InvalidPlant(field, f"panel number {port.panel} does not exist")
    panel = plant.panels[port.panel]
    if port.side is Side.B and panel.one_sided:
        raise InvalidPlant(field, f"{panel.id} has no B side")
    if not 0 <= port.index < len(panel.names(port.side)):
        raise InvalidPlant(field, f"port number {port.index} of {panel.id} does not exist")


def _take(
    plant: PlantData, taken: dict[Port, str], field: str, name: str, port: Port, side: Side | None
) -> None:
    _require_port(plant, port, field)
    panel = plant.panels[port.panel]
    where = f"port {plant.port_name(port)} of {panel.id}"
    if panel.kind is Kind.SHUFFLE:
        # Glass takes light from either side, one way or both.
        side = port.side
    elif side is None and panel.mode is Mode.DIRECTED:
        raise InvalidPlant(field, f"{where} carries light one way; {name} needs tx and rx there")
    elif side is not None and panel.mode is Mode.BIDIRECTIONAL:
        raise InvalidPlant(field, f'{where} carries light both ways; {name} must be cabled "at" it')
    if side is not None and port.side is not side:
        verb = "sends into" if side is Side.A else "receives from"
        raise InvalidPlant(field, f"{where} is on side {port.side}; {name} {verb} side {side}")
    if port in taken:
        raise InvalidPlant(field, f"{where} has {taken[port]} already")
    taken[port] = name


def check_pairs(
    plant: PlantData,
    present: Present,
    pointers: list[str],
    raised: type[SynthError] = InvalidPlant,
) -> None:
    """Raise unless the ports of all pairs exist and each is in one pair at most.

    ``pointers`` has a place for every pair, in their order.
    """
    joined: dict[Port, str] = {}
    for pair, pointer in zip(present.pairs, pointers, strict=True):
        require_pair(plant, pair, pointer, raised)
        for member, port in zip("ab", plant.ends(pair), strict=True):
            before = joined.setdefault(port, pointer)
            if before != pointer:
                name = f"port {plant.port_name(port)} of {plant.panels[port.panel].id}"
                raise raised(
                    f"{pointer}/{member}", f"{name} must be in one pair only; {before} has it"
                )
    for pair in sorted(present.foreign - set(present.pairs)):
        raise raised("", f"the foreign pair {tuple(pair)} must be plugged")


def require_pair(plant: PlantData, pair: Pair, pointer: str, raised: type[SynthError]) -> None:
    """Raise unless both ports of a pair exist and differ."""
    if not 0 <= pair.panel < len(plant.panels):
        raise raised(f"{pointer}/panel", f"must be below {len(plant.panels)}")
    panel = plant.panels[pair.panel]
    for member, side, index in (("a", Side.A, pair.a), ("b", Side.B, pair.b)):
        count = len(panel.names(side))
        if not 0 <= index < count:
            raise raised(
                f"{pointer}/{member}", f"{panel.id} has {count} ports there; not number {index}"
            )
    if panel.kind is Kind.SHUFFLE:
        raise raised(f"{pointer}/panel", f"{panel.id} is a shuffle panel, in which nothing moves")
    if panel.one_sided and pair.a >= pair.b:
        raise raised(
            f"{pointer}/b", f"must be another port of {panel.id}, with a larger number than a"
        )
