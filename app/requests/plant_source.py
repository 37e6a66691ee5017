"""Forms of a plant in a request: JSON values, or the text of a file."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from topoloom.app.requests.base import Request, optional

PlantFormat: TypeAlias = Literal["json", "yaml", "csv"]
"""The formats of `synth.wiring.plant.TEXT_FORMATS`, which a test compares."""


class PlantText(Request):
    """A plant as the text of a file, such as a file for ``--plant``."""

    text: str = Field(description="text of a plant file, in any format")
    format: PlantFormat = optional("format of the text; default: detected")


def _form(value: Any) -> str:
    """Return the union tag of a plant; `app.requests.field_errors` removes such tags."""
    if isinstance(value, list):
        return "list[Any]"
    is_text = isinstance(value, PlantText) or (isinstance(value, dict) and "text" in value)
    return "dict[text]" if is_text else "dict[str,Any]"


_NO_TEXT = {"not": {"required": ["text"]}, "title": "Plant"}

Page: TypeAlias = Annotated[dict[str, Any], Field(json_schema_extra={"title": "Plant"})]
"""One page of a reply of NetBox, or one cable."""

PlantSource = Annotated[
    Annotated[list[Page], Tag("list[Any]")]
    | Annotated[PlantText, Tag("dict[text]")]
    | Annotated[dict[str, Any], Field(json_schema_extra=_NO_TEXT), Tag("dict[str,Any]")],
    Discriminator(_form),
]
"""A plant/1 document, replies of NetBox or Nautobot about cables, or the text of a file."""
