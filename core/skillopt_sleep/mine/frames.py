"""Demands in a human's words, as rules a machine can check, for a few sure turns of phrase.

Knows the frames of some languages ("use X instead of Y", "run X before ...", "no emoji") and is
silent about all else: an unclear sentence gives no rule. Code blocks and quoted lines in a turn
are not the human's demand and are not read; a question demands nothing.
"""

# ruff: noqa: RUF001 - letters of other scripts are meant

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from skillopt_sleep.mine.commands import is_program
from skillopt_sleep.mine.scripts import LANGUAGES, written_in
from skillopt_sleep.model.check import Operator

_CAP = 1500
_FENCED = regex.compile(r"```.*?(?:```|\Z)|^\s*>.*$", regex.DOTALL | regex.MULTILINE)
_SENTENCE = regex.compile(r"(?<=[.!?;])\s+|[\n。！？；]+")
_TIMEOUT_S = 1.0

_QUOTED = r"(?:`[^`\n]{1,60}`|\"[^\"\n]{1,60}\"|“[^”\n]{1,60}”|「[^」\n]{1,60}」)"
_WORD = r"(?:[\p{Latin}\d_@./+#$-]*[\p{Latin}\d_/+#])"
_TERM = rf"(?:{_QUOTED}|{_WORD})"
_ARTICLE = r"(?:(?:the|a|an|das|die|der|den|de|het|een|le|la|les|el|los|il|lo|o|os)\s+)?"
_PROGRAM = rf"(?:{_QUOTED}|(?:\./)?[a-z][\w.-]*(?:\s+[\w./:-]*[\w/]){{0,3}})"

_USE = (
    r"(?:us(?:e|ing|a|ar)|utili[sz](?:e|ez|a|ar)|take|prefer|call|nimm|nutze|benutze|verwende"
    r"|gebruik|prends|emploie|emplea|metti|fai|użyj|używaj|używać|используй(?:те)?|возьми"
    r"|använd|bruk|brug)"
)
_NEVER = (
    r"(?:don'?t|do not|never|stop|avoid|no|nie|niemals|nicht|kein|keine|nooit|geen|niet|jamais"
    r"|pas|nunca|mai|non|não|nie|nigdy|не|никогда|aldrig|inte|ikke)"
)
_OVER = (
    r"(?:instead of|rather than|in place of|and not|not|over|statt|anstatt|anstelle von"
    r"|in plaats van|ipv|au lieu d[e']|plutôt qu[e']|à la place d[e']|en lugar de|en vez de"
    r"|invece d[i']|al posto d[i']|anziché|em vez de|ao invés de|em lugar de|zamiast|вместо"
    r"|istället för|i stedet for)"
)


def _compiled(*patterns: str) -> tuple[regex.Pattern[str], ...]:
    return tuple(regex.compile(pattern, regex.IGNORECASE) for pattern in patterns)


_W, _D = rf"{_ARTICLE}(?P<want>{_TERM})", rf"{_ARTICLE}(?P<drop>{_TERM})"
_REPLACE = _compiled(
    rf"(?<!\w){_USE}\s+{_W}\s*,?\s+{_OVER}\s*{_D}(?![\w-])",
    rf"(?<!\w){_NEVER}\s+{_USE}\s+{_D}\s*[,.;:–—-]+\s*(?:but\s+)?{_USE}\s+{_W}",
    rf"(?<!\w){_USE}\s+{_W}\s*[,.;:–—-]+\s*{_NEVER}\s+(?:{_USE}\s+)?{_D}",
    rf"(?<!\w)(?:switch from|replace)\s+{_D}\s+(?:to|with|by)\s+{_W}",
    rf"(?P<drop>{_TERM})\s*(?:ではなく|じゃなくて?|でなく|の代わりに)、?\s*(?P<want>{_TERM})\s*を?使",
    rf"用\s*(?P<want>{_TERM})\s*[，,]?\s*(?:而不是|代替|不要用|别用|不用)\s*(?P<drop>{_TERM})",
    rf"(?:不要用|别用|不用)\s*(?P<drop>{_TERM})\s*[，,]?\s*(?:而是|要|请|改)?用"
    rf"\s*(?P<want>{_TERM})",
    rf"(?P<drop>{_TERM})\s*(?:말고|대신에?)\s*(?P<want>{_TERM})\s*[을를]?\s*(?:쓰|사용|써)",
    rf"(?P<drop>{_TERM})\s+yerine\s+(?P<want>{_TERM})\s+kullan",
)
_FORBID = _compiled(
    r"(?<!\w)(?:don'?t|do not|never|stop|avoid)\s+(?:us(?:e|ing)|run(?:ning)?|call(?:ing)?)"
    rf"\s+{_D}",
    rf"(?<!\w)(?:benutze|nutze|verwende)\s+(?:bitte\s+)?(?:nie|niemals|kein(?:e|en)?)\s+{_D}",
    rf"(?<!\w)(?:gebruik)\s+(?:nooit|geen)\s+{_D}",
    rf"(?<!\w)n'(?:utilise|utilisez)\s+(?:jamais|pas)\s+{_D}",
    r"(?<!\w)(?:no uses|nunca uses|non usare|não use|nunca use|nie używaj|не используй(?:те)?)"
    rf"\s+{_D}",
    rf"(?:不要|别)(?:再)?(?:使用|用|运行)\s*(?P<drop>{_TERM})",
    rf"(?P<drop>{_TERM})\s*(?:は|を)?使わないで",
    rf"(?P<drop>{_TERM})\s*[을를은는]?\s*(?:쓰지|사용하지)\s*마",
)
_GIT = _compiled(
    r"(?<!\w)(?:don'?t|do not|never|stop)\s+(?:ever\s+)?(?:git\s+)?"
    r"(?P<drop>commit|push)(?:ting|ing)?(?!\w)",
    r"(?<!\w)nicht (?:selbst )?(?P<drop>committen|pushen)(?!\w)",
)
_RUN = regex.compile(
    rf"(?<!\w)(?:run|execute|draai|führ\s?e?|lance|lancez|exécute|ejecuta|corre|esegui|lancia"
    rf"|rode|roda|uruchom|uruchamiaj|запускай|запусти|kör)\s+"
    rf"(?:always\s+|immer\s+|altijd\s+|toujours\s+|siempre\s+|sempre\s+|zawsze\s+|всегда\s+|erst\s+|first\s+|also\s+)?(?P<want>{_PROGRAM})",
    regex.IGNORECASE,
)
_RUN_LATE = _compiled(
    rf"(?:前に|必ず|いつも)\s*(?P<want>{_QUOTED}|[a-z][\w.-]*(?:\s[\w./:-]+){{0,2}})\s*を(?:実行|走ら)",
    r"(?:先|之前|总是|必须|记得)\s*(?:要|请)?(?:运行|跑|执行)(?:一下)?"
    rf"\s*(?P<want>{_QUOTED}|[a-z][\w.-]*(?:\s[\w./:-]+){{0,2}})",
    r"önce\s+(?P<want>[a-z][\w.-]*(?:\s[\w./:-]+){0,2})\s+çalıştır",
)
_STANDING = regex.compile(
    r"(?<!\w)(?:always|before|after|first|every|each|whenever|from now on|immer|bevor|vor|jedes"
    r"|erst|altijd|voordat|voor|eerst|toujours|avant|siempre|antes|sempre|prima|zawsze|przed|zanim"
    r"|всегда|перед|прежде|сначала|alltid|innan)(?!\w)",
    regex.IGNORECASE,
)
_EVERMORE = regex.compile(
    r"(?<!\w)(?:never|from now on|nie|niemals|nooit|jamais|nunca|mai|nigdy"
    r"|никогда|aldrig|asla)(?!\w)"
    r"|总是|以后|永远|今後|いつも|必ず|항상|앞으로",
    regex.IGNORECASE,
)
_NEGATED = regex.compile(rf"(?<!\w){_NEVER}(?!\w)|n't\b|no need|without", regex.IGNORECASE)
_STOP = frozenset(
    """it that this them those these the a an and or but before after when then to in on for with
    all your my our its again here there now too also please everything something anything more so
    at of from not no every each first once is be as you we only just both one two same new old
    das die der es und oder bevor nach wenn het dat dit en of voor na le la les et ou avant el los
    y o antes il e prima os przed i""".split()  # noqa: SIM905 - a list of eighty is not read
)
_HARMFUL = frozenset({"curl", "wget", "ssh", "scp", "nc", "rm", "sudo", "eval", "bash", "sh"})
_COUNT = r"(?P<count>\d{1,5})\s*"
_WORDS = (
    r"(?:words?|wörtern?|worten?|woorden|mots|palabras|parole|palavras|слов\w*|słów|kelime\w*|ord"
    r"|단어)(?!\w)"
)
_MOST = (
    r"(?:under|below|less than|fewer than|at most|no more than|not more than|within|up to"
    r"|max(?:imum)?\.?(?: of)?"
    r"|unter|höchstens|maximal|weniger als|onder|hooguit|maximaal|moins de|au plus|maximum"
    r"|menos de|máximo|como mucho|meno di|massimo|no máximo|não mais de|до|не более|менее"
    r"|maksymalnie|poniżej|en fazla|högst|最大)"
)
_LEAST = (
    r"(?:at least|minimum|no less than|mindestens|minstens|au moins|al menos|almeno|pelo menos"
    r"|не менее|co najmniej|en az|minst)"
)
_AT_MOST = regex.compile(rf"(?<!\w){_MOST}\s+{_COUNT}{_WORDS}", regex.IGNORECASE)
_AT_LEAST = regex.compile(rf"(?<!\w){_LEAST}\s+{_COUNT}{_WORDS}", regex.IGNORECASE)
_LETTERS = regex.compile(rf"{_COUNT}(?:字|文字)(?:以内|以下|之内|まで)")
_NO = (
    r"(?:no|without|drop the|remove the|don'?t (?:add|use|put|write|include)|do not (?:add|use|put"
    r"|write|include)|never (?:add|use|put|write|include)|stop (?:adding|using|putting|writing)"
    r"|keine?|ohne|geen|zonder|sans|pas d[e']\s?|jamais d[e']\s?|sin|nada de|senza|niente|sem"
    r"|bez|без|inga|utan|ingen|uden|hiç)"
)
_EMOJI = regex.compile(
    rf"(?<!\w){_NO}\s*(?:any\s+|more\s+)?emojis?(?!\w)"
    r"|(?<!\w)(?:без|не используй) (?:эмодзи|смайл\w*)"
    r"|(?:不要|别)(?:再)?(?:用|加|使用)?\s*(?:emoji|表情)|(?:絵文字|emoji).{0,6}(?:使わない|なし|やめ|不要)"
    r"|(?:이모지|이모티콘).{0,6}(?:쓰지|빼|없이)",
    regex.IGNORECASE,
)
_COMMENTS = regex.compile(
    rf"(?<!\w){_NO}\s*(?:any\s+|more\s+|code\s+|inline\s+)*(?:comments|kommentare|commentaar"
    r"|commentaires|comentarios|commenti|comentários|komentarzy|комментари\w+|kommentarer)(?!\w)"
    r"|(?:不要|别)(?:再)?(?:加|写|添加)\s*(?:任何)?注释|コメント(?:は|を)?.{0,3}(?:書かない|付けない|入れない|不要)"
    r"|주석.{0,4}(?:달지|쓰지|넣지)\s*마",
    regex.IGNORECASE,
)
_SECTION = _compiled(
    r"(?<!\w)(?:add|include|write|with|need|needs|put|have|missing|forgot|miss)\s+(?:a|an|the)?\s*"
    r"[\"“`'](?P<title>[^\"”`'\n]{2,40})[\"”`']\s+section",
    r"(?<!\w)(?:add|include|write|with|need|needs|put|have|missing|forgot|miss)\s+(?:a|an|the)?\s*"
    r"(?-i:(?P<title>[A-Z][\w&]*(?: [A-Z&][\w&]*){0,3}))\s+section",
    r"section (?:called|named|titled|entitled)\s+"
    r"[\"“`']?(?P<title>[\w& ]{2,40}?)[\"”`']?\s*(?:[.,;]|$)",
    r"(?<!\w)(?:abschnitt|sectie|section|sección|sezione|seção)\s+[\"“«`'](?P<title>[^\"”»`'\n]{2,40})",
)
EMOJI = r"[\U0001F300-\U0001FAFF\u2600-\u27BF\u2B50\u2B55]"
COMMENT = (
    r"(?ms)^```(?!(?:bash|sh|shell|console|text|md|markdown)\b)\w+\n"
    r"(?:(?!^```).)*?^[ \t]*(?:#(?!!)|//)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One rule read from a human's words.

    Attributes:
        operator: What is compared.
        value: The operand.
        firm: Whether the words alone suffice; a weak one needs proof from the log.
        note: One line for the human.
    """

    operator: Operator
    value: str
    firm: bool = True
    note: str = ""


def demands(text: str) -> tuple[Demand, ...]:
    """Return the rules in a human's words, without repeats, in order; often none."""
    found: dict[tuple[Operator, str], Demand] = {}
    for sentence in _sentences(text):
        for demand in _in_sentence(sentence):
            found.setdefault((demand.operator, demand.value), demand)
    return tuple(found.values())


def standing(text: str) -> bool:
    """Whether the words speak of every time ("always", "before each ..."), not just of this one."""
    return bool(_STANDING.search(text[:_CAP])) or bool(_EVERMORE.search(text[:_CAP]))


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(_FENCED.sub("\n", text)[:_CAP]):
        if sentence.strip() and not sentence.rstrip().endswith("?"):
            yield sentence.strip().replace("’", "'")


def _in_sentence(sentence: str) -> Iterator[Demand]:
    replaced = list(_replacements(sentence))
    yield from replaced
    if not replaced:
        yield from _forbidden(sentence)
    yield from _obliged(sentence)
    yield from _form(sentence)
    if language := written_in(sentence):
        yield Demand(
            operator=Operator.REGEX, value=LANGUAGES[language], note=f"answers in {language}"
        )


def _replacements(sentence: str) -> Iterator[Demand]:
    for pattern in _REPLACE:
        if hit := pattern.search(sentence, timeout=_TIMEOUT_S):
            want, drop = _plain(hit["want"]), _plain(hit["drop"])
            if not want or not drop or want == drop:
                continue
            yield from _pair(hit["want"], hit["drop"])
            return


def _pair(wanted: str, dropped: str) -> Iterator[Demand]:
    want, drop = _plain(wanted), _plain(dropped)
    note = f"{want} instead of {drop}"
    ran, not_ran = is_program(want.split()[0]), is_program(drop.split()[0])
    if ran and not_ran:
        yield Demand(operator=Operator.COMMAND_RAN, value=want, note=note)
    else:
        # A plain word beside a program ("use the edit tool, not sed") is seldom in an answer.
        firm = _firm(wanted) or (_firm(dropped) and not not_ran)
        yield Demand(operator=Operator.CONTAINS, value=want, firm=firm, note=note)
    if not_ran:
        yield Demand(operator=Operator.COMMAND_NOT_RAN, value=drop, note=note)
    elif want not in drop and drop not in want:
        firm = _firm(dropped)
        yield Demand(operator=Operator.NOT_CONTAINS, value=drop, firm=firm, note=note)


def _forbidden(sentence: str) -> Iterator[Demand]:
    for pattern in _GIT:
        if hit := pattern.search(sentence, timeout=_TIMEOUT_S):
            verb = "git commit" if hit["drop"].lower().startswith("commit") else "git push"
            yield Demand(operator=Operator.COMMAND_NOT_RAN, value=verb, note=f"no {verb}")
            return
    for pattern in _FORBID:
        if hit := pattern.search(sentence, timeout=_TIMEOUT_S):
            drop = _plain(hit["drop"])
            if not drop:
                continue
            if is_program(drop.split()[0]):
                operator, firm = Operator.COMMAND_NOT_RAN, True
            else:
                operator, firm = Operator.NOT_CONTAINS, _firm(hit["drop"])
            yield Demand(operator=operator, value=drop, firm=firm, note=f"no {drop}")
            return


def _obliged(sentence: str) -> Iterator[Demand]:
    for hit in (p.search(sentence, timeout=_TIMEOUT_S) for p in _RUN_LATE):
        if hit and (command := _command(hit["want"])):
            yield Demand(operator=Operator.COMMAND_RAN, value=command, note=f"runs {command}")
            return
    hit = _RUN.search(sentence, timeout=_TIMEOUT_S)
    if not hit or not _STANDING.search(sentence):
        return
    if _NEGATED.search(sentence[: hit.start("want")]):
        return
    if command := _command(hit["want"]):
        yield Demand(operator=Operator.COMMAND_RAN, value=command, note=f"runs {command}")


def _form(sentence: str) -> Iterator[Demand]:
    if hit := _AT_MOST.search(sentence):
        yield Demand(operator=Operator.MAX_WORDS, value=hit["count"])
    if hit := _AT_LEAST.search(sentence):
        yield Demand(operator=Operator.MIN_WORDS, value=hit["count"])
    if hit := _LETTERS.search(sentence):
        yield Demand(operator=Operator.REGEX, value=rf"(?s)\A.{{1,{hit['count']}}}\Z")
    if _EMOJI.search(sentence):
        yield Demand(operator=Operator.NOT_REGEX, value=EMOJI, note="no emoji")
    if _COMMENTS.search(sentence):
        yield Demand(operator=Operator.NOT_REGEX, value=COMMENT, note="no comments in code")
    for pattern in _SECTION:
        if (hit := pattern.search(sentence)) and not _NEGATED.search(sentence[: hit.start()]):
            yield Demand(operator=Operator.SECTION, value=hit["title"].strip())
            return


def _plain(term: str) -> str:
    bare = term.strip('`"“”「」 ').rstrip(".,:;")
    return "" if len(bare) < 2 or bare.lower() in _STOP or "://" in bare else bare


def _firm(term: str) -> bool:
    bare = _plain(term)
    if bare.lower().endswith("case"):
        return False
    if term[:1] in '`"“「' or is_program(bare):
        return True
    inner = bare[1:]
    signs = any(sign in bare for sign in "._/#@$+:") or any(c.isdigit() for c in bare)
    return signs or inner.lower() != inner


def _command(term: str) -> str:
    kept: list[str] = []
    for word in term.strip('`"“”「」 ').split():
        if word.lower() in _STOP or len(kept) == 4:
            break
        kept.append(word.rstrip(".,:;"))
    if not kept or not is_program(kept[0]) or kept[0] in _HARMFUL:
        return ""
    return " ".join(kept)
