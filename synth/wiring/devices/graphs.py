"""The wiring after a plan as a graph: Graphviz for eyes, GraphML for programs."""

import io
from xml.etree.ElementTree import ParseError

import networkx as nx

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Plant, Port, Present
from topoloom.synth.wiring.plant.current_wiring import read_present


def write_dot(script: Script) -> str:
    """Return a drawing: hosts, and every pair as an arrow; new pairs green, gone ones red."""
    added = {move.pair for move in script.moves if move.adds}
    gone = [move.pair for move in script.moves if not move.adds]
    lines = ["digraph wiring {", "  node [shape=box];"]
    rows = [(p, "darkgreen" if p in added else "black", "solid") for p in script.final.pairs]
    rows += [(pair, "red", "dashed") for pair in sorted(set(gone) - set(script.final.pairs))]
    for pair, colour, style in rows:
        one, other = (_owner(script, port) for port in script.plant.ends(pair))
        both = script.plant.panels[pair.panel].mode == "bidirectional"
        said = f"{script.plant.panels[pair.panel].id} {script.plant.pair_name(pair)}"
        marks = f"label={_quoted(said)}, color={colour}, style={style}"
        marks += ", dir=both" if both else ""
        lines.append(f"  {_quoted(one)} -> {_quoted(other)} [{marks}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    # Graphviz knows no other escape in quoted names, and reads UTF-8.
    return '"' + name.replace('"', '\\"') + '"'


def _owner(script: Script, port: Port) -> str:
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
            _owner(script, one),
            _owner(script, other),
            panel=script.plant.panels[pair.panel].id,
            a=script.plant.port_name(one),
            b=script.plant.port_name(other),
            link=script.links.get(pair, ""),
            new=pair in added,
        )
    out = io.BytesIO()
    nx.write_graphml_xml(graph, out)
    return out.getvalue().decode() + "\n"


def read_graphml(text: str, plant: Plant) -> Present:
    """Return the pairs of such a graph."""
    if "<!" in text:
        raise InvalidWiring("", "must be GraphML without declarations of types")
    try:
        graph = nx.parse_graphml(text, force_multigraph=True)
    except (nx.NetworkXError, ParseError, ValueError, KeyError) as error:
        raise InvalidWiring("", f"must be GraphML: {error}") from None
    edges = [data for _, _, data in graph.edges(data=True)]
    return read_present(
        [{name: row.get(name) for name in ("panel", "a", "b")} for row in edges], plant
    )
