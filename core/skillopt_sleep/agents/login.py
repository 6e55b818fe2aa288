"""Hands a CLI's own login over to an attempt: variables, or a copy of its credential file.

Only what the user consented to; nothing is written where the login is from.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.agents.launch import Errand
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.files import PRIVATE_FILE, PRIVATE_FOLDER


def hand_over(
    errand: Errand, *, files: Sequence[str], variables: Sequence[str], program: str
) -> dict[str, str]:
    """Return the login variables that are set; copy the credential files that are there.

    Args:
        errand: Whose home gets the copies.
        files: Paths below the home folder.
        variables: Names, the first that is set is passed on.
        program: The CLI, for the message.

    Raises:
        ConfigError: Nobody agreed to that, or there is no login.
    """
    if errand.login is None:
        raise ConfigError(
            f"{program!r} has neither a model of its own nor leave to use your login; set 'target'"
            " to a model that it can speak to, or 'replay.login' to true"
        )
    env = {name: errand.env[name] for name in variables[:] if errand.env.get(name)}
    copied = False
    for name in files:
        source, copy = errand.login / name, errand.home / name
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            copy.touch(mode=PRIVATE_FILE)
            copy.write_bytes(source.read_bytes())
            copied = True
    if not env and not copied:
        raise ConfigError(
            f"{program!r} has no login here: none of {', '.join(variables)} is set and there is no"
            f" {' or '.join(files)} in your home; log in with it first"
        )
    return dict(list(env.items())[:1])
