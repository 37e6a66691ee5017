"""What people, panels and switches are told: one format a module, each read back.

`script` is the common value that all are written from; `FORMATS` lists them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from synth.wiring.devices import deployment, graphs, lines, netbox, polatis, sheet, sonic
from synth.wiring.devices.script import Move, Script, Step, plant_of, read_script

__all__ = ["FORMATS", "Format", "Move", "Script", "Step", "plant_of", "read_script"]


class Format(NamedTuple):
    """A format: its media type, the end of names of its files, and what writes it."""

    media_type: str
    suffix: str
    write: Callable[[Script], str]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "sonic-cli": Format("text/x-sonic-ocs", "sonic.txt", sonic.write_lines),
        "sonic-patch": Format(
            "application/vnd.topoloom.sonic-patch+json", "sonic.json", sonic.write_patches
        ),
        "sonic-config": Format(
            "application/vnd.topoloom.sonic-config+json", "config_db.json", sonic.write_config
        ),
        "polatis-netconf": Format("application/xml", "edits.xml", polatis.write_edits),
        "polatis-scpi": Format("text/x-polatis-scpi", "polatis.scpi", polatis.write_scpi),
        "calient-tl1": Format("text/x-calient-tl1", "tl1", lines.write_tl1),
        "dicon": Format("text/x-dicon", "dicon.scpi", lines.write_dicon),
        "netbox-csv": Format("text/x-netbox-cables", "cables.csv", netbox.write_netbox),
        "html": Format("text/html", "html", sheet.write_sheet),
        "dot": Format("text/vnd.graphviz", "dot", graphs.write_dot),
        "graphml": Format("application/graphml+xml", "graphml", graphs.write_graphml),
        "deployment": Format(
            "application/vnd.topoloom.deployment+json", "deployment.json",
            deployment.write_deployment,
        ),
    }
)  # fmt: skip
"""Every format of a plan beside patch-plan/1 itself and its CSV work order, by name."""
