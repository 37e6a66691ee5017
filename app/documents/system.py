"""Answers of the health, readiness and version probes."""

from pydantic import Field

from topoloom.app.documents.base import Document


class Status(Document):
    """The answer of a probe."""

    status: str = Field(description="ok or ready")


class VersionDocument(Document):
    """Versions of the running service."""

    version: str = Field(description="version of the package")
    kernel_version: str = Field(description="version of the kernels, part of every answer's key")
    database_revision: str = Field(description="database revision that this version needs")
