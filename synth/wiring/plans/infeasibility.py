"""Why a topology does not fit a plant, in words."""

from collections.abc import Callable

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.assignment.channels import Supply
from topoloom.synth.wiring.plant import Plant
from topoloom.synth.wiring.plant.cross_wiring import cross_wiring


def require_partners(topology: Topology) -> None:
    """Raise unless every link has its partner back, as duplex ports need it."""
    if not topology.is_bidirectional:
        raise DoesNotFit("/links", "duplex ports need every link to have its partner back")


def require_room(topology: Topology, found: Supply) -> None:
    """Raise unless every host has ports enough for its links, panels aside."""
    plant, hosts, duplex = found.resources.plant, found.resources.hosts, found.resources.duplex
    if duplex:
        require_partners(topology)
    for wanted, sites, verb in (
        (topology.out_degrees, found.sending.sum(axis=0), "send"),
        (topology.in_degrees, found.receiving.sum(axis=0), "receive"),
    ):
        if duplex:
            senders = sum(
                (channel.shared is False) * found.receiving[number]
                for number, channel in enumerate(found.channels)
            )
            sites = found.sending.sum(axis=0) + senders
            verb = "be joined"
        for node, (count, most) in enumerate(zip(wanted.tolist(), sites.tolist(), strict=True)):
            if count > most:
                raise DoesNotFit("/links", _too_few(plant, hosts[node], count, most, verb))


def _too_few(plant: Plant, host: int, count: int, most: int, verb: str) -> str:
    if plant.uniform is not None and not plant.present.foreign:
        return f"degree {count} needs as many lanes; hosts have {plant.uniform.lanes}"
    return f"host {plant.hosts[host].id} has {count} links and {most} ports that can {verb}"


def advice(found: Supply, topology: Topology, fits: Callable[[Plant], bool]) -> str:
    """Say whether the plant wired otherwise once would have every such topology fit."""
    if not any(channel.shared for channel in found.channels):
        return ""
    crossed = cross_wiring(found.resources.plant, found.resources.hosts)
    if crossed is not None:
        if not fits(crossed.plant):
            return ""
        return (
            f"; with the receive fibres of {len(crossed.exchanges)} pairs of ports exchanged once "
            "(cross wiring: topoloom patch cross-wire) it fits"
        )
    rooms = found.sending.sum(axis=0)
    one_sided = all(channel.shared for channel in found.channels)
    if one_sided and (topology.out_degrees <= rooms // 2 * 2).all():
        return (
            "; on panels of two sides, half of each host's ports on A sides and half on B sides, "
            "every two-way topology of that degree fits"
        )
    return ""
