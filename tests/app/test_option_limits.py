"""The limits that help, docs and OpenAPI name are those that requests keep, in the same words."""

from pydantic import ValidationError

from tests.app.test_hostile_requests import EXAMPLES
from tests.cases import for_every
from topoloom.app.cli import app
from topoloom.app.cli.command_groups import click_group
from topoloom.app.cli.option_parameters import FIELD_PREFIX
from topoloom.app.requests.field_errors import field_errors
from topoloom.app.requests.options.table import OPTIONS
from topoloom.app.requests.renamed import MEMBERS
from topoloom.app.services import operations
from topoloom.app.services.operations import Operation

REQUESTS = {
    one.body.__name__: one.body for one in vars(operations).values() if isinstance(one, Operation)
}
BOUNDED = [
    (name, member, schema["minimum"], schema["maximum"])
    for name, model in REQUESTS.items()
    for member, whole in model.model_json_schema()["properties"].items()
    for schema in ([whole] if "type" in whole else whole.get("anyOf", ()))
    if "minimum" in schema and {part.get("type") for part in whole.get("anyOf", ())} <= {
        "integer", "number", "null"
    }
]  # fmt: skip
"""Every member that is a number within limits, of the request of every operation."""


def refusals(name, member, value):
    """Return what is said of a member of a request that is right otherwise."""
    model = REQUESTS[name]
    for example in ({}, *EXAMPLES.values()):
        try:
            model.model_validate(example)
        except ValidationError:
            continue
        break
    try:
        model.model_validate(example | {member: value})
    except ValidationError as error:
        pointer = f"/{MEMBERS.get(member, member)}"
        return [one.detail for one in field_errors(error) if one.pointer == pointer]
    return []


def test_numbers_within_limits_are_found():
    found = {member for _, member, _, _ in BOUNDED}
    assert {"nodes", "degree", "max_steps", "node_gbps", "alpha_us", "trees_per_root"} <= found


@for_every(("name", "member", "least", "most"), BOUNDED)
def test_a_request_takes_the_least_and_the_most_and_refuses_what_is_beyond(
    name, member, least, most
):
    for value in (least, most):
        assert not [rule for rule in refusals(name, member, value) if rule.startswith("must be at")]
    below = least - 1 if isinstance(least, int) else least / 2
    assert any(f"must be at least {least:f}".rstrip("0").startswith(rule.rstrip("0"))
               for rule in refusals(name, member, below))  # fmt: skip
    assert f"must be at most {most}" in refusals(name, member, most + 1)


@for_every(("name", "member", "least", "most"), BOUNDED)
def test_the_table_of_options_names_the_limits_of_a_request(name, member, least, most):
    entries = [one for one in OPTIONS if one.name == member and one.least is not None]
    limits = [(float(one.least), float(one.most)) for one in entries]
    assert not entries or (float(least), float(most)) in limits


def commands(group):
    for command in group.commands.values():
        yield from commands(command) if hasattr(command, "commands") else (command,)


def test_help_names_the_limits_of_the_table():
    known = {(one.name, one.limits) for one in OPTIONS if one.limits}
    shown = {
        (parameter.name.removeprefix(FIELD_PREFIX), entry.limits)
        for command in commands(click_group(app))
        for parameter in command.params
        for entry in OPTIONS
        if parameter.name == FIELD_PREFIX + entry.name
        and entry.limits
        and (parameter.help or "").endswith(f"; {entry.limits}")
    }
    assert shown <= known and len(shown) > 30
