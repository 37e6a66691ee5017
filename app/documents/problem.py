"""Problem documents (RFC 9457) with all invalid fields."""

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.requests.field_errors import FieldError


class ProblemDocument(Document):
    """A problem (RFC 9457); ``errors`` lists every invalid field."""

    type: str = Field(description="problem type: a path, explained in docs/reference/rest.md")
    title: str = Field(description="title of the problem type")
    status: int = Field(description="HTTP status")
    detail: str = Field(description="explanation of this problem")
    instance: str = Field(description="path of the request")
    request_id: str = Field(description="X-Request-ID of the request, as in the log")
    errors: list[FieldError] = Field(default=[], description="invalid fields")
