"""files/1: which program of a set serves which sizes, and what is in none of them."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, omitted
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.design.export_files import FileSet

INDEX, TUNER, PROGRAMS = "files.json", "tuner.csv", "programs/"
"""Names in a set: this document, the table of NCCL's tuner, the folder of programs."""


class ProgramFile(Document):
    """One program, and the sizes that it is for."""

    file: str = Field(description="its name in the set")
    collective: str = Field(description="what it runs")
    algorithm: str = Field(description="by which algorithm of the design")
    first_bytes: int = Field(description="the least size of data it is for", ge=0)
    last_bytes: int | None = Field(description="the largest; null where there is no limit")
    multiple: int = Field(
        description="of so many elements (msccl-xml) or bytes (mscclpp-json) the size is a "
        "multiple, else the library runs its own algorithm",
        ge=1,
    )
    scheduler_multiple: int = Field(
        description="the same where the library msccl-scheduler chooses the file", ge=1
    )
    channels: int = omitted("msccl-xml: NCCL_MIN_NCHANNELS must be no less", ge=1)


class LeftOut(Document):
    """An algorithm of the design that is in no file."""

    collective: str = Field(description="what it runs")
    algorithm: str = Field(description="its name")
    why: str = Field(description="what stands in the way, and the number needed")


class ProgramSetDocument(Document):
    """The index of a set of programs."""

    schema_: Literal["files/1"] = Field("files/1", alias="schema")
    design_id: Identity = Field(description="of which design")
    recipe: str = Field(description="the topology that the programs are for")
    format: str = Field(description="msccl-xml or mscclpp-json")
    runtime: str = Field(description="by whose limits they are written; the largest of several")
    files: list[ProgramFile] = Field(description="by collective and size; no two serve one size")
    left_out: list[LeftOut] = Field(description="algorithms that are in no file")
    tuner: str = omitted("the table for NCCL's tuner, for calls that no file takes")


def files_of(design_id: str, recipe: Recipe, form: str, found: "FileSet") -> Mapping[str, bytes]:
    """Return the files of a set by name: its index, its table, its programs."""
    index = _index(design_id, recipe, form, found)
    files = {INDEX: (json.dumps(index, indent=1) + "\n").encode()}
    if found.tuner:
        files[TUNER] = found.tuner.encode()
    return files | {PROGRAMS + one.name: one.text.encode() for one in found.files}


def _index(design_id: str, recipe: Recipe, form: str, found: "FileSet") -> dict[str, Any]:
    document: dict[str, Any] = {
        "schema": "files/1",
        "design_id": design_id,
        "recipe": str(recipe),
        "format": form,
        "runtime": found.runtime,
        "files": [
            {
                "file": PROGRAMS + one.name,
                "collective": one.collective.value,
                "algorithm": one.algorithm,
                "first_bytes": one.first_bytes,
                "last_bytes": one.last_bytes,
                "multiple": one.multiple,
                "scheduler_multiple": one.scheduler_multiple,
            }
            | ({"channels": one.channels} if one.channels else {})
            for one in found.files
        ],
        "left_out": [
            {"collective": collective.value, "algorithm": name, "why": why}
            for collective, name, why in found.left_out
        ],
    }
    if found.tuner:
        document["tuner"] = TUNER
    return ProgramSetDocument.model_validate(document).given()
