"""Problem documents (RFC 9457) with all invalid fields."""

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.requests.field_errors import FieldError


class ProblemDocument(Document):
    """A problem (RFC 9457); ``errors`` lists every invalid field."""

    type: str = Field(description="problem type: a path, explained at that path")
    title: str = Field(description="title of the problem type")
    status: int = Field(description="HTTP status")
    detail: str = Field(description="explanation of this problem")
    instance: str = Field(description="path of the request")
    request_id: str = Field(description="X-Request-ID of the request, as in the log")
    errors: list[FieldError] = Field(default=[], description="invalid fields")


class ProblemPage(Document):
    """A problem type: its meaning, and what the client can do."""

    type: str = Field(description="problem type: the path of this page")
    title: str = Field(description="title of the problem type")
    status: int = Field(description="HTTP status")
    meaning: str = Field(description="when the service answers with this problem")
    remedy: str = Field(description="what the client can do")


class Deprecations(Document):
    """Former names, each with the name that replaces it."""

    since: str = Field(description="day from which the former names are deprecated")
    members: dict[str, str] = Field(description="former member of a request -> member")
    removed: dict[str, str] = Field(description="former member or option -> its effect")
    values: dict[str, dict[str, str]] = Field(description="member -> former value -> value")
    paths: dict[str, str] = Field(description="former path -> path")
    routes: dict[str, str] = Field(description="deprecated operation -> replacement")
    options: dict[str, str] = Field(description="former option of the command line -> option")
