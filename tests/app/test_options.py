"""One table of options: the command line, requests, queries and pages say what it says."""

from decimal import Decimal
from typing import Annotated, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import StrictInt, TypeAdapter, ValidationError, create_model

from tests.cases import for_every
from tests.test_architecture import commands
from topoloom.app.cli import app
from topoloom.app.cli.command_groups import click_group
from topoloom.app.cli.commands.execute_schedule import ExecutionOptions, ProbeOptions
from topoloom.app.cli.shared_options import READS
from topoloom.app.codegen import reference_tables
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.requests import (
    administration,
    designs,
    evaluations,
    iterations,
    listing,
    lr_sessions,
    network_curves,
    patch_plans,
    schedules,
)
from topoloom.app.requests.base import MOST, NotNegative, Positive, format_bytes, parse_bytes
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.options import collectives, exports, simulations, topology_source
from topoloom.app.requests.options import lr_sessions as learning_rate
from topoloom.app.requests.options.option import REQUIRED, Option, choices
from topoloom.app.requests.options.table import OPTIONS
from topoloom.app.requests.options.topology_source import CHANGES, READING
from topoloom.app.requests.topology_source import TEXT_ONLY, TopologyChanges, TopologySource
from topoloom.learning_rate.options import METHODS, VALIDATION, Options
from topoloom.learning_rate.rate_shape import ANCHORS
from topoloom.schedules.execute import limits
from topoloom.schedules.formats import FORMATS, FormatName
from topoloom.schedules.formats.msccl.program import Dialect
from topoloom.synth.formats.machines import (
    cluster_plan,
    host_path,
    nvidia_smi,
    rocm_smi,
    unlisted_nvlinks,
)

REQUESTS = {
    "design": [designs.DesignRequest],
    "iteration": [iterations.IterationRequest],
    "sweep network": [network_curves.NetworkCurvesRequest],
    "files": [designs.DesignRequest, schedules.ExportRequest],
    "frontier": [designs.FrontierRequest],
    "optimum": [schedules.OptimumRequest],
    "schedule": [schedules.ScheduleRequest, schedules.ExportRequest],
    "simulate": [schedules.SimulationRequest],
    "execute": [ExecutionOptions],
    "probe": [ProbeOptions],
    "patch plan": [patch_plans.PatchPlanRequest],
    "patch repair": [patch_plans.RepairsRequest],
    "patch faults": [patch_plans.FaultAnalysisRequest],
    "list": [listing.ListRequest],
    "best": [listing.BestRequest],
    "atlas export": [listing.AtlasRequest],
    "compare schedules": [evaluations.ComparisonRequest],
    "compare algorithms": [evaluations.ComparisonRequest],
    "plot frontier": [designs.FrontierRequest],
    "plot sizes": [SizesRequest],
    "lr create": [lr_sessions.LrSessionRequest],
    "lr observe": [lr_sessions.LrObservationRequest],
    "lr extend": [lr_sessions.LrExtensionRequest],
    "lr attach": [lr_sessions.LrLeaseRequest],
    "lr list": [listing.PageRequest],
    "keys audit-log": [administration.AuditLogRequest],
}
"""What the options of a command are sent as."""
COMMANDS = dict(commands(click_group(app)))
FILTERS = {"bases", "parallel_links", "vertex_transitive", "families", "max_steps", "all_to_all"}
UNSAID = {
    # Plots are of the whole frontier, and a design measures all-to-all where it is run.
    **dict.fromkeys(("plot frontier", "plot sizes"), FILTERS),
    "design": {"all_to_all"},
    "compare schedules": {"designs", "schedules", "collective", "root"},
    "compare algorithms": {"designs", "schedules"},
    # A set of files is timed as its design is, and is of no one size.
    "files": {"all_to_all", *FORMATS["chakra-et"].options},
    # The job is the argument, and the topology names files.
    "iteration": {"preset", "model", "graphs"},
    # The tables are files.
    "sweep network": {"instances", "rings", "kernel_times"},
    # The command makes the schedules of all groups.
    "schedule": {"number"},
}
FIELDS = [
    (command, info.alias or name)
    for command, models in REQUESTS.items()
    for model in models
    for name, info in model.model_fields.items()
    if name != "topology" and name not in UNSAID.get(command, ())
]


READERS = [
    name
    for name, command in COMMANDS.items()
    if any(one.name == "source" or one.name == "topology" for one in command.params)
]
"""The commands that take a topology."""
NAMING = TopologyChanges.model_fields | {
    name: info for name, info in TopologySource.model_fields.items() if name in TEXT_ONLY
}
"""What of naming a topology are options of the command line; the rest is FILE_OR_RECIPE."""


def parameter_of(command: str, field: str, prefix: str = "field_"):
    """Return the option of a command that a field of its request is given by."""
    found = [
        one
        for one in COMMANDS[command].params
        if one.name == prefix + field and one.param_type_name == "option"
    ]
    return found[0] if found else None


def field_of(command: str, name: str):
    """Return the field of the requests of a command that an option of this name is sent as."""
    for model in REQUESTS[command]:
        for field, info in model.model_fields.items():
            if name in (field, info.alias):
                return info
    return None


def limits_of(info) -> str:
    """Return the limits of a field that are numbers, of the value or of its entries, in words."""
    listed = get_origin(info.annotation) is list
    least, most = ("min_length", "max_length") if listed else ("ge", "le")
    found = {
        name: getattr(limit, name)
        for limit in info.metadata
        for name in (least, most)
        if getattr(limit, name, None) is not None
    }
    if not found:
        return ""
    return f"{found[least]} to {found[most]}{' entries' if listed else ''}"


def require_same(parameter, info, name: str) -> None:
    """Check an option of the command line against the field of a request."""
    assert parameter.help.startswith(info.description), name
    # A command with --traffic states the collectives of groups there.
    assert parameter.required == info.is_required() or "without traffic" in parameter.help, name
    if info.default is None or info.is_required():
        assert parameter.default in (None, False), name
    else:
        adapter = TypeAdapter(info.annotation)
        written = parameter.default
        read = parse_bytes(written) if isinstance(written, str) and name == "bytes" else written
        assert adapter.validate_python(read) == adapter.validate_python(info.default), name
    assert limits_of(info) in parameter.help.split("; ") or not limits_of(info), name


@for_every("command", REQUESTS)
def test_an_option_has_the_meaning_the_default_and_the_limits_of_its_field(command):
    checked = 0
    for parameter in COMMANDS[command].params:
        name = (parameter.name or "").removeprefix("field_")
        info = field_of(command, name) if name != parameter.name else None
        if info is None:
            continue
        checked += 1
        require_same(parameter, info, name)
    assert checked


@for_every("command", READERS)
@for_every("field", NAMING)
def test_what_of_naming_a_topology_is_an_option_is_as_in_requests(command, field):
    require_same(parameter_of(command, field, READS), NAMING[field], field)


@pytest.mark.parametrize("option", [*READING, *CHANGES], ids=lambda option: option.name)
def test_a_field_of_naming_a_topology_takes_what_its_entry_says(option):
    model = TopologyChanges if option in CHANGES else TopologySource
    sent = model.model_json_schema()["properties"][option.name]
    entry = create_model("Entry", value=(option.type, option.field()))
    expected = entry.model_json_schema()["properties"]["value"]
    assert sent.pop("title") and expected.pop("title")
    assert sent == expected
    assert model.model_fields[option.name].default is None


def test_only_commands_that_take_a_topology_have_the_options_of_naming_one():
    for name, command in COMMANDS.items():
        found = [one.name for one in command.params if (one.name or "").startswith(READS)]
        said = [READS + option.name for option in (*READING, *CHANGES)]
        assert found == (said if name in READERS else []), name


def test_every_command_with_a_request_is_looked_at():
    asking = {
        name
        for name, command in COMMANDS.items()
        if any((one.name or "").startswith("field_") for one in command.params)
    }
    # Formats of files are said to the writer, the questions of sweeps are objects of their own,
    # the rest is no request of the service.
    others = {
        "topology",
        "verify",
        "compare baselines",
        "certificate write",
        "atlas discover",
        "lr history",
        "patch render",
        "jobs list",
    }
    assert asking - set(REQUESTS) == others | {
        "sweep iteration",
        "sweep sizes",
        "sweep workload",
        "faults",
        "compare heights",
        "sweep gaps",
    }


@for_every(("command", "field"), FIELDS)
def test_every_field_of_a_request_can_be_said_on_the_command_line(command, field):
    assert parameter_of(command, field) is not None


WHOLE = [option for option in OPTIONS if option.type is StrictInt]


@for_every("option", WHOLE)
def test_the_ends_of_a_range_are_allowed_and_what_is_beyond_is_not(option):
    field = TypeAdapter(Annotated[int, option.field()])
    for value in (option.least, option.most):
        assert field.validate_python(value) == value
    for value in (option.least - 1, option.most + 1):
        with pytest.raises(ValidationError):
            field.validate_python(value)
    assert option.limits == f"{option.least} to {option.most}"


@for_every("option", OPTIONS)
def test_an_option_says_what_it_is_and_has_a_value_of_its_type_as_default(option):
    assert option.help and not option.help.endswith(".")
    assert option.spelling.startswith("--")
    if option.default not in (REQUIRED, None):
        assert TypeAdapter(option.type).validate_python(option.default) == option.default
    if option.type in (Positive, NotNegative):
        assert option.most == MOST
        adapter = TypeAdapter(option.type)
        assert adapter.validate_python(option.least) == option.least
        with pytest.raises(ValidationError):
            adapter.validate_python(Decimal(option.least) - Decimal("0.0000001"))
        with pytest.raises(ValidationError):
            adapter.validate_python(option.most + 1)


def test_no_two_options_are_the_same_entry():
    said = [(option.name, option.text) for option in OPTIONS]
    assert len(set(said)) == len(said)
    assert all(isinstance(option, Option) for option in OPTIONS)


def test_the_words_of_an_option_are_those_of_the_domain():
    assert set(choices(FormatName)) == set(FORMATS)
    assert [str(dialect) for dialect in Dialect] == ["msccl", "azure", "rccl"]
    assert all(dialect in exports.DIALECT.help for dialect in map(str, Dialect))
    assert choices(learning_rate.MethodName) == METHODS
    assert set(choices(learning_rate.AnchorName)) == set(ANCHORS)
    assert set(choices(learning_rate.ValidationName)) == set(VALIDATION)
    assert {option.name for option in learning_rate.TUNING} == set(Options.__dataclass_fields__)
    assert simulations.RANKS.most == limits.MAX_RANKS
    assert simulations.REPEAT.most == limits.MAX_REPEAT
    assert simulations.PIPELINE_CHUNKS.most == limits.MAX_PIPELINE_CHUNKS
    assert simulations.TIMEOUT.most == limits.MAX_SECONDS
    assert topology_source.BOXES.most == cluster_plan.MOST_BOXES
    assert all(word in topology_source.PCIE.help for word in cluster_plan.PCIE_TAKEN)
    assert all(
        kind in topology_source.NVLINK.help for kind in unlisted_nvlinks.NVLINKS if kind != "GBPS"
    )
    assert all(network in topology_source.NETWORK.help for network in cluster_plan.NETWORKS)


def test_what_is_meant_where_reading_says_nothing_is_what_is_said():
    made = cluster_plan.ClusterPlan()
    meant = {
        topology_source.BOXES: made.boxes,
        topology_source.NETWORK: made.joined,
        topology_source.OVERSUBSCRIPTION: made.ratio,
        topology_source.PCIE: made.pcie,
        topology_source.PCIE_BANDWIDTH: (
            f"as the file states, else by the GPU model, else {host_path.PCIE}"
        ),
    }
    for option, value in meant.items():
        assert option.help.endswith(f"; default: {value}")
    said = topology_source.LINK_BANDWIDTH.help
    assert f"{nvidia_smi.NVLINK} for NVLink and {rocm_smi.XGMI} for xGMI" in said


def test_every_algorithm_is_explained_where_it_is_offered():
    shown = parameter_of("schedule", "algorithm")
    for name in choices(collectives.AlgorithmName):
        assert f"{name}: " in shown.help
        assert f"\n| `{name}` |" in (reference_tables.DOCS / "reference" / "cli.md").read_text()


def test_queries_say_what_requests_say():
    paths = service_openapi()["paths"]
    asked = {
        entry["name"]: entry for entry in paths["/v1/topologies/{id}/optimum"]["get"]["parameters"]
    }
    for name, info in schedules.OptimumRequest.model_fields.items():
        # The deprecated query has no groups.
        if name not in ("collective", "groups", "group", "traffic"):
            assert asked[name]["description"] == info.description
    sent = {entry["name"]: entry for entry in paths["/v1/schedules/{id}"]["get"]["parameters"]}
    for name, info in schedules.ExportRequest.model_fields.items():
        assert sent[name]["description"] == info.description


@pytest.mark.parametrize("page", reference_tables.PAGES)
def test_the_tables_of_the_documentation_are_those_of_the_program(page):
    text = (reference_tables.DOCS / page).read_text()
    assert "<!-- end -->" in text
    assert reference_tables.with_new_tables(text) == text, "run `make reference`"


def test_every_command_with_options_has_its_table():
    text = (reference_tables.DOCS / "reference" / "cli.md").read_text()
    for name, command in COMMANDS.items():
        own = [one for one in command.params if one.param_type_name == "option"]
        if any("--help" not in one.opts for one in own):
            assert f"<!-- options: {name} -->" in text, name


@given(st.integers(1, 10**15))
def test_a_size_is_shown_as_it_is_read(size):
    shown = format_bytes(size)
    digits, suffix = shown.rstrip("BiKMGT"), shown.lstrip("0123456789")
    factor = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}[suffix]
    assert int(digits) * factor == size
    if len(digits) <= 12:
        assert parse_bytes(shown) == size
