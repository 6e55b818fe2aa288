"""Tokens that are known by their shape: one table of providers, looked for in one sweep."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, is_example, is_random, secret, starts_word

_W = r"A-Za-z0-9_\-"
_END = "(?![A-Za-z0-9])"

_SHAPES: tuple[tuple[str, str, str], ...] = (
    # kind, how it begins (alternatives divided by blanks), how it goes on
    ("anthropic", "sk-ant-", rf"[{_W}]{{20,250}}"),
    ("openrouter", "sk-or-v1-", rf"[0-9a-f]{{40,80}}{_END}"),
    ("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"[{_W}]{{20,250}}"),
    ("openai", "sk-", rf"(?:[A-Za-z0-9]{{2,12}}-)?[A-Za-z0-9]{{20,200}}{_END}"),
    ("openai", "sess-", rf"[A-Za-z0-9]{{40}}{_END}"),
    ("stripe", "sk_live_ sk_test_ rk_live_ rk_test_", rf"[A-Za-z0-9]{{16,250}}{_END}"),
    ("stripe", "whsec_", r"[A-Za-z0-9+/]{24,80}={0,2}"),
    ("github", "ghp_ gho_ ghu_ ghs_ ghr_", rf"[A-Za-z0-9]{{36,255}}{_END}"),
    ("github", "github_pat_", rf"[A-Za-z0-9_]{{40,120}}{_END}"),
    (
        "gitlab",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glimt- glagent- gloas- glffct-",
        rf"[{_W}.]{{20,250}}",
    ),
    ("slack", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-", rf"[{_W}.%]{{10,250}}"),
    ("slack", "xapp-", r"\d-[A-Z0-9]{8,16}-\d{8,16}-[A-Za-z0-9]{20,100}"),
    ("google", "AIza", rf"[{_W}]{{35}}(?![{_W}])"),
    ("google", "GOCSPX-", rf"[{_W}]{{20,40}}"),
    ("google", "ya29.", rf"[{_W}]{{20,500}}"),
    ("aws", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}(?![A-Za-z0-9+/])"),
    ("aws", "ABSK", r"[A-Za-z0-9+/]{100,260}={0,2}"),
    ("npm", "npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    ("pypi", "pypi-AgE", rf"[{_W}]{{50,500}}"),
    ("huggingface", "hf_", rf"[A-Za-z0-9]{{30,60}}{_END}"),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", rf"[a-f0-9]{{64}}{_END}"),
    ("sendgrid", "SG.", rf"[{_W}]{{16,32}}\.[{_W}]{{32,64}}"),
    ("twilio", "SK", rf"[0-9a-f]{{32}}{_END}"),
    ("linear", "lin_api_ lin_oauth_", rf"[A-Za-z0-9]{{32,80}}{_END}"),
    ("notion", "ntn_ secret_", rf"[A-Za-z0-9]{{40,60}}{_END}"),
    ("shopify", "shpat_ shpss_ shpca_ shppa_", rf"[a-fA-F0-9]{{32}}{_END}"),
    ("databricks", "dapi", rf"[a-f0-9]{{32}}(?:-\d)?{_END}"),
    ("doppler", "dp.pt. dp.st. dp.ct. dp.sa.", r"[A-Za-z0-9._-]{40,80}"),
    ("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", rf"[{_W}.]{{32,80}}"),
    ("postman", "PMAK-", rf"[a-f0-9]{{24}}-[a-f0-9]{{34}}{_END}"),
    ("grafana", "glsa_", rf"[A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}{_END}"),
    ("grafana", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    ("newrelic", "NRAK-", rf"[A-Z0-9]{{27}}{_END}"),
    ("sentry", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_.-]{40,400}"),
    ("docker", "dckr_pat_ dckr_oat_", rf"[{_W}]{{20,60}}"),
    ("atlassian", "ATATT3xFfGF0 ATCTT3xFfGN0", rf"[{_W}]{{40,300}}={{0,2}}[A-F0-9]{{0,8}}"),
    ("mailgun", "key-", rf"[0-9a-f]{{32}}{_END}"),
    ("square", "sq0atp- sq0csp-", rf"[{_W}]{{22,50}}"),
    ("groq", "gsk_", rf"[A-Za-z0-9]{{40,80}}{_END}"),
    ("xai", "xai-", rf"[A-Za-z0-9]{{60,100}}{_END}"),
    ("perplexity", "pplx-", rf"[A-Za-z0-9]{{40,60}}{_END}"),
    ("replicate", "r8_", rf"[A-Za-z0-9]{{36,40}}{_END}"),
    ("supabase", "sbp_ sb_secret_", rf"[A-Za-z0-9_]{{28,60}}{_END}"),
    ("netlify", "nfp_", rf"[A-Za-z0-9]{{36,40}}{_END}"),
    ("heroku", "HRKU-", rf"[{_W}]{{30,80}}"),
    ("vault", "hvs. hvb. hvr.", rf"[{_W}]{{24,300}}"),
    ("age", "AGE-SECRET-KEY-1", rf"[A-Z0-9]{{58}}{_END}"),
    ("pulumi", "pul-", rf"[a-f0-9]{{40}}{_END}"),
    ("figma", "figd_", rf"[{_W}]{{38,60}}"),
    ("tailscale", "tskey-", r"[a-z]{2,10}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{16,60}"),
    ("langsmith", "lsv2_pt_ lsv2_sk_", rf"[a-f0-9]{{32}}_[a-f0-9]{{10}}{_END}"),
    ("rubygems", "rubygems_", rf"[a-f0-9]{{48}}{_END}"),
    ("buildkite", "bkua_", rf"[a-f0-9]{{40}}{_END}"),
    ("dynatrace", "dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("jwt", "eyJ", rf"[{_W}]{{8,4000}}\.eyJ[{_W}]{{4,8000}}\.[{_W}]{{0,2000}}"),
    ("jwt", "eyJ", rf"[{_W}]{{16,2000}}\.[{_W}]{{0,1000}}(?:\.[{_W}]{{16,4000}}){{3}}"),
)


_MARKS = "_-."
_BEGINNINGS = tuple(word for _, words, _ in _SHAPES for word in words.split())
_MARKED = {mark: tuple(w for w in _BEGINNINGS if w[-1] == mark) for mark in _MARKS}
_BARE = tuple(
    re.compile(first + f"(?:{'|'.join(sorted(re.escape(w[1:]) for w in words))})")
    for first, words in (
        (first, {w for w in _BEGINNINGS if w[-1] not in _MARKS and w[0] == first})
        for first in sorted({w[0] for w in _BEGINNINGS if w[-1] not in _MARKS})
    )
)
# One sweep a mark: a search for a single character and a long word behind it runs at the speed of
# the C library, a search for sixty beginnings does not.
_SWEEPS = {
    mark: re.compile(rf"{re.escape(mark)}(?=[A-Za-z0-9][{_W}]{{14}})(?=[{_W}]{{0,60}}?\d)")
    for mark in _MARKS
}
_TABLE = tuple(
    (kind, re.compile(f"(?:{'|'.join(re.escape(w) for w in words.split())})(?:{rest})"))
    for kind, words, rest in _SHAPES
)
_TELEGRAM = re.compile(rf"\d{{8,10}}(?::|%3A)AA[{_W}]{{33}}(?![{_W}])")
_AZURE = re.compile(r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}")
_DISCORD_TAIL = re.compile(rf"\.[{_W}]{{6}}\.[{_W}]{{27,40}}(?![{_W}])")
SIGNS = (
    f"(?:{'|'.join(map(re.escape, _BEGINNINGS))})[A-Za-z0-9_+/-]"
    rf"|(?::|%3A)AA|Q~|\.[{_W}]{{6}}\.[{_W}]{{27}}"
)
"""What every text with a find in it shows; see ``glance``."""
_DISCORD_HEADS = (24, 26, 28, 25, 27, 23)


def provider_spans(text: str) -> Iterator[Span]:
    """Yield every token whose shape alone tells its provider."""
    for mark, sweep in _SWEEPS.items():
        for found in sweep.finditer(text):
            if text.endswith(_MARKED[mark], max(0, found.end() - 24), found.end()):
                begin = max((w for w in _MARKED[mark] if text.endswith(w, 0, found.end())), key=len)
                yield from _token(text, found.end() - len(begin))
    for pattern in _BARE:
        for found in pattern.finditer(text):
            yield from _token(text, found.start())
    yield from _around(text, "AA", 13, _TELEGRAM, "telegram")
    yield from _around(text, "Q~", 4, _AZURE, "azure")
    yield from _discord(text)


def _token(text: str, at: int) -> Iterator[Span]:
    if not starts_word(text, at):
        return
    for kind, pattern in _TABLE:
        found = pattern.match(text, at)
        if found and not is_example(found[0]) and is_random(found[0]):
            yield Span(at, found.end(), secret(kind, found[0]))
            return


def _around(
    text: str, middle: str, back: int, pattern: re.Pattern[str], kind: str
) -> Iterator[Span]:
    """Yield tokens that are told by what stands in their middle."""
    at = text.find(middle)
    while at >= 0:
        for start in range(max(0, at - back), at):
            found = pattern.match(text, start)
            if found and starts_word(text, start) and not is_example(found[0]):
                yield Span(start, found.end(), secret(kind, found[0]))
                at = found.end() - len(middle)
                break
        at = text.find(middle, at + len(middle))


def _discord(text: str) -> Iterator[Span]:
    for tail in _DISCORD_TAIL.finditer(text):
        for size in _DISCORD_HEADS:
            start = max(0, tail.start() - size)
            head = text[start : tail.start()]
            if len(head) == size and head.isascii() and _is_snowflake(head):
                yield Span(start, tail.end(), secret("discord", head + tail[0]))
                break


def _is_snowflake(head: str) -> bool:
    """Tell whether ``head`` is the base64 of a decimal user id, as Discord's tokens begin."""
    try:
        owner = urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return False
    return owner.isdigit() and len(owner) >= 17
