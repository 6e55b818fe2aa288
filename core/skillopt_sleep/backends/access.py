"""Where a provider is and with which key, from settings and environment; opens no connection.

The key leaves this module only as a ``SecretStr``, and no error text here holds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.world import World

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to get in.

    Attributes:
        url: Base URL, without a slash at its end.
        key: The key, or None where none is wanted.
        key_from: Variable or setting that the key is from, or would be from.
    """

    url: str
    key: SecretStr | None
    key_from: str

    def secret(self) -> str:
        """Return the key itself, or ""."""
        return self.key.get_secret_value() if self.key else ""

    def without_key(self, text: str) -> str:
        """Return ``text`` with the key, should it stand in it, struck out."""
        secret = self.secret()
        return text.replace(secret, "<key>") if secret else text


def key_of(
    settings: BackendSettings, world: World, variables: Sequence[str], *, needed: bool
) -> tuple[SecretStr | None, str]:
    """Return the key and where it is from; ``settings`` win over the usual variables.

    Raises:
        ConfigError: A key is needed, or was announced, and there is none.
    """
    if settings.key is not None and settings.key.get_secret_value().strip():
        return SecretStr(settings.key.get_secret_value().strip()), "the setting 'key'"
    names = (settings.key_env,) if settings.key_env else tuple(variables)
    for name in names:
        if found := world.env.get(name, "").strip():
            return SecretStr(found), name
    wanted = " or ".join(names) or "the setting 'key'"
    if needed or settings.key_env:
        raise ConfigError(
            f"the backend {settings.name!r} has no key; set the environment variable {wanted},"
            " or name another with 'key_env'"
        )
    return None, wanted


def url_of(settings: BackendSettings, world: World, *, default: str, variable: str) -> str:
    """Return the base URL from settings, environment or preset, in this order.

    Raises:
        ConfigError: There is none, or it is no http(s) URL.
    """
    url = settings.base_url or (variable and world.env.get(variable, "")) or default
    if not url:
        hint = f" or the environment variable {variable}" if variable else ""
        raise ConfigError(
            f"the backend {settings.name!r} has no URL; set 'base_url'{hint} to where its"
            " server listens"
        )
    if "://" not in url:
        url = f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"the backend {settings.name!r} has base_url {url!r}, which is no http(s) URL;"
            " write it as https://host/path"
        )
    return url.rstrip("/")


def url_host(url: str) -> str:
    """Return the host and port of a URL, or "" where that is this machine."""
    parts = urlsplit(url)
    return "" if parts.hostname in LOOPBACK else parts.netloc.rpartition("@")[2]


def model_of(settings: BackendSettings) -> str:
    """Return the model id.

    Raises:
        ConfigError: None is set.
    """
    if not settings.model:
        raise ConfigError(
            f"the backend {settings.name!r} has no model; set 'model' to the provider's id for it"
        )
    return settings.model
