"""Fields and formats of the forms of the page, from the request models and their options."""

from typing import Any

from pydantic import BaseModel

from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.requests.options.option import choices
from topoloom.app.requests.options.patch_plans import PlanFormat, TopologyFormat
from topoloom.app.requests.patch_plans import PatchPlanRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.schedules.formats import FormatName

FORMS: dict[str, type[BaseModel]] = {
    "boxes": BoxDesignRequest,
    "design": DesignRequest,
    "iteration": IterationRequest,
    "topology": TopologySource,
    "wiring": PatchPlanRequest,
}
"""Form -> request model."""

FORMATS = {"plan": PlanFormat, "schedule": FormatName, "topology": TopologyFormat}
"""Document -> formats in which the service writes it."""

_KEPT = ("description", "default", "minimum", "maximum", "enum")


def forms() -> dict[str, Any]:
    """Return the fields of every form, and the formats of every document.

    >>> forms()["formats"]["plan"][:2]
    ['json', 'csv']
    """
    named = {name: fields_of(model) for name, model in FORMS.items()}
    return named | {"formats": {name: [*choices(one)] for name, one in FORMATS.items()}}


def fields_of(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return description, default, limits and allowed values of each simple field of a model.

    >>> from topoloom.app.requests.designs import DesignRequest
    >>> fields_of(DesignRequest)["nodes"]
    {'description': 'number of hosts', 'minimum': 2, 'maximum': 16384}
    """
    return {
        name: {key: simple[key] for key in _KEPT if key in simple}
        for name, schema in model.model_json_schema()["properties"].items()
        if not schema.get("deprecated") and (simple := _flat(schema))
    }


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the keywords of its first simple alternative."""
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return (kinds[0] if kinds else {}) | schema
