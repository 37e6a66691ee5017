"""Map exceptions to CLI messages and exit codes."""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import typer

from topoloom.synth.naming.suggestions import did_you_mean

_WORD = re.compile(r"(?<![\w'\"./-])[a-z_]+(?![\w'\"./-])")
"""A word of a rule that may be a member; texts that the user typed stand in quotes."""
UNEXPECTED = "unexpected argument: "
MAX_LINE = 2_000
"""Limit of the characters of an error message."""

Place: TypeAlias = Callable[[str, Exception | None], str]
"""Function from the JSON pointer of an error to the typed text; see `app.cli.error_locations`."""


def exit_code_and_message(error: Exception, place: Place) -> tuple[int, str]:
    """Return exit code and message for a user error; re-raise any other exception."""
    code, line = _explained(error, place)
    return code, one_line(line)


def one_line(text: str) -> str:
    r"""Return a text as one printable line, with control characters escaped.

    >>> print(one_line("no panel 'a\x1b[2J'\n here"))
    no panel 'a\x1b[2J' here
    """
    joined = " ".join(text[: 2 * MAX_LINE].split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def _explained(error: Exception, place: Place) -> tuple[int, str]:
    from pydantic import ValidationError

    from topoloom.app.requests.field_errors import field_errors

    if isinstance(error, ValidationError):
        typed = partial(_setting, place) if error.title == "Settings" else place
        # The template of a sweep is the whole command line, too.
        faults = [
            (fault.pointer.removesuffix("/template"), fault.detail) for fault in field_errors(error)
        ]
        messages = [
            _located(typed(pointer, error), _as_typed(rule, place, error, plain=not pointer))
            for pointer, rule in faults
        ]
        return 2, "; ".join(dict.fromkeys(messages))
    if isinstance(error, typer.TyperException):
        return 2, _of_typer(error)
    if isinstance(error, UnicodeEncodeError):
        return 2, f"must be text that UTF-8 can encode; {error.object[:50]!r} is not"
    return _explained_by_the_packages(error, place)


def _of_typer(error: typer.TyperException) -> str:
    """Return the message for an error of typer; for a bad value, the option and the rule."""
    from pydantic import ValidationError

    from topoloom.app.requests.field_errors import field_errors

    if hasattr(error, "possibilities"):
        typed, possible = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
        return f"no such option: {typed}{did_you_mean(typed, possible or ())}"
    if not isinstance(error, typer.BadParameter):
        text = error.format_message().rstrip(".").replace("Option ", "", 1)
        text = text.replace(". Did you mean", "; did you mean")
        text = re.sub(r"(?s)Got unexpected extra argument\(s\) \((.*)\)", UNEXPECTED + r"\1", text)
        context = getattr(error, "ctx", None)
        if text.startswith("No such command") and "did you mean" not in text and context:
            text += f"; {context.command_path} --help lists the commands"
        return text[:1].lower() + text[1:]
    hint, parameter = error.param_hint, error.param
    if hint is None and parameter is not None:
        name = parameter.metavar or parameter.opts[0].upper()
        hint = parameter.opts[0] if parameter.opts[0].startswith("-") else name
    cause = error.__cause__
    rule = field_errors(cause)[0].detail if isinstance(cause, ValidationError) else error.message
    return _located(str(hint or ""), rule or "is missing")


def _setting(place: Place, pointer: str, error: Exception) -> str:
    """Return the option of a setting if the user typed it, else its environment variable."""
    from topoloom.app.config import Settings

    typed = place(pointer, error)
    return typed if not pointer or typed.startswith("-") else Settings.variable(pointer[1:])


def _as_typed(rule: str, place: Place, error: Exception, *, plain: bool = False) -> str:
    """Return a rule with the names of request members replaced by their options.

    Without ``plain``, only names with an underscore are replaced: others are words as well.

    >>> options = {"/node_gbps": "--node-gbps", "/bytes": "--bytes"}
    >>> rule, error = "must have node_gbps or bytes", ValueError()
    >>> _as_typed(rule, lambda name, _: options.get(name, ""), error)
    'must have --node-gbps or bytes'
    >>> _as_typed(rule, lambda name, _: options.get(name, ""), error, plain=True)
    'must have --node-gbps or --bytes'
    """

    def option(match: re.Match[str]) -> str:
        if not plain and "_" not in match[0].strip("_"):
            return match[0]
        typed = place(f"/{match[0]}", error)
        return typed if typed.startswith("--") else match[0]

    return _WORD.sub(option, rule)


def _located(place: str, rule: str) -> str:
    return f"{place}: {rule}" if place else rule


def _explained_by_the_packages(error: Exception, place: Place) -> tuple[int, str]:
    """Explain errors of services, whose modules are loaded by now."""
    from sqlalchemy.exc import DBAPIError

    from topoloom.app.auth.errors import InvalidKey
    from topoloom.app.client import ServiceError
    from topoloom.app.config import UnknownSetting
    from topoloom.app.extras import MissingExtra
    from topoloom.app.files.local_files import UnusableFile
    from topoloom.app.inventory.netbox_address import NetBoxFailed
    from topoloom.app.jobs.errors import JobEnded, NotEnded, QueueFull, TooManyJobs, WebhookRefused
    from topoloom.app.requests.field_errors import pointer
    from topoloom.app.store.database import DatabaseNotReady
    from topoloom.app.store.errors import Ambiguous, Conflict, Damaged, NotStored
    from topoloom.app.store.listing import InvalidCursor
    from topoloom.app.store.retention import Pinned, TooManyLabels
    from topoloom.learning_rate import LearningRateError
    from topoloom.schedules.errors import ScheduleError
    from topoloom.synth.errors import ClaimBroken, SynthError

    if isinstance(error, ClaimBroken):
        return 1, f"{error} (an error inside Topoloom; please report it)"
    if isinstance(error, SynthError | ScheduleError | LearningRateError | Conflict):
        return 2, _located(place(pointer(error.field), error), _as_typed(error.rule, place, error))
    messages = (UnknownSetting, UnusableFile, Ambiguous, NotStored, DatabaseNotReady, MissingExtra)
    of_jobs = (ServiceError, JobEnded, NotEnded, QueueFull, TooManyJobs, WebhookRefused)
    messages = (*messages, *of_jobs, Damaged, InvalidCursor, Pinned, TooManyLabels, InvalidKey)
    messages = (*messages, NetBoxFailed)
    if isinstance(error, messages):
        name, colon, rule = str(error).partition(": ")
        option = place(f"/{name}", error) if colon and name.isidentifier() else ""
        if isinstance(error, NotStored) and name == "id":
            return 2, rule
        return 2, _located(option, rule) if option.startswith("-") else str(error)
    if isinstance(error, DBAPIError):
        return 2, f"database_url: {error.orig}"
    raise error
