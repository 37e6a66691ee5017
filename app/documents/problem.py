"""Problems as RFC 9457 has them: what is wrong, with every field at fault."""

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.requests.field_errors import FieldError


class ProblemDocument(Document):
    """An error, as RFC 9457 describes it; ``errors`` names every offending field."""

    type: str = Field(
        description="kind of the problem: a path that docs/reference/rest.md explains"
    )
    title: str = Field(description="the kind in words")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="what is wrong with this request")
    instance: str = Field(description="path of the request")
    request_id: str = Field(description="X-Request-ID of the request, which is in the log, too")
    errors: list[FieldError] = Field(default=[], description="every offending field")
