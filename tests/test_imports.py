"""No package imports itself in a circle, not even from inside a function."""

import ast
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("synth", "schedules", "app")

# Circles still to be broken.  Nothing is added here, and what is broken is taken out.


def module_name(path: Path) -> str:
    """Return the dotted name of a module; that of a package for its ``__init__``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def executed_imports(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    """Return all import statements but those under ``if TYPE_CHECKING``."""
    found: list[ast.Import | ast.ImportFrom] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for otherwise in node.orelse:
                found += executed_imports(ast.Module([otherwise], []))
        else:
            found += executed_imports(node)
    return found


def imported(node: ast.Import | ast.ImportFrom, modules: set[str]) -> set[str]:
    """Return the modules of ours that a statement names: ``from a import b`` may mean a.b."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & modules
    full = {f"{node.module}.{alias.name}" for alias in node.names}
    return (full & modules) | ({node.module or ""} & modules if full - modules else set())


def with_packages(source: str, target: str) -> set[str]:
    """Return a module and the packages whose ``__init__`` runs because it is imported.

    A package that the importing module is in is running already.
    """
    parts = target.split(".")
    above = {".".join(parts[:length]) for length in range(1, len(parts))}
    own = {source} | {source[:index] for index, sign in enumerate(source) if sign == "."}
    return {target} | (above - own)


def import_graph(sources: dict[str, str]) -> "nx.DiGraph[str]":
    """Return who imports whom among modules given by name and text."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sources)
    for name, text in sources.items():
        for node in executed_imports(ast.parse(text)):
            for target in imported(node, set(sources)):
                graph.add_edges_from((name, one) for one in with_packages(name, target))
    return graph


def circles(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Return the strongly connected parts of two or more modules, and modules in themselves."""
    found = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    return sorted(found + [[name] for name in nx.nodes_with_selfloops(graph)])


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_imports_itself_in_a_circle(package):
    paths = sorted((ROOT / package).rglob("*.py"))
    graph = import_graph({module_name(path): path.read_text() for path in paths})
    assert len(graph) == len(paths) > 20
    assert graph.number_of_edges() > len(paths)
    assert circles(graph) == []


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ({"p": "", "p.a": "import p.b", "p.b": "from p.a import f"}, [["p.a", "p.b"]]),
        (
            {"p": "", "p.a": "from p import b", "p.b": "def f():\n    from p import a"},
            [["p.a", "p.b"]],
        ),
        ({"p": "from p.a import f", "p.a": "from p import f"}, [["p", "p.a"]]),
        ({"p": "from p.a import f", "p.a": "", "q": "from p.a import f"}, []),
        ({"p": "import q", "p.a": "", "q": "import p.a"}, [["p", "q"]]),
        (
            {
                "a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b",
                "b": "import a",
            },
            [],
        ),
        ({"a": "if TYPE_CHECKING:\n    pass\nelse:\n    import b", "b": "import a"}, [["a", "b"]]),
    ],
)
def test_circles_are_found_wherever_the_import_stands(sources, found):
    assert circles(import_graph(sources)) == found
