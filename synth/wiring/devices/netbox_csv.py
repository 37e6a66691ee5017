"""NetBox: the new jumpers of passive panels as a CSV file of cables that it imports."""

import csv
import io

from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring.devices.netbox_rest import FRONT, is_jumper
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Plant, Present
from topoloom.synth.wiring.plant.current_wiring import read_present

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


def read_netbox(text: str, plant: Plant) -> Present:
    """Return the pairs of such a list, planned ones too."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    rows = []
    for number, row in enumerate(reader):
        if None in row or row.get("side_a_device") != row.get("side_b_device"):
            raise InvalidWiring(f"/{number}", "must join two ports of one panel")
        rows.append(
            {"panel": row["side_a_device"], "a": row["side_a_name"], "b": row["side_b_name"]}
        )
    return read_present(rows, plant)
