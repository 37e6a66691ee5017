"""Tools of assistants: which operations they are, and a session over standard input and output."""

import asyncio
import json
import os
import sys
from typing import TextIO, cast

import httpx2
import pytest

from topoloom.app import extras
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.mcp.offered_tools import tool_document

pytest.importorskip("fastmcp", reason="fastmcp is not installed: pip install 'topoloom[mcp]'")

WORKLOAD = {"nodes": 8, "degree": 2, "collective": "allreduce", "bytes": 1_000_000}


def operations(compute):
    """Return the method, the scope and the id of every offered operation."""
    kept = tool_document(service_openapi(), compute)["paths"]
    return {
        (method, operation["security"][1]["key"][0], operation["operationId"])
        for methods in kept.values()
        for method, operation in methods.items()
    }


def test_by_default_every_tool_reads():
    found = operations(compute=False)
    assert {(method, scope) for method, scope, _ in found} == {("get", "read")}
    assert {"findBest", "readDesign", "listFabrics"} <= {name for *_, name in found}


def test_with_compute_tools_also_ask_and_none_deletes_or_manages():
    found = operations(compute=True)
    assert found > operations(compute=False)
    assert {(method, scope) for method, scope, _ in found - operations(compute=False)} == {
        ("post", "design"),
        ("post", "plan"),
    }
    assert {"createDesign", "createPatchPlan"} <= {name for *_, name in found}


def test_every_offered_operation_is_one_tool_with_a_description_and_hints():
    from fastmcp import Client

    from topoloom.app.mcp.stdio_server import tools

    async def listed():
        server = tools(
            service_openapi(), httpx2.AsyncClient(base_url="http://localhost"), compute=True
        )
        async with Client(server) as client:
            return await client.list_tools()

    found = asyncio.run(listed())
    assert {tool.name for tool in found} == {name for *_, name in operations(compute=True)}
    assert all(len(tool.description) > 20 for tool in found)
    reads = {name for method, _, name in operations(compute=True) if method == "get"}
    assert {tool.name for tool in found if tool.annotations.read_only_hint} == reads


def test_a_missing_extra_is_one_line(topoloom, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    answer = topoloom("mcp")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "topoloom: needs fastmcp: pip install 'topoloom[mcp]'\n"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nowhere", "ftp://host"])
def test_a_url_without_a_service_is_one_line(topoloom, url):
    answer = topoloom("mcp", "--url", url)
    assert answer.code == 2
    assert answer.err.startswith("topoloom: --url: must be the URL of a running service: ")
    assert answer.err.count("\n") == 1


async def _session(database):
    """Return the names of the tools, and the answers to one design and to one mistake."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "topoloom", "mcp", "--compute"],
        env=dict(os.environ) | {"TOPOLOOM_DATABASE_URL": database},
    )
    # By default its errors go to what `sys.stderr` was when the client was first imported.
    client = stdio_client(server, errlog=cast(TextIO, sys.__stderr__))
    async with client as streams, ClientSession(*streams) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        answer = await session.call_tool("createDesign", WORKLOAD)
        refusal = await session.call_tool("createDesign", {**WORKLOAD, "degree": 0})
        return names, answer, refusal


@pytest.mark.slow
def test_a_client_session_lists_the_tools_and_asks_one_design(settings, topoloom):
    names, answer, refusal = asyncio.run(_session(settings.database_url))
    assert names == {name for *_, name in operations(compute=True)}
    design = json.loads(answer.content[0].text)
    asked = ("--nodes", "8", "--degree", "2", "--collective", "allreduce", "--bytes", "1MB")
    assert design == json.loads(topoloom("design", *asked, "--json").out)
    assert refusal.is_error
    assert "/degree: must be at least 1" in refusal.content[0].text
