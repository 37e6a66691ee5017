"""NetBox: the new jumpers of passive panels as a CSV file of cables that it imports."""

import csv
import io

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring.devices.netbox_rest import FRONT, is_jumper
from topoloom.synth.wiring.plans.panel_actions import Script

COLUMNS = (
    *("side_a_device", "side_a_type", "side_a_name"),
    *("side_b_device", "side_b_type", "side_b_name"),
    *("type", "status", "label", "description"),
)


def write_netbox(script: Script) -> str:
    """Return the jumpers that a plan adds to passive panels, as *planned* cables.

    Cables that stay are left out: NetBox refuses a second cable at a port, and with it the whole
    file.  For the same reason the cables that go must be deleted first, which no CSV file can do:
    see `synth.wiring.devices.netbox_rest`.  Optical switches have no cables between their ports.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for pair in script.final.pairs:
        if pair in script.base.pairs or not is_jumper(script.plant, pair):
            continue
        device = script.plant.panels[pair.panel].id
        a, b = (script.plant.port_name(port) for port in script.plant.ends(pair))
        label = script.label(pair)
        for cell in (device, a, b, label):
            if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
                raise DoesNotFit("/format", f"{cell!r} would be a formula in a spreadsheet")
        writer.writerow(
            (device, FRONT, a, device, FRONT, b, "smf", "planned", label[:100],
             f"plan {script.plan_id}"[:200])
        )  # fmt: skip
    return out.getvalue()
