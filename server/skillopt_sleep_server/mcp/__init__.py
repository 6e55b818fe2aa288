"""The MCP server ``skillopt``: typed tools over the engine, on the SDK; no logic of its own."""
