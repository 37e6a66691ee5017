"""Rules for names in a format: names that its language would misread are refused.

Plants and plans hold only printable names without line breaks.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plans.work_order import FORMULA

Named = Callable[[Script], Iterable[tuple[str, str]]]
"""Yields the names that a format writes, each with the kind of the named part."""


class Alphabet(NamedTuple):
    """The names that a language takes as they are, or that its writer escapes.

    ``rule`` completes "must ..."; ``taken`` matches a whole name.
    """

    rule: str
    taken: re.Pattern[str]


ESCAPED = Alphabet("be printable text", re.compile(r".*"))
"""JSON, XML, HTML and quoted CSV: a library escapes whatever would mean something else."""

SHELL = Alphabet(
    "be letters, digits, blanks and . _ - / + : @ %", re.compile(r"[\w./+:@%-]+( +[\w./+:@%-]+)*")
)
"""Comments of a shell: some shells read pasted comments as commands, so none is in a name."""

INSTRUMENT = Alphabet(
    "be ASCII letters, digits, blanks and . _ - / +",
    re.compile(r"[A-Za-z0-9._/+-]+( +[A-Za-z0-9._/+-]+)*"),
)
"""TL1 and SCPI know no comments: in a heading ``;`` would start a command, such as ``*RST``."""

QUOTED = Alphabet("have no backslash", re.compile(r"[^\\]*"))
"""Graphviz: in a quoted text a backslash before the last quote leaves the text open."""

SPREADSHEET = Alphabet(
    "not start as a formula in a spreadsheet, with = + - or @, nor start or end with a blank",
    re.compile(rf"(?!{FORMULA.pattern}|\s).*(?<!\s)"),
)
"""CSV that is imported by programs, and opened in spreadsheets on its way.

NetBox removes blanks around a name.
"""

HCA = Alphabet("be letters, digits and . _ - /, and :N", re.compile(r"[\w./-]+(:[0-9]+)?"))
"""``NCCL_IB_HCA`` lists names with commas; ``^`` and ``=`` before the first are operators."""


def headings(script: Script) -> Iterable[tuple[str, str]]:
    """Yield the panels that something moves on: command texts name nothing else."""
    for panel in script.panels:
        yield "the id of a panel", script.plant.panels[panel].id


def everything(script: Script) -> Iterable[tuple[str, str]]:
    """Yield the names of the plan, and of the panel, ports and peers of every pair."""
    plant = script.plant
    yield "plan_id", script.plan_id
    for pair in dict.fromkeys((*script.base.pairs, *script.final.pairs)):
        yield "the id of a panel", plant.panels[pair.panel].id
        for port in plant.ends(pair):
            yield "a port of a panel", plant.port_name(port)
            if port in plant.at:
                host = plant.hosts[plant.at[port][0]].id
                yield "what is cabled to a port", script.peers.get(port, host)


def nics(script: Script) -> Iterable[tuple[str, str]]:
    """Yield the ports of hosts that are cabled to a panel."""
    for host in script.plant.hosts:
        yield from (("the port of a host", port.id) for port in host.ports if port.fibres)


def require_writable(script: Script, form: str, alphabet: Alphabet, named: Named) -> None:
    """Raise `DoesNotFit` unless a format can write all names that it has to."""
    for what, name in named(script):
        if alphabet.taken.fullmatch(name) is None:
            raise DoesNotFit("/format", f"{what} must {alphabet.rule} in {form}; not {name!r}")
