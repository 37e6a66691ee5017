"""The rules of the house, as tests: who may import whom, what must be complete."""

import ast
import re
from pathlib import Path

import pytest

import schedules.errors
import synth.errors
from app.cli import app as cli
from app.main import create_app
from app.problems import HTTP_PROBLEMS, PROBLEMS

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    path for package in ("app", "schedules", "synth") for path in (ROOT / package).rglob("*.py")
)
OURS = {"app", "schedules", "synth", "migrations", "tests", "benchmarks", "examples"}
ALLOWED = {"synth": {"synth"}, "schedules": {"schedules", "synth"}}
ONLY_IN_APP = {
    "fastapi",
    "starlette",
    "pydantic",
    "pydantic_settings",
    "sqlalchemy",
    "alembic",
    "typer",
    "rich",
    "uvicorn",
}
CHECKERS = ("schedules/verify", "schedules/simulate", "schedules/formats", "schedules/execute")
GENERATORS = (
    "schedules.bfb",
    "schedules.collectives",
    "schedules.forestcoll",
    "schedules.lift",
    "schedules.slack",
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Return the full names that a module imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def test_the_rules_are_applied_to_something():
    assert len(MODULES) > 40
    assert any(name_of(path).startswith(CHECKERS) for path in MODULES)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_packages_import_in_one_direction(path):
    package = name_of(path).partition("/")[0]
    allowed = ALLOWED.get(package, {"app", "schedules", "synth", "migrations"})
    assert packages(path) & OURS <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_http_sql_and_settings_stay_in_the_app(path):
    if not name_of(path).startswith("app/"):
        assert not packages(path) & ONLY_IN_APP


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_checkers_and_exporters_import_no_generator(path):
    if name_of(path).startswith(CHECKERS):
        assert not {name for name in imports(path) if name.startswith(GENERATORS)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


ERRORS = [
    getattr(module, name) for module in (synth.errors, schedules.errors) for name in module.__all__
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_has_a_problem_of_its_own(error):
    assert error in PROBLEMS


def test_every_error_of_the_packages_is_exported():
    for module in (synth.errors, schedules.errors):
        defined = {name for name, value in vars(module).items() if isinstance(value, type)}
        assert defined == set(module.__all__)


def test_every_type_of_problem_is_documented():
    text = (ROOT / "docs" / "api.md").read_text()
    for problem in {*PROBLEMS.values(), *HTTP_PROBLEMS.values()}:
        assert f"`{problem.type}`" in text
        assert f"| {problem.status} |" in text


def test_every_route_is_documented():
    text = (ROOT / "docs" / "api.md").read_text()
    schema = create_app().openapi()
    for path, operations in schema["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in text


def commands(group, prefix=""):
    """Yield every command with its full name, groups before what they hold."""
    for name, command in group.commands.items():
        yield prefix + name, command
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")


def test_every_command_and_its_options_are_documented():
    text = (ROOT / "docs" / "cli.md").read_text()
    from typer.main import get_command

    for name, command in commands(get_command(cli)):
        start = text.find(f"# topoloom {name}\n")
        assert start >= 0, name
        section = re.split(r"^##+ ", text[start + 2 :], flags=re.MULTILINE)[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option == "--help" or f"`{option}" in section, (name, option)
