"""The faces of skillopt-sleep: command line, MCP server and demo; they print and never decide."""
