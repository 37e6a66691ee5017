"""The MCP server: tools of assistants over the REST service."""
