"""Map members of a request to the option, file or recipe that the user typed.

Services locate errors by JSON pointers into a request.  `Typed.place` translates a pointer to
the option or file on the command line.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topoloom.app.cli.option_parameters import FIELD_PREFIX
from topoloom.app.cli.shared_options import READS
from topoloom.schedules.errors import InvalidProgram, InvalidSchedule
from topoloom.synth.errors import InvalidPlant, InvalidTopology, InvalidWiring, Unreachable

MAX_SHOWN = 200
"""Limit of the characters of a typed text in an error message."""
FILE_LISTS = ("shards", "participants", "workload", "groups", "traffic", "measured")
"""Options that take a list, or the name of a file that holds the list."""
_SOURCES = ("source", "topology")
"""Parameters that name a topology."""
_FILES: Mapping[type[Exception], tuple[str, ...]] = {
    InvalidSchedule: ("schedule",),
    InvalidProgram: ("schedule",),
    InvalidPlant: ("plant",),
    InvalidWiring: ("current_wiring", "plan"),
    InvalidTopology: _SOURCES,
    Unreachable: _SOURCES,
}
"""Class of an error that points into a document -> the parameters that can name its file."""
_OF_FILES = (InvalidSchedule, InvalidProgram)
"""Errors that always point into the file, even if an option has the name of the member."""


@dataclass(frozen=True)
class Typed:
    """A parsed command line: option and value of every request member.

    ``reading`` holds the options for topology sources, whose members lie in a nested request.
    ``extra`` holds the arguments that the command does not take.
    """

    options: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: Any, arguments: Sequence[str]) -> "Typed":
        """Return the arguments as a click group parses them; empty if they do not parse."""
        try:
            context = command.make_context("topoloom", list(arguments), resilient_parsing=True)
            while hasattr(command, "commands"):
                rest = [*context._protected_args, *context.args]
                name, command, rest = command.resolve_command(context, rest)
                context = command.make_context(name, rest, parent=context, resilient_parsing=True)
        except Exception:
            # The error message is about the syntax of the arguments.
            return cls()
        typed = cls(extra=tuple(context.args))
        for parameter in command.params:
            typed._add(parameter, context.params.get(parameter.name))
        return typed

    def _add(self, parameter: Any, value: Any) -> None:
        member, option = parameter.name.removeprefix(FIELD_PREFIX), parameter.opts[0]
        options = self.reading if member.startswith(READS) else self.options
        names = {member.removeprefix(READS)}
        if option.startswith("-"):
            names.add(option.lstrip("-").replace("-", "_"))
            options.update(dict.fromkeys(names, option))
        if options is self.options:
            self.values.update(dict.fromkeys(names, value))

    def place(self, pointer: str, error: Exception | None = None) -> str:
        """Return the option or file behind a request pointer; empty for the whole request.

        >>> typed = Typed({"degree": "--degree"}, {"source": "ring.gml", "degree": 70})
        >>> typed.place("/degree"), typed.place("/text/line/7"), typed.place("/")
        ('--degree', 'ring.gml: line 7', '')
        >>> Typed({"timeout": "--timeout"}).place("/timeout_seconds")
        '--timeout'
        >>> Typed({}, {"source": "fat-tree-20"}).place("/topology")
        'fat-tree-20'
        """
        parts = [part for part in pointer.split("/") if part]
        file = self._file_of(error)
        placed = parts[:1] and parts[0] in (*_PREFIXES, *self.options, *self.reading)
        if file is not None and (not placed or isinstance(error, _OF_FILES)):
            return _within(file, parts)
        return self._member(parts, self.options)

    def advice(self, missing: Any = None) -> str:
        """Return the end of a message about an argument that needs an option; empty for no such.

        ``missing`` is the parameter that the command misses; without it, the argument may be the
        topology of a schedule.

        >>> Typed({"topology": "--topology"}, {"topology": None}, extra=("BiRing(8)",)).advice()
        "; write --topology 'BiRing(8)'"
        """
        option = missing.opts[0] if missing is not None else self.options.get("topology", "")
        taken = missing is None and self.values.get("topology") is not None
        if taken or not self.extra or not option.startswith("-"):
            return ""
        return f"; write {option} {shlex.quote(self.extra[0])}"

    def _file_of(self, error: Exception | None) -> str | None:
        for name in _FILES.get(type(error), ()) if error is not None else ():
            if self._is_file(name):
                return str(self.values[name])
        return None

    def _is_file(self, name: str) -> bool:
        value = self.values.get(name)
        try:
            named = isinstance(value, str | Path)
            return named and (str(value) == "-" or Path(value).is_file())
        except (OSError, ValueError):
            return False

    def _member(self, parts: list[str], options: Mapping[str, str]) -> str:
        if not parts:
            return ""
        first, rest = parts[0], parts[1:]
        if first == "template" and rest:
            return self._member(rest, options)
        if first in ("topology", "changes") and rest:
            return self._member(rest, self.reading)
        if first == "graphs" and rest:
            return _within(_unescaped(rest[0]), rest[1:])
        if first in _OF_SOURCE and self._source is not None:
            return _within(self._source, rest)
        if rest and options is self.options and self._is_file(first):
            return _within(str(self.values[first]), rest)
        # Functions state the unit of an option such as --timeout in the name of the parameter.
        for name in (first, first.removesuffix("_seconds")):
            for known in (options, self.reading):
                if name in known:
                    return self._with_file(known[name], name)
        return self._argument(parts)

    def _with_file(self, option: str, name: str) -> str:
        """Return an option, with its value if this is the name of a file that was read."""
        read = name in FILE_LISTS and self.values.get(name) != "-" and self._is_file(name)
        return f"{option} {self.values[name]}" if read else option

    def _argument(self, parts: list[str]) -> str:
        """Return the typed text of a member without an option."""
        first, rest = _ARGUMENTS.get(parts[0], parts[0]), parts[1:]
        of_setting = [name for name in self.options if first.endswith(f"_{name}")]
        if of_setting and self.values.get(of_setting[0]) is not None:
            return self.options[of_setting[0]]
        if self._source is not None and first not in self.values:
            return _within(self._source, rest if first in _SOURCES else parts)
        named = [self.values[first]] if first in self.values else self.values.values()
        lists = [value for value in named if isinstance(value, list | tuple)]
        if rest and rest[0].isdigit() and len(lists) == 1 and int(rest[0]) < len(lists[0]):
            return str(lists[0][int(rest[0])])
        return str(self.values.get(first) or " ".join(parts))

    @property
    def _source(self) -> str | None:
        """The argument that names the topology, as the user typed it."""
        return next((str(self.values[n]) for n in _SOURCES if self.values.get(n)), None)


_OF_SOURCE = ("document", "text", "recipe", "fabric", "id", "name")
"""Members that name a topology; the command line takes each as one text."""
_ARGUMENTS: Mapping[str, str] = {"preset": "model"}
"""Member without an option -> the argument that can state it."""
_PREFIXES = ("topology", "template", "changes", "graphs", *_OF_SOURCE)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _within(file: str, parts: list[str]) -> str:
    """Return a location in a file, as text.

    >>> _within("a.gml", ["text", "line", "3"]), _within("a.json", ["document", "links", "3"])
    ('a.gml: line 3', 'a.json: /links/3')
    """
    if parts[:1] in (["text"], ["document"]):
        parts = parts[1:]
    file = file if len(file) <= MAX_SHOWN else f"{file[: MAX_SHOWN - 1]}…"
    if parts[:1] == ["line"]:
        return f"{file}: {' '.join(parts)}"
    return f"{file}: /{'/'.join(parts)}" if parts else file
