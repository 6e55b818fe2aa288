"""The engine of skillopt-sleep: a library without a face.

``edge.open_engine`` builds an ``Engine`` from the real machine; everything else takes its world
as an argument. This package knows nothing of command lines, MCP or web pages.
"""

__version__ = "0.1.0"
