"""A ``Run`` that keeps what it starts in bounds: sizes, CPU time, and a sandbox where there is one.

Bubblewrap shows the whole machine read-only, with an empty home and temporary folder, and leaves
only the given folder writable. Without it, limits are all there is.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillopt_sleep.world import Finished, Run, World

LARGEST_FILE = 2 * 1024**3
"""Bytes that a file may grow to."""

OUTPUT_CAP = 32 * 1024**2
"""Bytes of output that are looked at."""

OWN = {"SKILLOPT_SLEEP_OWN": "1", "PYTHONDONTWRITEBYTECODE": "1"}
"""Says in the environment that it is we who started this, and keeps caches out of differences."""

_BUSY = 4
"""CPU seconds allowed per second of wall time."""

_PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "TERM"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
_LIMITS = 'ulimit -c 0; ulimit -f "$1"; ulimit -t "$2"; shift 2; exec "$@"'


def bare_env(world: World, home: Path) -> dict[str, str]:
    """Return the environment for a process of an attempt: an allow-list, all homes in ``home``."""
    passed = {name: world.env[name] for name in _PASSED_ON if name in world.env}
    folders = {
        "HOME": home,
        "TMPDIR": home / "tmp",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local/share",
        "XDG_STATE_HOME": home / ".local/state",
    }
    return {**passed, **{name: str(path) for name, path in folders.items()}, **OWN}


def sandbox(world: World) -> str:
    """Return the path of bubblewrap, or "" where it is not installed."""
    return shutil.which("bwrap", path=world.env.get("PATH", "")) or ""


def confined(world: World, room: Path) -> Run:
    """Return a ``Run`` whose processes can write below ``room`` only, if there is a sandbox."""
    wrapper = _bubble(world, sandbox(world), room) if sandbox(world) else []

    def run(
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: str = "",
        timeout_s: float = 60.0,
        output_cap: int = OUTPUT_CAP,
    ) -> Finished:
        blocks, busy = LARGEST_FILE // 512, int(timeout_s * _BUSY) + 1
        limited = ["sh", "-c", _LIMITS, "sh", str(blocks), str(busy), *wrapper, *argv]
        return world.run(
            limited, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s, output_cap=output_cap
        )

    return run


def _bubble(world: World, program: str, room: Path) -> list[str]:
    home = world.roots.home
    seen = [Path(entry) for entry in world.env.get("PATH", "").split(":") if entry]
    inside = [one for one in seen if one.is_relative_to(home) and one.is_dir()]
    # Programs below the home are often links to elsewhere below it, so what they stand beside
    # comes back too: never a folder that begins with a dot at its top, where secrets live.
    back = sorted({one.parent if one.name == "bin" else one for one in inside} - {home})
    shown = [word for one in back for word in ("--ro-bind", str(one), str(one))]
    return [
        *(program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
        *("--tmpfs", str(home), *shown, "--bind", str(room), str(room)),
        *("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--"),
    ]
