"""People in texts: e-mail addresses, home folders and login names, each to a stable pseudonym.

``/home/anna/x`` becomes ``/home/user-3f2a/x``, so that a path stays a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, digest, starts_word, words

_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}\Z")
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,12})(?![A-Za-z0-9_(\[-])"
)
_TLDS = words(
    "com org net edu gov mil int info biz name io dev app ai me tv cloud tech online site xyz "
    "club email work company agency solutions systems software digital network studio design "
    "blog page wiki social health science school university berlin london paris tokyo nyc eus "
    "cat swiss"
)
_COUNTRIES = words(
    "ac ad ae af ag al am ao ar as at au az ba bb bd be bg bh bi bj bm bo br bs bt bw by bz ca "
    "cc cd cf cg ch ci ck cl cm cn co cr cu cv cy cz de dj dk dm do dz ec ee eg es et eu fi fj "
    "fm fr ga gb ge gg gh gi gl gm gr gt gy hk hn hr ht hu id ie il im in iq ir is it je jm jo "
    "jp ke kg kh kr kw ky kz la lb lc li lk lt lu lv ly ma mc md mk ml mn mo mt mu mv mw mx my "
    "mz na ng ni nl no np nu nz om pa pe pf pg ph pk pl pr pt pw py qa re ro rs ru rw sa sb sc "
    "sd se sg si sk sl sm sn so st su sv sy tc td tg th tj tm tn to tr tt tw tz ua ug uk us uy "
    "uz va vc ve vg vn ws ye za zm zw"
)
_NO_PERSON = words("git noreply no-reply donotreply do-not-reply hg svn aur")
_EXAMPLE_DOMAIN = re.compile(
    r"(?:^|\.)(?:example\.[a-z.]+|[a-z0-9-]+\.example|invalid|test|localhost|users\.noreply\.github\.com"
    r"|domain\.com|email\.com|acme\.com|foo\.com|bar\.com|test\.com)$",
    re.IGNORECASE,
)

_HOMES = (
    re.compile(r"/home/([A-Za-z0-9_][A-Za-z0-9_.-]{0,63}+)(?![A-Za-z0-9_.-])"),
    re.compile(r"/Users/([A-Za-z0-9_][A-Za-z0-9_.-]{0,63}+)(?![A-Za-z0-9_.-])"),
    re.compile(r"Users\\{1,4}([A-Za-z0-9_][A-Za-z0-9_. -]{0,31}?)(?=\\|[\"'\s,;:)]|$)"),
    re.compile(r"-Users-([A-Za-z0-9_]{1,32})(?=[-/\"'\s\\]|$)"),
    re.compile(r"-home-([A-Za-z0-9_]{1,32})(?=-)"),
)
_LOGINS = tuple(
    re.compile(rf"{name}=([a-z_][a-z0-9_-]{{1,31}})(?![A-Za-z0-9_.(-])")
    for name in ("USER(?:NAME)?", "LOGNAME")
)
_PROMPT = re.compile(r"([a-z_][a-z0-9_-]{0,31})\Z")
_PROMPT_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}:[~/]")
_PSEUDONYM = re.compile(r"user-[0-9a-f]{4}")
SIGNS = (
    r"[A-Za-z0-9._%+-]@[A-Za-z0-9]|/home/[A-Za-z0-9_]|/Users/[A-Za-z0-9_]|Users\\|-Users-|-home-"
    r"|USER=|USERNAME=|LOGNAME="
)
"""What every text with a find in it shows; see ``glance``."""
_NOBODY = words(
    "user users username user-name you me myuser youruser name someone somebody runner ubuntu "
    "root app node vscode codespace circleci jovyan linuxbrew git www www-data admin "
    "administrator dev developer builder build coder ci agent sandbox test public shared "
    "default guest all docker ec2-user vagrant jenkins gitlab-runner nobody example foo bar "
    "yourname your-name your_name your-username your_username index page home"
)
_COMPILER_FLAG = re.compile(r"(?:^|\s)-[A-Za-z]\Z")
_DRIVE = re.compile(r"(?:^|[^A-Za-z0-9])[A-Za-z]\Z|/mnt/[a-z]\Z")


def identity_spans(text: str) -> Iterator[Span]:
    """Yield every e-mail address, home folder and login name of a person."""
    if "@" in text:
        yield from _addresses(text)
    if "Users" in text or "home" in text:
        for pattern in _HOMES:
            yield from _homes(text, pattern)
    for pattern in _LOGINS:
        for found in pattern.finditer(text):
            if starts_word(text, found.start()) or text.endswith("SUDO_", 0, found.start()):
                yield from _person(found)


def _addresses(text: str) -> Iterator[Span]:
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain and _is_top_level(domain[1]):
            local = _LOCAL.search(text, max(0, at - 64), at)
            if local and not _is_nobody(local[0], domain[0]):
                address = text[local.start() : domain.end()]
                yield Span(local.start(), domain.end(), f"<email:{digest(address.lower())}>")
        elif _PROMPT_HOST.match(text, at + 1):
            login = _PROMPT.search(text, max(0, at - 32), at)
            if login and starts_word(text, login.start()) and login[0] not in _NO_PERSON:
                yield from _person(login)
        at = text.find("@", at + 1)


def _is_top_level(name: str) -> bool:
    if name != name.lower() and name != name.upper():
        return False
    return name.lower() in _TLDS or name.lower() in _COUNTRIES


def _is_nobody(local: str, domain: str) -> bool:
    return local.lower() in _NO_PERSON or _EXAMPLE_DOMAIN.search(domain) is not None


def _homes(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in pattern.finditer(text):
        if found[0][0] == "/":
            fits = _may_be_root(text, found.start())
        else:
            fits = text[found.start() - 1 : found.start()] in ("", "/", "\\", '"', "'", " ", "\n")
        if fits:
            yield from _person(found)


def _may_be_root(text: str, at: int) -> bool:
    """Tell whether an absolute path may start here, rather than go on (``src/home/page``)."""
    before = text[max(0, at - 8) : at]
    if starts_word(text, at) and not before.endswith((".", "-", "}", "~")):
        return True
    return _COMPILER_FLAG.search(before) is not None or _DRIVE.search(before) is not None


def _person(found: re.Match[str]) -> Iterator[Span]:
    name = found[1].rstrip(". ")
    if name.lower() in _NOBODY or _PSEUDONYM.fullmatch(name) or not name:
        return
    yield Span(found.start(1), found.start(1) + len(name), f"user-{digest(name)}")
