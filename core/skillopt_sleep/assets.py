"""Files that ship beside the code: the plugin folders, from the checkout or the installed wheel."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from skillopt_sleep.errors import ConfigError

_CHECKOUT = Path(__file__).parents[2] / "plugins"


def plugin_folder(harness: str) -> Path:
    """Return the folder of one harness's plugin.

    The checkout wins: in an editable install a copied folder would go stale.

    Raises:
        ConfigError: The installation lacks it.
    """
    folder = _CHECKOUT / harness
    if not folder.is_dir():
        try:
            # A folder without Python files has no path of its own, only its members have.
            folder = Path(str(files("skillopt_sleep_plugins").joinpath(harness)))
        except ModuleNotFoundError:
            folder = _CHECKOUT / harness
    if not folder.is_dir():
        raise ConfigError(
            f"this installation has no plugin folder for {harness!r}; install skillopt-sleep again"
        )
    return folder
