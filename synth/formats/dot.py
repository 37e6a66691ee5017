"""Graphviz DOT, for drawing, with the recipe as a comment: nothing reads it back."""

from topoloom.synth.formats.writer_checks import require_writable
from topoloom.synth.topology.topology import Topology


def dot(topology: Topology) -> str:
    r"""Return Graphviz DOT: nodes are numbered, ids and capacities are labels.

    >>> print(dot(Topology(["a", 's"1'], [("a", 's"1', 3)], switches=['s"1'])))
    digraph "" {
      0 [label="a"];
      1 [label="s\"1", shape=box];
      0 -> 1 [label="3"];
    }
    <BLANKLINE>

    Raises:
        InvalidTopology: An id or a label holds a control character.
    """
    require_writable(topology)
    labels = topology.labels()
    lines = [f"digraph {quoted(labels['name'])} {{"]
    if "recipe" in labels:
        lines.append(f"  comment={quoted(labels['recipe'])};")
    for index, node in enumerate(topology.nodes):
        shape = ", shape=box" if node in topology.switches else ""
        lines.append(f"  {index} [label={quoted(str(node))}{shape}];")
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for (source, target), capacity in zip(ends, topology.capacities, strict=True):
        lines.append(f'  {source} -> {target} [label="{capacity}"];')
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """Return a text as a string of dot."""
    # In labels a lone backslash starts an escape, so it is doubled.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
