"""Launch files of a plan: the hosts as the plan joins them, with the names of their ports."""

from collections import defaultdict

from topoloom.synth.errors import DoesNotFit, SynthError
from topoloom.synth.launch import launch_file
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Mode
from topoloom.synth.wiring.plant.light_paths import ways


def write_launch(form: str, script: Script) -> str:
    """Return a launch file of the wiring after the plan; ranks are hosts.

    Ports of a plant have their names.  Ports of a regular plan have numbers, which name no device.

    Raises:
        DoesNotFit: Hosts cannot reach each other, or the format cannot express the launch.
    """
    plant = script.plant
    ports: dict[tuple[int, int], list[str]] = defaultdict(list)
    for way in ways(plant, script.final.pairs):
        ends = [plant.at[way.start], plant.at[way.end]]
        is_directed = plant.panels[way.start.panel].mode is Mode.DIRECTED
        for (host, port), (other, _) in [ends] if is_directed else [ends, ends[::-1]]:
            ports[host, other].append(plant.hosts[host].ports[port].id)
    hosts = sorted({host for pair in ports for host in pair})
    names = [plant.hosts[host].id for host in hosts]
    links = [
        (plant.hosts[host].id, plant.hosts[other].id, len(found))
        for (host, other), found in ports.items()
    ]
    peers = {host: sorted(other for at, other in ports if at == host) for host in hosts}

    def port_names(host: int, cable: int) -> list[str]:
        return ports[hosts[host], peers[hosts[host]][cable]]

    try:
        return launch_file(
            form, Topology(names, links), port_names if plant.uniform is None else None
        )
    except SynthError as error:
        raise DoesNotFit("/format", f"{error.field.strip('/')} {error.rule}") from None
