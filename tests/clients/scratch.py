"""A scratch home for one agent client, with sample logs, our program and a model on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillopt_sleep.edge import open_engine
from skillopt_sleep.engine import Engine
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.wire import MODEL

PROGRAMS = Path(__file__).parents[2] / ".cache" / "clis" / "node_modules" / ".bin"
NEWER_NODE = Path(__file__).parents[2] / ".cache" / "openclaw" / "node_modules" / ".bin"
"""OpenClaw and the Node that it needs; apart, so that the others keep the machine's own."""

NOWHERE = "http://127.0.0.1:9"

_PATIENCE_S = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """Folders of one test, all below one root."""

    root: Path
    url: str = NOWHERE

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.home / "code" / "harbor"

    @property
    def state(self) -> Path:
        return self.root / "state"

    def run(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> str:
        """Run a program in the project; return what it printed, or fail."""
        finished = subprocess.run(
            list(argv),
            cwd=self.project,
            env={
                "HOME": str(self.home),
                "TMPDIR": str(self.root / "tmp"),
                "PATH": search_path(PROGRAMS),
                "LANG": "C.UTF-8",
                "SKILLOPT_SLEEP_HOME": str(self.state),
                "HTTPS_PROXY": NOWHERE,
                "NO_PROXY": "127.0.0.1",
                "NPM_CONFIG_REGISTRY": NOWHERE,
                "NPM_CONFIG_FETCH_RETRIES": "0",
                **(env or {}),
            },
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        assert finished.returncode == 0, f"{argv}: {finished.stdout[-2000:]}{finished.stderr}"
        return finished.stdout

    def sleep(self, *words: str, programs: Path = PROGRAMS) -> str:
        """Run our own program."""
        argv = [sys.executable, "-m", "skillopt_sleep_server", *words]
        return self.run(argv, {"PATH": search_path(programs)})

    def engine(self) -> Engine:
        """Open the engine on these folders."""
        return open_engine(home=self.home, project=self.project, state=self.state)

    def use_model(self, url: str) -> None:
        """Let nights use the model at ``url``."""
        config = self.state / "config" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(
            f'[target]\nname = "openai_compatible"\nmodel = "{MODEL}"\nbase_url = "{url}/v1"\n'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How one agent client is run headless against a model on loopback."""

    name: str
    program: str
    argv: tuple[str, ...]
    env: Callable[[str], dict[str, str]] = lambda _url: {}
    settings: Callable[[Path, str], None] = lambda _home, _url: None
    by_stdin: bool = False
    programs: Path = PROGRAMS

    def ask(self, scratch: Scratch, prompt: str, url: str) -> str:
        """Give the client one prompt; return what it printed."""
        argv = [self.program, *self.argv, *([] if self.by_stdin else [prompt])]
        env = {"PATH": search_path(self.programs), **self.env(url)}
        return scratch.run(argv, env, prompt if self.by_stdin else "")


def search_path(programs: Path) -> str:
    """Return a PATH that finds the clients first, then our own program."""
    ours = str(Path(sys.executable).parent)
    return os.pathsep.join([str(programs), ours, os.environ["PATH"]])


def need(client: Client) -> None:
    """Skip the test where the client is not installed."""
    if shutil.which(client.program, path=str(client.programs)) is None:
        pytest.skip(f"{client.program} is not installed below .cache; see tests/clients/*.sh")


def prepare(root: Path, client: Client, url: str) -> Scratch:
    """Return a scratch home with sample logs and the client's own settings."""
    scratch = Scratch(root=root.resolve(), url=url)
    for name in ("home", "tmp", "state"):
        (scratch.root / name).mkdir()
    with open_engine(state=scratch.state) as engine:
        copy_samples(scratch.home, engine.world.now())
    client.settings(scratch.home, url)
    return scratch


def _codex_settings(home: Path, url: str) -> None:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        '# my settings\nmodel = "loopback-1"\nmodel_provider = "loopback"\n\n'
        f'[model_providers.loopback]\nname = "loopback"\nbase_url = "{url}/v1"  # here\n'
        'wire_api = "responses"\nenv_key = "LOOPBACK_KEY"\n'
    )


def _opencode_settings(home: Path, url: str) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    provider: dict[str, object] = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"loopback-1": {}},
    }
    tree: dict[str, object] = {"model": "loopback/loopback-1", "provider": {"loopback": provider}}
    (folder / "opencode.json").write_text(json.dumps(tree, indent="\t"))


CLAUDE = Client(
    name="claude-code",
    program="claude",
    argv=("--allowedTools", "mcp__skillopt", "--output-format", "json", "-p"),
    env=lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "a-key-for-loopback",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
    },
)

CODEX = Client(
    name="codex",
    program="codex",
    argv=("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    env=lambda _url: {"LOOPBACK_KEY": "a-key-for-loopback"},
    settings=_codex_settings,
)

COPILOT = Client(
    name="copilot",
    program="copilot",
    argv=("--allow-all-tools", "--output-format", "json", "-p"),
    env=lambda url: {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "a-key-for-loopback",
        "COPILOT_MODEL": "loopback-1",
    },
)

OPENCODE = Client(
    name="opencode",
    program="opencode",
    argv=("run", "--format", "json"),
    env=lambda _url: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    settings=_opencode_settings,
    by_stdin=True,
)


def _openclaw_settings(home: Path, url: str) -> None:
    folder = home / ".openclaw"
    folder.mkdir()
    project = home / "code" / "harbor"
    (folder / "openclaw.json").write_text(
        "{\n  // my settings\n  models: { providers: { loopback: {\n"
        f"    baseUrl: '{url}/v1', apiKey: 'x', api: 'openai-completions',\n"
        "    models: [{ id: 'loopback-1', name: 'loopback-1' }],\n  } } },\n"
        "  agents: { defaults: { model: { primary: 'loopback/loopback-1' },"
        f" workspace: '{project}' }} }},\n}}\n"
    )


OPENCLAW = Client(
    name="openclaw",
    program="openclaw",
    argv=("agent", "--local", "--agent", "main", "--json", "-m"),
    settings=_openclaw_settings,
    programs=NEWER_NODE,
)

CLIENTS = {one.name: one for one in (CLAUDE, CODEX, COPILOT, OPENCODE, OPENCLAW)}
