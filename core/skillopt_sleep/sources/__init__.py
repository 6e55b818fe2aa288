"""Plugin point 1: one file a log format; how a harvest goes over them is in ``harvest``."""
