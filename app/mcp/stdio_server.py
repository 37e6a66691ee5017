"""The MCP server of `topoloom mcp`: tools over a running service, or over a service in process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from fastmcp import FastMCP
from mcp.types import ToolAnnotations

from topoloom.app.config import MAX_WAIT_SECONDS, Settings
from topoloom.app.mcp.offered_tools import tool_document

INSTRUCTIONS = """Topoloom designs networks of directly wired accelerators.
createDesign answers "which topology and schedules are fastest for this workload".
findBest answers from stored results alone.  Numbers such as "277/256" are exact fractions.
An answer with a state is a job: read the job again."""


class NoService(ValueError):
    """No service answers at a URL."""


async def serve(url: str | None, key: str | None, compute: bool, settings: Settings) -> None:
    """Serve the tools on standard input and output until the client ends.

    Args:
        url: URL of a running service; None for a service in this process, on its own database.
        key: API key of the running service.
        compute: Whether tools may compute and store answers.
        settings: Settings of the service in this process.

    Raises:
        NoService: The URL is invalid, or no service answers there.
        DatabaseNotReady: The database of the service in this process cannot be used.
    """
    async with _connected(url, key, settings) as client:
        document = await _document(client)
        await tools(document, client, compute).run_async(
            "stdio", show_banner=False, log_level="WARNING"
        )


async def _document(client: httpx2.AsyncClient) -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    try:
        return (await client.get("/openapi.json")).raise_for_status().json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise NoService(f"must be the URL of a running service: {error}") from None


def tools(document: dict[str, Any], client: httpx2.AsyncClient, compute: bool) -> FastMCP:
    """Return the server with a tool for every operation that `tool_document` keeps."""

    def annotate(route: Any, component: Any) -> None:
        component.annotations = ToolAnnotations(read_only_hint=route.method == "GET")

    return FastMCP.from_openapi(
        tool_document(document, compute),
        client,
        name="Topoloom",
        instructions=INSTRUCTIONS,
        mcp_component_fn=annotate,
    )


@asynccontextmanager
async def _connected(
    url: str | None, key: str | None, settings: Settings
) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client of the service; without a URL, start the service in this process."""
    head = {"Prefer": f"wait={MAX_WAIT_SECONDS}"} | (
        {"Authorization": f"Bearer {key}"} if key else {}
    )
    if url is not None:
        async with httpx2.AsyncClient(base_url=url, headers=head, timeout=None) as client:
            yield client
        return
    from topoloom.app.api.main import create_app

    # The user of the command has the database, as with every other command.
    app = create_app(settings.model_copy(update={"auth": "open"}))
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            base_url="http://localhost", headers=head, timeout=None, transport=transport
        ) as client,
    ):
        yield client
