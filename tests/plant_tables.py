"""The inverse of the reader of plants as CSV."""

import csv
import io

from topoloom.synth.wiring.plant import Plant, plant_document
from topoloom.synth.wiring.plant.csv_table import COLUMNS


def plant_csv(plant: Plant) -> str:
    """Return a plant as a table; `read_plant_csv` gives it back, name and budget aside."""
    document = plant_document(plant)
    out = io.StringIO(newline="")
    writer: csv.DictWriter[str] = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for panel in document["panels"]:
        row = {name: value for name, value in panel.items() if name != "id"}
        for side in ("a", "b", "ports"):
            if isinstance(row.get(side), list):
                row[side] = " ".join(row[side])
        if "bundles" in row:
            row["bundles"] = " ".join(map(str, row["bundles"]))
        writer.writerow({"item": "panel", "panel": panel["id"], **row})
    for host in plant.hosts:
        if host.state.value != "free" or not any(port.fibres for port in host.ports):
            writer.writerow({"item": "host", "host": host.id, "state": host.state.value})
        for port in host.ports:
            both = bool(port.tx) and port.tx == port.rx
            sides = [("at", port.tx)] if both else [("tx", port.tx), ("rx", port.rx)]
            state = "duplex" if port.duplex and not both else port.state.value
            for fibre, ends in sides:
                for end in ends:
                    writer.writerow(
                        {
                            "item": "cable",
                            "panel": plant.panels[end.panel].id,
                            "port": plant.port_name(end),
                            "host": host.id,
                            "host_port": port.id,
                            "fibre": fibre,
                            "state": "" if state == "free" else state,
                        }
                    )
    for trunk in plant.trunks:
        ends = {"panel": plant.panels[trunk.source.panel].id, "port": plant.port_name(trunk.source)}
        ends |= {"to_panel": plant.panels[trunk.target.panel].id}
        ends |= {"to_port": plant.port_name(trunk.target)}
        writer.writerow({"item": "trunk", **ends, "loss_db": float(trunk.loss_db)})
    for port, state in plant.states.items():
        here = {"panel": plant.panels[port.panel].id, "port": plant.port_name(port)}
        writer.writerow({"item": "port", **here, "state": state.value})
    for pair in document["cross_connects"]:
        state = "foreign" if pair.get("foreign") else ""
        row = {"panel": pair["panel"], "port": pair["a"], "to_port": pair["b"], "state": state}
        writer.writerow({"item": "pair", **row})
    return out.getvalue()
