"""What the command line says when it cannot do what was asked: one line, one exit code."""

import typer

__all__ = ["explained", "one_line"]


def explained(error: Exception) -> tuple[int, str]:
    """Return the exit code and the line for an error of the caller; raise any other."""
    from pydantic import ValidationError

    from app.field_errors import field_errors

    if isinstance(error, ValidationError):
        found = field_errors(error)
        return 2, one_line("; ".join(f"{entry.pointer or '/'}: {entry.detail}" for entry in found))
    if isinstance(error, typer.TyperException):
        return 2, one_line(error.format_message())
    return _explained_by_the_packages(error)


def _explained_by_the_packages(error: Exception) -> tuple[int, str]:
    """Explain what services raise; what these import has been loaded by then."""
    from sqlalchemy.exc import DBAPIError

    from app.access.errors import InvalidKey
    from app.client import ServiceError
    from app.config import UnknownSetting
    from app.db import DatabaseNotReady
    from app.extras import MissingExtra
    from app.field_errors import pointer
    from app.files import UnusableFile
    from app.jobs.errors import JobEnded, NotEnded, QueueFull, TooManyJobs, WebhookRefused
    from app.keeping import Pinned, TooManyLabels
    from app.services.errors import Ambiguous, Conflict, Damaged, NotStored
    from app.store import InvalidCursor
    from schedules.errors import ScheduleError
    from schedules.learning_rate import LearningRateError
    from synth.errors import ClaimBroken, SynthError

    if isinstance(error, ClaimBroken):
        return 1, f"{error} (an error inside Topoloom; please report it)"
    if isinstance(error, SynthError | ScheduleError | LearningRateError | Conflict):
        return 2, one_line(f"{pointer(error.field) or '/'}: {error.rule}")
    told = (UnknownSetting, UnusableFile, Ambiguous, NotStored, DatabaseNotReady, MissingExtra)
    of_jobs = (ServiceError, JobEnded, NotEnded, QueueFull, TooManyJobs, WebhookRefused)
    told = (*told, *of_jobs, Damaged, InvalidCursor, Pinned, TooManyLabels, InvalidKey)
    if isinstance(error, told):
        return 2, one_line(str(error))
    if isinstance(error, DBAPIError):
        return 2, one_line(f"database_url: {error.orig}")
    raise error


def one_line(text: str) -> str:
    r"""Return a text that a terminal shows as it is: one line, control characters spelled out.

    >>> print(one_line("no panel 'a\x1b[2J'\n here"))
    no panel 'a\x1b[2J' here
    """
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)
