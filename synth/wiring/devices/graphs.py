"""The wiring after a plan as a graph: Graphviz for eyes, GraphML for programs."""

import io
import re

import networkx as nx

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.formats.safe_xml import Element
from topoloom.synth.wiring.devices.device_report import Report, movable, whole_report
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Plant, Port
from topoloom.synth.wiring.plant.current_wiring import named_pairs


def write_dot(script: Script) -> str:
    """Return a drawing: hosts, and every pair as an arrow; new pairs green, gone ones red."""
    added = {move.pair for move in script.moves if move.adds}
    gone = [move.pair for move in script.moves if not move.adds]
    lines = ["digraph wiring {", "  node [shape=box];"]
    rows = [(p, "darkgreen" if p in added else "black", "solid") for p in script.final.pairs]
    rows += [(pair, "red", "dashed") for pair in sorted(set(gone) - set(script.final.pairs))]
    for pair, colour, style in rows:
        one, other = (owner(script, port) for port in script.plant.ends(pair))
        both = script.plant.panels[pair.panel].mode == "bidirectional"
        said = f"{script.plant.panels[pair.panel].id} {script.plant.pair_name(pair)}"
        a, b = (_quoted(script.plant.port_name(port)) for port in script.plant.ends(pair))
        marks = f"panel={_quoted(script.plant.panels[pair.panel].id)}, a={a}, b={b}, "
        marks += f"label={_quoted(said)}, color={colour}, style={style}"
        marks += ", dir=both" if both else ""
        lines.append(f"  {_quoted(one)} -> {_quoted(other)} [{marks}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    # Graphviz knows no other escape in quoted names, and reads UTF-8.
    return '"' + name.replace('"', '\\"') + '"'


def owner(script: Script, port: Port) -> str:
    """Return the node, else the host, that is cabled to a port; the port if nothing is."""
    at = script.plant.at.get(port)
    if at is None:
        return script.plant.full_name(port)
    host = script.plant.hosts[at[0]]
    name = script.peers.get(port)
    # A port's own name may hold colons.
    last = at[1] if script.plant.uniform else host.ports[at[1]].id
    return name.removesuffix(f":{last}") if name else host.id


def write_graphml(script: Script) -> str:
    """Return the same as GraphML: edges with panel, ports, link and whether they are new."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    added = {move.pair for move in script.moves if move.adds}
    for pair in script.final.pairs:
        one, other = script.plant.ends(pair)
        graph.add_edge(
            owner(script, one),
            owner(script, other),
            panel=script.plant.panels[pair.panel].id,
            a=script.plant.port_name(one),
            b=script.plant.port_name(other),
            link=script.links.get(pair, ""),
            new=pair in added,
        )
    out = io.BytesIO()
    nx.write_graphml_xml(graph, out)
    return out.getvalue().decode() + "\n"


def read_graphml(root: Element, plant: Plant) -> Report:
    """Return the report of GraphML whose edges have ``panel``, ``a`` and ``b``.

    Raises:
        InvalidWiring: An edge lacks one of them, or names what the plant does not have; with its
            line.
    """
    names = {key.attributes.get("id"): key.attributes.get("attr.name") for key in root.all("key")}
    rows = [
        (
            edge.place,
            {names.get(data.attributes.get("key")): data.text for data in edge.all("data")},
        )
        for graph in root.all("graph")
        for edge in graph.all("edge")
    ]
    return _edges(rows, plant, "GraphML")


def read_dot(text: str, plant: Plant) -> Report:
    """Return the report of a drawing; dashed edges are gone.

    Raises:
        InvalidWiring: The drawing is cut off, or as `read_graphml`.
    """
    rows, lines = [], text.rstrip().split("\n")
    if lines[-1].strip() != "}":
        raise InvalidWiring(f"/line/{len(lines)}", "ends the drawing without a line '}'")
    for number, line in enumerate(lines, start=1):
        if " -> " in line and "style=dashed" not in line:
            found = _ATTRIBUTE.findall(line)
            rows.append((f"/line/{number}", {name: v.replace('\\"', '"') for name, v in found}))
    return _edges(rows, plant, "Graphviz DOT")


_ATTRIBUTE = re.compile(r'\b(panel|a|b)="((?:[^"\\]|\\.)*)"')


def _edges(rows: list[tuple[str, dict[str | None, str]]], plant: Plant, form: str) -> Report:
    for where, row in rows:
        if not {"panel", "a", "b"} <= row.keys():
            raise InvalidWiring(
                where, f"is an edge without panel, a and b: {form} of a graph, not of a wiring"
            )
    pairs = named_pairs(rows, plant)
    places = (where for where, _ in rows)
    return whole_report(zip(places, pairs, strict=True), movable(plant))
