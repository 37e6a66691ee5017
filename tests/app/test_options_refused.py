"""Every option with a value that it does not take: one line that names the option and a rule."""

import json
import re

import pytest

from tests.schedule_documents import to_document
from topoloom.app.cli import app
from topoloom.app.cli.command_groups import click_group
from topoloom.app.cli.option_parameters import FIELD_PREFIX
from topoloom.app.cli.shared_options import READS
from topoloom.app.requests.options import boxes
from topoloom.schedules.generate.collectives import make
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.wiring import plan_moves, smallest_plant
from topoloom.synth.wiring import to_document as plan_document

MINIMAL = {
    "keys audit-log": "",
    "design": "--nodes 8 --degree 2 --collective allreduce --bytes 1MB",
    "iteration": "mixtral-8x7b --nodes 8 --degree 2 --topology BiRing(8)",
    "files": "--nodes 8 --degree 2 --collective allreduce --bytes 1MB --format msccl-xml --out x",
    "frontier": "--nodes 8 --degree 2",
    "topology": "FILE --from edgelist",
    "measure": "FILE --from edgelist",
    "optimum": "FILE --from edgelist",
    "faults": "FILE --from edgelist",
    "schedule": "FILE --from edgelist --collective allgather",
    "verify": "SCHEDULE --topology FILE --from edgelist",
    "execute": "SCHEDULE --topology FILE --from edgelist",
    "probe": "",
    "compare baselines": "FILE --from edgelist --collective allreduce --bytes 1MB",
    "simulate": "SCHEDULE --topology FILE --from edgelist --bytes 1MB",
    "compare heights": "FILE --from edgelist --collective allgather",
    "certificate write": "FILE --from edgelist",
    "best": "--nodes 8 --degree 2 --collective allreduce --bytes 1MB",
    "compare schedules": "aaaaaa bbbbbb",
    "compare algorithms": "FILE --from edgelist --collective allreduce",
    "sweep gaps": "--nodes 8 --degree 2",
    "list": "topologies",
    "atlas export": "",
    "atlas discover": "--nodes 8 --degree 2 --seconds 1",
    "patch plan": "FILE --from edgelist",
    "patch render": "PLAN",
    "patch faults": "PLAN",
    "patch repair": "PLAN",
    "plot frontier": "--nodes 8 --degree 2 --out x.svg",
    "plot sizes": "--nodes 8 --degree 2 --collective allreduce --out x.svg",
    "plot load": "SCHEDULE --topology FILE --from edgelist --out x.svg",
    "plot tree": "SCHEDULE --topology FILE --from edgelist --root a --out x.svg",
    "lr attach": "SESSION --lease x",
    "lr extend": "SESSION --lease x --sequence 1",
    "lr history": "SESSION",
    "lr list": "",
    "lr observe": "SESSION --lease x --sequence 1",
    "lr create": "--min-lr 0.001 --max-lr 0.1 --total-steps 100",
    "sweep network": "INSTANCES",
    "sweep iteration": "vit-22b --nodes 8 --degree 2",
    "sweep sizes": "--nodes 8 --degree 2",
    "sweep workload": "--nodes 8 --degree 2 --collective allreduce --bytes 1MB",
    "jobs list": "",
}
"""What each command needs beside the option that is wrong."""

OWN = {
    "cache evict": {"--bytes": "much"},
    "atlas discover": {"--seconds": "x", "--seed": "1.5"},
    "keys create": {"--days": "x"},
    "patch apply": {"--confirm-seconds": "9"},
    "patch push-netbox": {"--wait-seconds": "0"},
    "plot tree": {"--tree": "x", "--part": "x"},
    "serve": {"--port": "x"},
    "jobs worker": {"--concurrency": "0"},
}
"""Options that are no entries of the table, each with a value that it does not take."""
OF_BOXES = {option.spelling for option in boxes.OF_BOXES} - {boxes.BOX.spelling}
FOREIGN = re.compile(
    r"literal\[|list\[|dict\[|function-|[Ii]nput |type=|validation error|constrained|Decimal\("
    r"|string|\bparse|topoloom: /|; /|\bNone\b"
)
"""Words of pydantic's or Python's own, and places in a document that nobody has typed."""


def commands(group, before=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(commands(click_group(app)))


def asked(command):
    return [one for one in command.params if one.name.startswith((FIELD_PREFIX, READS))]


def limits(option):
    """Return the least and the most that the help of an option names."""
    found = re.search(r"; (-?[0-9.]+) to ([0-9]+)$", option.help or "")
    return None if found is None else found.groups()


def wrong_values(option):
    """Yield values that an option does not take, as its help says, and what the rule must say."""
    metavar = option.metavar or ""
    if " | " in metavar:
        yield "no-such-word", "must be|is only for"
    elif metavar == "SIZE":
        yield "much", "must be a positive integer"
    elif metavar in ("GBPS", "RATIO", "FACTOR", "G"):
        yield "x", "must be"
    elif (bounds := limits(option)) is not None:
        yield "x", "must be"
        least, most = bounds
        yield ("0" if "." in least else str(int(least) - 1)), f"must be (at least {least}|from )"
        yield str(int(most) + 1), f"must be (at most {most}|from .* to {most})"


@pytest.fixture
def words(tmp_path, monkeypatch):
    """What stands for files and ids in `MINIMAL`."""
    monkeypatch.chdir(tmp_path)
    ring = build(parse("BiRing(4)"))
    (tmp_path / "ring.edges").write_text("".join(f"{a} {b} 1\n" for a, b, _ in ring.links))
    schedule = json.dumps(to_document(make(ring, "allgather", "bfb")))
    (tmp_path / "schedule.json").write_text(schedule)
    plan = json.dumps(plan_document(plan_moves(ring, smallest_plant(ring))))
    (tmp_path / "plan.json").write_text(plan)
    (tmp_path / "trace.csv").write_text(
        "goal_rank,stream,start,end,collective,algo,proto\n0,0,5,9,Broadcast,ring,ll\n"
    )
    found = {"FILE": "ring.edges", "SCHEDULE": "schedule.json", "PLAN": "plan.json"}
    return found | {"INSTANCES": "trace.csv"}


def require_named(answer, option, rule):
    assert (answer.code, answer.out) == (2, ""), answer
    *notes, line = answer.err.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert line.startswith(f"topoloom: {option}: "), line
    assert re.search(rule, line), line
    assert not FOREIGN.search(line), line


def test_every_command_with_options_of_the_table_is_tried():
    assert {name for name, command in COMMANDS.items() if asked(command)} == set(MINIMAL)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", MINIMAL)
def test_a_wrong_value_is_one_line_that_names_the_option_and_the_rule(topoloom, words, name):
    if "SESSION" in MINIMAL[name]:
        made = topoloom("lr", "create", *MINIMAL["lr create"].split(), "--json")
        words["SESSION"] = json.loads(made.out)["id"]
    minimal = [words.get(word, word) for word in MINIMAL[name].split()]
    options = [one for one in asked(COMMANDS[name]) if one.name.startswith(FIELD_PREFIX)]
    for option in asked(COMMANDS["measure"]) if name == "measure" else options:
        box = ["--box", "dgx-h100-1"] if option.opts[0] in OF_BOXES else []
        for value, rule in wrong_values(option):
            given = [*minimal, *box]
            if option.opts[0] in given:
                at = given.index(option.opts[0])
                del given[at : at + 2]
            answer = topoloom(*name.split(), *given, option.opts[0], value)
            require_named(answer, option.opts[0], rule)


@pytest.mark.parametrize("name", OWN)
def test_a_wrong_value_of_an_own_option_is_one_line_that_names_it(topoloom, words, name):
    more = {"patch apply": "PLAN --at panel-0=h", "keys create": "--name a --scope read"}
    minimal = [words.get(w, w) for w in more.get(name, MINIMAL.get(name, "")).split()]
    for option, value in OWN[name].items():
        require_named(topoloom(*name.split(), *minimal, option, value), option, "must be")
