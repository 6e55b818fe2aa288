"""The demo: sample logs and a simulated model; reachable from the command ``demo`` alone."""
