"""``python -m skillopt_sleep_server`` is the command ``skillopt-sleep``."""

from skillopt_sleep_server.cli import main

if __name__ == "__main__":
    main()
