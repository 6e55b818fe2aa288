"""The only file that touches environment, home, clock and processes; builds World and Engine."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import platformdirs

from skillopt_sleep.config import load
from skillopt_sleep.engine import Engine
from skillopt_sleep.world import Finished, Roots, World

APP = "skillopt-sleep"
HOME_VARIABLE = "SKILLOPT_SLEEP_HOME"


def real_roots(env: Mapping[str, str]) -> Roots:
    """Return the folders of this machine; ``SKILLOPT_SLEEP_HOME`` moves ours below one folder."""
    home = Path.home()
    moved = env.get(HOME_VARIABLE, "")
    if moved:
        base = Path(moved).expanduser().absolute()
        return Roots(
            home=home,
            data=base / "data",
            config=base / "config",
            cache=base / "cache",
            cwd=Path.cwd(),
        )
    return Roots(
        home=home,
        data=platformdirs.user_data_path(APP),
        config=platformdirs.user_config_path(APP),
        cache=platformdirs.user_cache_path(APP),
        cwd=Path.cwd(),
    )


def real_world() -> World:
    """Return the world as it is."""
    env = dict(os.environ)
    return World(
        now=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
        sleep=time.sleep,
        run=run_process,
        spawn=spawn_detached,
        rng=random.Random,
        env=env,
        roots=real_roots(env),
        # -P: a project's own folder must never be where our modules are looked for.
        program=(sys.executable, "-P", "-m", "skillopt_sleep_server"),
    )


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: str = "",
    timeout_s: float = 60.0,
    output_cap: int = 1_000_000,
) -> Finished:
    """Run ``argv`` in a process group of its own; at the deadline the whole group is killed.

    Raises:
        FileNotFoundError: There is no such program.
    """
    begun = time.monotonic()
    process = subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    _RUNNING.add(process)
    try:
        out, err, timed_out = _converse(process, stdin.encode(), timeout_s, output_cap)
    finally:
        _kill_group(process)
        process.wait()
        _RUNNING.discard(process)
    return Finished(
        code=process.returncode,
        stdout=out.decode(errors="replace"),
        stderr=err.decode(errors="replace"),
        timed_out=timed_out,
        seconds=time.monotonic() - begun,
    )


_RUNNING: set[subprocess.Popen[bytes]] = set()
"""What runs now; it must not outlive us when somebody stops us in the middle."""

_LINGER_S = 2.0
"""How long output may come after a process has ended, from children that left its group."""

_PIECE = 65536


@atexit.register
def _kill_all() -> None:
    for process in tuple(_RUNNING):
        _kill_group(process)
        process.wait(_LINGER_S)


def _converse(
    process: subprocess.Popen[bytes], said: bytes, timeout_s: float, cap: int
) -> tuple[bytes, bytes, bool]:
    """Feed a process and read it to its end; return output, errors, whether it was killed."""
    ears = [_listen(stream, cap) for stream in (process.stdout, process.stderr)]
    mouth = threading.Thread(target=_speak, args=(process, said), daemon=True)
    mouth.start()
    timed_out = False
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    _kill_group(process)
    for thread, _ in ears:
        thread.join(_LINGER_S)
    out, err = (bytes(heard) for _, heard in ears)
    return out, err, timed_out


def _listen(stream: IO[bytes] | None, cap: int) -> tuple[threading.Thread, bytearray]:
    """Read a stream to its end in a thread; keep its first ``cap`` bytes."""
    heard = bytearray()

    def read() -> None:
        if stream is None:
            return
        with stream:
            while piece := os.read(stream.fileno(), _PIECE):
                heard.extend(piece[: max(0, cap - len(heard))])

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread, heard


def _speak(process: subprocess.Popen[bytes], said: bytes) -> None:
    if process.stdin is None:
        return
    try:
        with process.stdin as stdin:
            stdin.write(said)
    except BrokenPipeError:
        # It ended, or closed its ears, before it heard everything.
        return


def spawn_detached(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path
) -> None:
    """Start ``argv`` in a session of its own and as no child of ours, output in files of mode 0600.

    Some clients kill all descendants of an MCP server when they leave, whatever their session.

    Raises:
        FileNotFoundError: There is no such program.
    """
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        raise FileNotFoundError(f"no program {argv[0]!r}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    stdout, stderr = (os.open(path, flags, 0o600) for path in (out, err))
    try:
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", program, *argv[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            check=True,
        )
    finally:
        os.close(stdout)
        os.close(stderr)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # The group is gone already, which is what was wanted.
        return


def open_engine(
    *,
    home: Path | None = None,
    project: Path | None = None,
    flags: Mapping[str, object] | None = None,
    state: Path | None = None,
) -> Engine:
    """Return the engine on this machine; use it as a context manager.

    Args:
        home: Folder that holds the harnesses' logs, or None for the user's own.
        project: Project folder, or None for the folder the user stands in.
        flags: Settings from the command line, dotted; the strongest.
        state: Folder for our database and settings, or None for the usual one.

    Raises:
        ConfigError: A settings file or flag is wrong.
    """
    world = real_world()
    if state is not None:
        roots = real_roots({**world.env, HOME_VARIABLE: str(state)})
        world = replace(world, roots=roots, env={**world.env, HOME_VARIABLE: str(state)})
    if home is not None:
        world = world.at_home(home.resolve())
    if project is not None:
        world = world.in_project(project.resolve())
    return Engine(world, load(world, flags))
