"""Output formats of plans for people, panels and switches: one module per format, with a reader.

All formats are written from the same script; `FORMATS` lists the formats.  `RENDERERS` also has
the work order, and the names that each format can write.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from topoloom.synth.launch import LAUNCH_FILES
from topoloom.synth.wiring.devices import (
    calient_dicon,
    graphs,
    ip_addressing,
    launch_hosts,
    netbox_csv,
    polatis,
    sonic,
    work_sheet,
)
from topoloom.synth.wiring.devices.name_rules import (
    ESCAPED,
    HCA,
    INSTRUMENT,
    QUOTED,
    SHELL,
    SPREADSHEET,
    Alphabet,
    Named,
    everything,
    headings,
    nics,
    require_writable,
)
from topoloom.synth.wiring.plans.panel_actions import Move, Script, Step, plant_of, read_script

__all__ = ["FORMATS", "RENDERERS", "Format", "Move", "Script", "Step", "plant_of", "read_script"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its media type, its file name extension, and its writer.

    ``alphabet`` are the names that the format can write; ``named`` yields the names of a plan.
    """

    name: str
    media_type: str
    suffix: str
    render: Callable[[Script], str] = field(repr=False)
    alphabet: Alphabet = ESCAPED
    named: Named = everything

    def write(self, script: Script) -> str:
        """Return a plan in this format.

        Raises:
            DoesNotFit: The format cannot express the plan, or cannot write one of its names.
        """
        require_writable(script, self.name, self.alphabet, self.named)
        return self.render(script)


_TOLD = (
    Format(
        "sonic-cli", "text/x-sonic-ocs", "sonic.txt", sonic.write_lines,
        SHELL, headings,
    ),
    Format(
        "sonic-patch", "application/vnd.topoloom.sonic-patch+json", "sonic.json",
        sonic.write_patches,
    ),
    Format(
        "sonic-config", "application/vnd.topoloom.sonic-config+json", "config_db.json",
        sonic.write_config,
    ),
    Format("polatis-netconf", "application/xml", "edits.xml", polatis.write_edits),
    Format(
        "polatis-scpi", "text/x-polatis-scpi", "polatis.scpi", polatis.write_scpi,
        INSTRUMENT, headings,
    ),
    Format(
        "calient-tl1", "text/x-calient-tl1", "tl1", calient_dicon.write_tl1,
        INSTRUMENT, headings,
    ),
    Format(
        "dicon", "text/x-dicon", "dicon.scpi", calient_dicon.write_dicon,
        INSTRUMENT, headings,
    ),
    Format(
        "netbox-csv", "text/x-netbox-cables", "cables.csv", netbox_csv.write_netbox,
        SPREADSHEET,
    ),
    Format("html", "text/html", "html", work_sheet.write_sheet),
    Format("dot", "text/vnd.graphviz", "dot", graphs.write_dot, QUOTED),
    Format("graphml", "application/graphml+xml", "graphml", graphs.write_graphml),
    Format(
        "deployment", "application/vnd.topoloom.deployment+json", "deployment.json",
        ip_addressing.write_deployment, HCA, nics,
    ),
)  # fmt: skip

_OF_PORTS = {"nccl-env": (HCA, nics)}
"""Launch files that write ports into a shell script."""
_LAUNCHED = tuple(
    Format(
        name,
        file.media_type,
        file.suffix,
        partial(launch_hosts.write_launch, name),
        *_OF_PORTS.get(name, (ESCAPED, everything)),
    )
    for name, file in LAUNCH_FILES.items()
)

FORMATS: Mapping[str, Format] = MappingProxyType({form.name: form for form in (*_TOLD, *_LAUNCHED)})
"""Every format of a plan beside patch-plan/1 itself and its CSV work order, by name."""

RENDERERS: Mapping[str, Format] = MappingProxyType(
    {"csv": Format("csv", "text/csv", "csv", work_sheet.write_order), **FORMATS}
)
"""Every text that is written from a script, by name."""
