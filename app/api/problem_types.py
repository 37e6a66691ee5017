"""The table from classes of errors to problems: status, title, and type.

Kernels are free of HTTP; this table alone maps their errors to HTTP.  The ``type`` of a problem
is a path; ``docs/reference/rest.md`` explains each path in a section.
"""

from typing import NamedTuple

from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from topoloom.app.auth.errors import (
    AccessError,
    AddressUsesUpConnections,
    ConnectionsUsedUp,
    Forbidden,
    InvalidKey,
    ShuttingDown,
    TooManyRequests,
    Unauthorized,
)
from topoloom.app.extras import MissingExtra
from topoloom.app.jobs.errors import (
    JobEnded,
    NotEnded,
    QueueFull,
    TooManyJobs,
    TooManyListeners,
    WebhookRefused,
    WorkFailed,
)
from topoloom.app.jobs.worker_pool.errors import Busy, Cancelled, TooManyWaiting, WorkDied
from topoloom.app.store.database import DatabaseNotReady
from topoloom.app.store.errors import (
    Ambiguous,
    BaseTaken,
    ChangedMeanwhile,
    Damaged,
    Ended,
    Leased,
    NotAcceptable,
    NotOwner,
    NotStored,
    NoVersion,
    OutOfSequence,
    QuotaExceeded,
    StoreFull,
)
from topoloom.app.store.listing import InvalidCursor
from topoloom.app.store.retention import Pinned, TooManyLabels
from topoloom.learning_rate import errors as lr_errors
from topoloom.schedules import errors as schedule_errors
from topoloom.synth import errors as synth_errors


class Problem(NamedTuple):
    """HTTP status, title and type of a class of errors."""

    status: int
    title: str
    slug: str

    @property
    def type(self) -> str:
        """The type of the problem: a path, explained in the documentation."""
        return f"/problems/{self.slug}"


PROBLEMS: dict[type[Exception], Problem] = {
    synth_errors.SynthError: Problem(422, "The request breaks a rule", "invalid-request"),
    synth_errors.InvalidTopology: Problem(422, "Not a valid topology", "invalid-topology"),
    synth_errors.InvalidRecipe: Problem(422, "Not a valid recipe", "invalid-recipe"),
    synth_errors.OutOfDomain: Problem(422, "Outside a construction's domain", "out-of-domain"),
    synth_errors.ImpossibleRequest: Problem(422, "No such graph exists", "impossible-request"),
    synth_errors.NoneKnown: Problem(422, "No such graph is known", "none-known"),
    synth_errors.BeyondSearch: Problem(422, "Beyond the limits of the search", "beyond-search"),
    synth_errors.Unreachable: Problem(422, "Some node cannot be reached", "unreachable"),
    synth_errors.NotMeasurable: Problem(422, "The cost model does not apply", "not-measurable"),
    synth_errors.BrokenFamily: Problem(500, "An installed family is broken", "broken-family"),
    synth_errors.ClaimBroken: Problem(500, "A built graph contradicts its theorem", "claim-broken"),
    synth_errors.DoesNotFit: Problem(
        422, "The topology does not fit on the panels", "does-not-fit"
    ),
    synth_errors.InvalidAtlas: Problem(422, "Not a valid atlas of bases", "invalid-atlas"),
    synth_errors.InvalidPlant: Problem(422, "Not a valid plant", "invalid-plant"),
    synth_errors.InvalidWiring: Problem(422, "Not a valid wiring", "invalid-wiring"),
    schedule_errors.ScheduleError: Problem(422, "The request breaks a rule", "invalid-request"),
    schedule_errors.InvalidSchedule: Problem(422, "Not a valid schedule", "invalid-schedule"),
    schedule_errors.UnknownCollective: Problem(422, "No such collective", "unknown-collective"),
    schedule_errors.UnknownPreset: Problem(422, "No such preset workload", "unknown-preset"),
    schedule_errors.NoSchedule: Problem(422, "No such schedule exists", "no-schedule"),
    schedule_errors.TooLarge: Problem(422, "A size limit is exceeded", "too-large"),
    schedule_errors.TookTooLong: Problem(422, "A time limit is exceeded", "took-too-long"),
    schedule_errors.NotExportable: Problem(
        422, "The format cannot express the document", "not-exportable"
    ),
    schedule_errors.InvalidProgram: Problem(422, "Not a valid program", "invalid-program"),
    schedule_errors.ExecutionFailed: Problem(500, "An execution failed", "execution-failed"),
    RequestValidationError: Problem(422, "The request breaks a rule", "invalid-request"),
    InvalidCursor: Problem(422, "Not a cursor of this list", "invalid-cursor"),
    AccessError: Problem(403, "The key may not do this", "forbidden"),
    Unauthorized: Problem(401, "A valid API key is required", "unauthorized"),
    Forbidden: Problem(403, "The key may not do this", "forbidden"),
    TooManyRequests: Problem(429, "Too many requests", "too-many-requests"),
    AddressUsesUpConnections: Problem(429, "Too many connections", "too-many-connections"),
    ConnectionsUsedUp: Problem(503, "Too many connections", "too-many-connections"),
    NotStored: Problem(404, "No document has this id", "not-stored"),
    Ambiguous: Problem(422, "Several documents match this id or name", "ambiguous"),
    Damaged: Problem(500, "The stored document is damaged", "damaged"),
    OutOfSequence: Problem(409, "Not the next observation", "out-of-sequence"),
    Leased: Problem(409, "Another trainer holds the session", "leased"),
    BaseTaken: Problem(409, "Another plan is in progress on the plant", "base-taken"),
    ChangedMeanwhile: Problem(412, "The version is out of date", "changed-meanwhile"),
    NoVersion: Problem(428, "The request must state a version", "no-version"),
    Ended: Problem(409, "The session has ended", "ended"),
    lr_errors.LearningRateError: Problem(422, "The request breaks a rule", "invalid-request"),
    lr_errors.InvalidObservation: Problem(
        422, "Not an answer to the action", "invalid-observation"
    ),
    lr_errors.MissingExtra: Problem(501, "An optional package is missing", "missing-extra"),
    MissingExtra: Problem(501, "An optional package is missing", "missing-extra"),
    NotAcceptable: Problem(406, "No such representation", "not-acceptable"),
    Pinned: Problem(409, "The document is pinned", "pinned"),
    NotOwner: Problem(403, "The key may not do this", "forbidden"),
    InvalidKey: Problem(422, "The request breaks a rule", "invalid-request"),
    QuotaExceeded: Problem(403, "The quota of the owner is used up", "quota-exceeded"),
    StoreFull: Problem(507, "The storage limit is reached", "store-full"),
    TooManyLabels: Problem(422, "The request breaks a rule", "invalid-request"),
    DatabaseNotReady: Problem(503, "The database is not ready", "database-not-ready"),
    DBAPIError: Problem(503, "The database is not ready", "database-not-ready"),
    Busy: Problem(503, "The service is busy", "busy"),
    TooManyWaiting: Problem(429, "Too many requests of one client wait", "too-many-waiting"),
    ShuttingDown: Problem(503, "The service is shutting down", "shutting-down"),
    Cancelled: Problem(503, "The computation was cancelled", "cancelled"),
    WorkDied: Problem(503, "The computation died", "computation-died"),
    PoolTimeout: Problem(503, "The database is not ready", "database-not-ready"),
    JobEnded: Problem(409, "The job has ended", "job-ended"),
    NotEnded: Problem(409, "The job has not ended", "job-not-ended"),
    TooManyJobs: Problem(429, "Too many jobs of one client", "too-many-jobs"),
    QueueFull: Problem(503, "The job queue is full", "queue-full"),
    TooManyListeners: Problem(503, "Too many event streams", "too-many-listeners"),
    WebhookRefused: Problem(422, "The webhook address is refused", "webhook-refused"),
    WorkFailed: Problem(500, "The job failed", "work-failed"),
    Exception: Problem(500, "An error inside Topoloom", "internal-error"),
}
"""Error class -> problem; a class without a row has the problem of its nearest base."""

HTTP_PROBLEMS: dict[int, Problem] = {
    400: Problem(400, "The body is not JSON", "malformed-body"),
    404: Problem(404, "No such path", "not-found"),
    405: Problem(405, "The method is not allowed here", "method-not-allowed"),
    413: Problem(413, "The body is too large", "body-too-large"),
    415: Problem(415, "The body must be plain application/json", "unsupported-media-type"),
    429: PROBLEMS[TooManyRequests],
}

UNKNOWN_HOST = Problem(400, "Unknown host", "unknown-host")
TOO_SLOW = Problem(408, "The request came too slowly", "too-slow")

PROBLEM_TYPES = (*PROBLEMS.values(), *HTTP_PROBLEMS.values(), UNKNOWN_HOST, TOO_SLOW)
"""Every problem; several classes share a type."""
