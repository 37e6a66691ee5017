"""The rules of the house, as tests: who may import whom, what must be complete."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cases import for_every
from topoloom.app.api.problem_types import HTTP_PROBLEMS, PROBLEMS
from topoloom.app.cli import app as cli
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.schedules import errors as schedule_errors
from topoloom.synth import errors as synth_errors

ROOT = Path(__file__).parent.parent
PACKAGES = ("app", "learning_rate", "schedules", "synth")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the full names that a module imports, in functions too."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            found |= {f"{origin}.{alias.name}" for alias in node.names}
    return frozenset(found)


def imported(path: Path, beginnings: tuple[str, ...]) -> set[str]:
    return {name for name in imports_of(path) if name.startswith(beginnings)}


@pytest.mark.parametrize("package", ["app", "schedules", "synth"])
def test_the_root_of_a_package_holds_at_most_five_modules(package):
    assert len(list((ROOT / package).glob("*.py"))) <= 5


FORMATS_ROOM = ROOT / "schedules" / "formats"
ROOMS = {
    "program": "what the format can say, and the limits of what loads it",
    "write": "from a schedule to the file",
    "read": "from the file to values, or one clear error",
    "replay": "whether it does what it promises",
}
SHARED_ROOMS = {"inspection", "job_traces", "lowering", "targets"}
BESIDE_ROOMS = {
    "schedule": {"binary", "fields"},
    "msccl": {"program_builder", "thread_blocks", "xml_elements"},
    "mscclpp": {"load_plans", "semaphores", "switch_channels", "thread_blocks"},
    "nccl": {"hops"},
    "chakra": {"nodes", "order_checks", "protobuf_schema", "replay_all_to_all", "run_nodes"},
}
"""By format: modules of one idea of its own each."""


@pytest.mark.parametrize(
    "package",
    sorted({p.parent.name for p in FORMATS_ROOM.glob("*/__init__.py")} - SHARED_ROOMS),
)
def test_every_format_of_schedules_has_the_same_rooms(package):
    modules = {path.stem for path in (FORMATS_ROOM / package).glob("*.py")} - {"__init__"}
    assert modules <= ROOMS.keys() | BESIDE_ROOMS.get(package, set())
    assert "write" in modules
    # What is read is read in the terms that both sides share, and what is run was read.
    assert "read" not in modules or "program" in modules
    assert "replay" not in modules or "read" in modules


READERS = [p for p in MODULES if p.parent.parent == FORMATS_ROOM and p.stem in ("read", "replay")]


@pytest.mark.parametrize("path", READERS, ids=name_of)
def test_readers_know_nothing_of_how_files_are_written(path):
    writers = (".write", ".thread_blocks", ".buffer_moves", ".transfers")
    assert not {name for name in imports_of(path) for part in writers if f"{part}." in name}


def test_programs_import_no_other_room():
    for path in FORMATS_ROOM.glob("*/program.py"):
        assert not imported(path, ("topoloom.schedules.formats",))


ERRORS = [
    value
    for module in (synth_errors, schedule_errors)
    for value in vars(module).values()
    if isinstance(value, type) and value is not synth_errors.InputError
]


@for_every("error", ERRORS)
def test_every_error_has_a_problem_of_its_own(error):
    assert error in PROBLEMS


def test_every_type_of_problem_is_documented():
    text = (ROOT / "docs" / "reference" / "rest.md").read_text()
    for problem in {*PROBLEMS.values(), *HTTP_PROBLEMS.values()}:
        assert f"`{problem.type}`" in text
        assert f"| {problem.status} |" in text


def test_every_route_is_documented():
    text = (ROOT / "docs" / "reference" / "rest.md").read_text()
    schema = service_openapi()
    for path, operations in schema["paths"].items():
        # What may be done with every stored document is told once for all kinds.
        general = re.sub(r"^/v1/[a-z-]+/{id}", "/v1/KIND/{id}", path)
        for method in operations:
            said = (f"{method.upper()} {one}" in text for one in (path, general))
            assert any(said), (method, path)


def commands(group, prefix=""):
    """Yield every command with its full name, groups before what they hold."""
    for name, command in group.commands.items():
        yield prefix + name, command
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")


def test_every_command_and_its_options_are_documented():
    text = (ROOT / "docs" / "reference" / "cli.md").read_text()
    from topoloom.app.cli.command_groups import click_group

    for name, command in commands(click_group(cli)):
        start = text.find(f"# topoloom {name}\n")
        assert start >= 0, name
        section = re.split(r"^##+ ", text[start + 2 :], flags=re.MULTILINE)[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option == "--help" or f"`{option}" in section, (name, option)


BELOW_DOCUMENTS = ("synth/", "schedules/", "app/services/")
WRITE_AND_READ_JSON = (
    # Every format has its own folder or module; these alone know what a document looks like.
    "schedules/formats/",
    "synth/formats",
    "synth/topology/topology.py",
    "synth/recipes/topology_document.py",
    "synth/wiring/plans/document_writer.py",
    "synth/wiring/plant/current_wiring.py",
    "synth/wiring/plans/document_reader.py",
    "synth/wiring/plans/panel_actions.py",
    "synth/wiring/plant/",
    "synth/wiring/devices/",
    "synth/launch/documents.py",
    # Its state is a document of its own, and it keeps the states of PyTorch's objects.
    "learning_rate/",
)
OPEN_TYPES = {"Any", "object"}


def open_objects(annotation):
    """Yield every ``dict`` or ``Mapping`` of texts to anything inside an annotation."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    for node in ast.walk(annotation):
        if not isinstance(node, ast.Subscript):
            if isinstance(node, ast.Name) and node.id == "dict":
                bare = not any(
                    isinstance(other, ast.Subscript) and other.value is node
                    for other in ast.walk(annotation)
                )
                if bare:
                    yield ast.unparse(annotation)
            continue
        name = ast.unparse(node.value).rpartition(".")[2]
        if name in ("dict", "Mapping", "MutableMapping") and isinstance(node.slice, ast.Tuple):
            key, value = map(ast.unparse, node.slice.elts)
            if key == "str" and value.rpartition(".")[2] in OPEN_TYPES:
                yield ast.unparse(node)


def annotations(tree):
    """Yield (line, annotation) of all parameters, results and members of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            everything = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            everything += [one for one in (given.vararg, given.kwarg) if one]
            yield from ((one.lineno, one.annotation) for one in everything if one.annotation)
            if node.returns is not None:
                yield node.lineno, node.returns
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.AnnAssign):
                    yield member.lineno, member.annotation


BELOW = [
    path
    for path in MODULES
    if name_of(path).startswith(BELOW_DOCUMENTS)
    and not name_of(path).startswith(WRITE_AND_READ_JSON)
]


def test_below_documents_no_function_takes_or_returns_an_open_object():
    found = [
        f"{name_of(path)}, line {line}: {shown}"
        for path in BELOW
        for line, annotation in annotations(ast.parse(path.read_text()))
        for shown in open_objects(annotation)
    ]
    assert not found


SERVICES = [path for path in MODULES if name_of(path).startswith("app/services/")]


def test_services_read_no_member_of_a_document():
    """They key, look up, call and present: what is in an answer they do not know."""
    read = [
        f"{name_of(path)}, line {node.lineno}: {ast.unparse(node)}"
        for path in SERVICES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ]
    assert not read


def test_the_rules_on_open_objects_find_them():
    planted = ast.parse(
        "def f(a: dict[str, Any], b: 'Mapping[str, object] | None', *c: dict) -> list[dict[str, "
        "typing.Any]]: ...\nclass C:\n    d: dict[str, Any]\n    e: dict[str, int]\n"
    )
    found = [shown for _, one in annotations(planted) for shown in open_objects(one)]
    assert len(found) == 5
    assert len(BELOW) > 100 and len(SERVICES) > 5
