"""How a request gives a plant: as JSON values, or as the text of a file."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from topoloom.app.requests.base import Request, optional

PlantFormat: TypeAlias = Literal["json", "yaml", "csv"]
"""The formats of `synth.wiring.plant.TEXT_FORMATS`, which a test compares."""


class PlantText(Request):
    """A plant as the text of a file: what the command line takes as ``--plant``."""

    text: str = Field(description="the text of a file that holds a plant, in any of its formats")
    format: PlantFormat = optional("the format of the text; left out, the text tells it")


def _form(value: Any) -> str:
    """Return the tag of the form of a plant; `app.requests.field_errors` omits such tags."""
    if isinstance(value, list):
        return "list[Any]"
    is_text = isinstance(value, PlantText) or (isinstance(value, dict) and "text" in value)
    return "dict[text]" if is_text else "dict[str,Any]"


_NO_TEXT = {"not": {"required": ["text"]}, "title": "Plant"}

Page: TypeAlias = Annotated[dict[str, Any], Field(json_schema_extra={"title": "Plant"})]
"""One page of an answer of NetBox, or one cable."""

PlantSource = Annotated[
    Annotated[list[Page], Tag("list[Any]")]
    | Annotated[PlantText, Tag("dict[text]")]
    | Annotated[dict[str, Any], Field(json_schema_extra=_NO_TEXT), Tag("dict[str,Any]")],
    Discriminator(_form),
]
"""A plant/1 document, the answers of NetBox or Nautobot about cables, or the text of a file."""
