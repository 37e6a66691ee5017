"""files/1: index of a set of programs, by data size, with missing algorithms."""

import json
from collections.abc import Mapping
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, omitted
from topoloom.app.requests.base import NotNegative, Positive
from topoloom.app.requests.designs import DesignRequest
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.design.export_files import FileSet

INDEX, TUNER, PROGRAMS, LOADER = "files.json", "tuner.csv", "programs/", "load_plans.py"
"""Names in a set: this document, NCCL's tuner table, the programs, the loader of MSCCL++ plans."""

_SPEED = ("node_gbps", "alpha_us", "overhead_us", "chunk_us")


class ProgramFile(Document):
    """A program and its data sizes."""

    file: str = Field(description="file name in the set")
    collective: str = Field(description="collective")
    algorithm: str = Field(description="algorithm of the design")
    first_bytes: int = Field(description="smallest data size", ge=0)
    last_bytes: int | None = Field(description="largest data size; null for no limit")
    multiple: int = Field(
        description="the data size must be a multiple of this number of elements (msccl-xml) or "
        "bytes (mscclpp-json), else the library runs its own algorithm",
        ge=1,
    )
    scheduler_multiple: int = Field(
        description="the same if msccl-scheduler chooses the file", ge=1
    )
    channels: int = omitted("msccl-xml: smallest NCCL_MIN_NCHANNELS", ge=1)


class LeftOut(Document):
    """An algorithm of the design without a file."""

    collective: str = Field(description="collective")
    algorithm: str = Field(description="name of the algorithm")
    why: str = Field(description="reason, with the required number")


class ProgramSetDocument(Document):
    """The index of a set of programs."""

    schema_: Literal["files/1"] = Field("files/1", alias="schema")
    design_id: Identity = Field(description="id of the design")
    recipe: str = Field(description="topology of the programs")
    node_gbps: Positive = Field(
        description="rate of a host in Gbit/s: it and the next members decide the sizes"
    )
    alpha_us: Positive = Field(description="latency of a hop, in microseconds")
    overhead_us: NotNegative = omitted("link time of each message, in microseconds, if not 0")
    chunk_us: NotNegative = omitted("link time of each chunk, in microseconds, if not 0")
    format: str = Field(description="msccl-xml or mscclpp-json")
    runtime: str = Field(
        description="runtime whose limits the programs keep; the largest of several"
    )
    files: list[ProgramFile] = Field(
        description="programs by collective and size; sizes do not overlap"
    )
    left_out: list[LeftOut] = Field(description="algorithms without a file")
    tuner: str = omitted("table for the NCCL tuner, for sizes without a file")
    loader: str = omitted("mscclpp-json: Python module that registers the programs with MSCCL++")


def files_of(
    design_id: str, request: DesignRequest, recipe: Recipe, form: str, found: "FileSet"
) -> Mapping[str, bytes]:
    """Return the files of a set by name: index, tuner table, loader, programs."""
    facts = _index(design_id, recipe, form, found) | request.canonical_part(_SPEED)
    index = ProgramSetDocument.model_validate(facts).given()
    files = {INDEX: (json.dumps(index, indent=1) + "\n").encode()}
    if found.tuner:
        files[TUNER] = found.tuner.encode()
    if form == "mscclpp-json":
        folder = resources("topoloom.schedules.formats.mscclpp")
        files[LOADER] = folder.joinpath(LOADER).read_bytes()
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
    if form == "mscclpp-json":
        document["loader"] = LOADER
    return document
