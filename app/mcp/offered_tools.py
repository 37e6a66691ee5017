"""The operations of the service that become tools of assistants, chosen in its OpenAPI document."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]

LEFT_OUT = (
    "jobs/{id}/deliveries",
    "labels",
    "lr-sessions",
    "cache",
    "metrics",
    "plots",
    "deprecations",
)
"""Parts of paths without tools: matters of operators and of training runs, and pictures."""


def tool_document(document: Mapping[str, Any], compute: bool) -> Document:
    """Return the OpenAPI document with the operations that become tools.

    Every tool reads JSON.  With ``compute``, questions that the service computes and stores are
    tools as well.  No tool deletes, shares or labels, or touches keys.

    >>> read, ask = ({"security": [{}, {"key": [scope]}], "operationId": scope,
    ...               "responses": {"200": {"content": {"application/json": {}}}}}
    ...              for scope in ("read", "design"))
    >>> document = {"paths": {"/v1/designs": {"get": read, "post": ask, "delete": ask}}}
    >>> [[*tool_document(document, compute)["paths"]["/v1/designs"]] for compute in (False, True)]
    [['get'], ['get', 'post']]
    """
    paths = {}
    for path, methods in document["paths"].items():
        kept = {
            method: _plain(operation)
            for method, operation in methods.items()
            if _is_offered(path, method, operation, compute)
        }
        if kept:
            paths[path] = kept
    return {**document, "paths": paths}


def _is_offered(path: str, method: str, operation: Mapping[str, Any], compute: bool) -> bool:
    scopes = [s for need in operation.get("security", ()) for s in need.get("key", ())]
    wanted = {"get": {"read"}, "post": {"design", "plan"} if compute else set()}
    answers = (operation["responses"].get(status, {}) for status in ("200", "201"))
    is_json = any("application/json" in answer.get("content", ()) for answer in answers)
    left_out = any(part in path for part in LEFT_OUT) or operation.get("deprecated", False)
    return bool(wanted.get(method, set()).intersection(scopes)) and is_json and not left_out


def _plain(operation: Mapping[str, Any]) -> Document:
    """Return an operation without headers and the schemas of answers, which fill a context."""
    parameters = [p for p in operation.get("parameters", ()) if p["in"] != "header"]
    text = f"{operation.get('summary', '')}. {operation.get('description', '')}"
    answers = {"200": {"description": "the answer"}}
    return {**operation, "parameters": parameters, "description": text, "responses": answers}
