"""What operators ask: is it alive, is it ready, which version is it."""

from pydantic import Field

from topoloom.app.documents.base import Document


class Status(Document):
    """The answer of a probe."""

    status: str = Field(description="ok or ready")


class VersionDocument(Document):
    """What runs here."""

    version: str = Field(description="of the package")
    kernel_version: str = Field(description="of the kernels; part of every answer's key")
    database_revision: str = Field(description="of the tables that this version needs")
