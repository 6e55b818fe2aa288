"""One look at a text that tells most texts, which hold nothing to redact, from the rest.

It finds nothing itself: it knows how the finds of the other files of this folder begin.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints, TypeAdapter

from skillopt_sleep.redact import identity, keyblocks, named, providers, urls

_SIGNS = (keyblocks.SIGNS, providers.SIGNS, urls.SIGNS, named.SIGNS, identity.SIGNS)
# Pydantic matches with Rust's engine, which reads each character once however many signs there
# are; the finds themselves need forty sweeps with ``re``, at a tenth of the speed.
_SHOWS = TypeAdapter(Annotated[str, StringConstraints(pattern="|".join(_SIGNS))]).validator


def may_hold_secret(text: str) -> bool:
    """Return whether ``redact`` may change ``text``; if not, it certainly does not."""
    # A half of a surrogate pair, which UTF-8 cannot hold, matches nothing and so tells nothing.
    return _SHOWS.isinstance_python(text) or not (text.isascii() or _sound(text))


def _sound(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
