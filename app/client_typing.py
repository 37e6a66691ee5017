"""The types of the client's questions, made from the OpenAPI document.

``python -m app.client_typing`` writes ``app/client_types.py`` anew; a test fails when that is
stale.  The client itself must start fast, and so does not load the models of the service.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["FILE", "written"]

FILE = Path(__file__).parent / "client_types.py"

Schema: TypeAlias = Mapping[str, Any]
"""A JSON schema: an entry of the OpenAPI document."""

_HEAD = '''"""What the client's methods are asked; made by ``python -m app.client_typing``."""

# fmt: off
# ruff: noqa: E501
from typing import Any, Literal, Required, TypedDict

'''
_SIMPLE = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}
_QUERIES = {"listDesigns": "ListQuery", "readOptimum": "OptimumQuery"}
"""Operation -> what its query is called here; others have none, or share one."""


def written(document: Mapping[str, Any]) -> str:
    """Return the module for an OpenAPI document."""
    types = dict(_questions(document))
    names = "".join(f"    {json.dumps(name)},\n" for name in sorted(types))
    return f"{_HEAD}__all__ = [\n{names}]\n" + "".join(types[name] for name in sorted(types))


def _questions(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and definition of what every operation takes as body or query."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            what = f"{method.upper()} {path}"
            body = operation.get("requestBody")
            if body is not None:
                asked = body["content"]["application/json"]["schema"]
                name = _name(asked)
                schema = document["components"]["schemas"][asked["$ref"].rpartition("/")[2]]
                yield name, _definition(name, what, schema["properties"], schema)
            name = _QUERIES.get(operation["operationId"])
            if name is not None:
                found = [one for one in operation["parameters"] if one["in"] == "query"]
                yield name, _definition(name, what, {one["name"]: one["schema"] for one in found})


def _definition(
    name: str, what: str, members: Mapping[str, Schema], schema: Schema | None = None
) -> str:
    required = (schema or {}).get("required", ())
    lines = [
        f"    {member}: {f'Required[{_type(one)}]' if member in required else _type(one)}"
        for member, one in members.items()
    ]
    head = f'\n\nclass {name}(TypedDict, total=False):\n    """What is asked by {what}."""\n\n'
    return head + "\n".join(lines) + "\n"


def _name(schema: Schema) -> str:
    """Return a model's name; FastAPI tells questions from answers by a suffix."""
    return schema["$ref"].rpartition("/")[2].removesuffix("-Input")


def _type(schema: Schema) -> str:
    """Return the annotation of a schema; null, which requests do not know, is left out.

    >>> _type({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]})
    'list[int]'
    >>> _type({"enum": ["a", "b"]})
    'Literal["a", "b"]'
    """
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if choices:
        return f"Literal[{', '.join(json.dumps(choice) for choice in choices)}]"
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        found = dict.fromkeys(_type(one) for one in several)
        return " | ".join(one for one in found if one != "None") or "None"
    if "$ref" in schema:
        return "dict[str, Any]"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    return _SIMPLE.get(schema.get("type", ""), "Any")


def _document() -> Mapping[str, Any]:
    from app.config import Settings
    from app.main import create_app

    return create_app(Settings(database_url="sqlite://")).openapi()


if __name__ == "__main__":
    FILE.write_text(written(_document()))
