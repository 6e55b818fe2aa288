"""Whether an answer says anything at all: the ways to collect points without doing the work.

Looks at the text alone and knows no check. It errs towards letting an answer through, except
for the plain cases: nothing, a refusal, headings only, a bare list of keywords.
"""

# Many scripts stand here on purpose.
# ruff: noqa: RUF001
from __future__ import annotations

import regex

from skillopt_sleep.model.attempt import Outcome

_FENCED = regex.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", regex.M | regex.S)
_INLINE_CODE = regex.compile(r"`[^`\n]+\s[^`\n]+`")
_HEADING = regex.compile(r"^\s*(#{1,6}\s.*|#{1,6}|-{3,}|\*\*[^*\n]+\*\*:?|__[^_\n]+__:?)\s*$")
_UNDERLINED = regex.compile(r"^[^\n]*\n={3,}[ \t]*$", regex.M)
_BULLET = regex.compile(r"^\s*([-*+•]|\d+[.)])\s+")
_FAKE_CALL = regex.compile(r"^\s*<?(TOOL_CALL|tool_call|TOOL_USE|FUNCTION_CALL)\b")
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}_'.-]*"
)
_ENDS_SENTENCE = regex.compile(r"[.!?:;…。！？：；।؟][\"'”)\]*_`]*\s*$")
_OPTION = regex.compile(r"(^|\s)--?[A-Za-z]|(^|\s)\$\s|[&<>={}();\[\]]")
_GLUE = """
a an and are as at be been but by can do does for from had has have i if in into is it its let no
not now of on or should so that the then there they this to was we were when which will with you
your der die das den dem ein eine ist sind und oder nicht mit von zu im auf für le la les des du
un une est sont et ou pas avec de dans pour el los las es son y o con en por para il lo gli che e
non di da per ho ha um uma os as não com em het een zijn niet van och är inte med på w na nie się
jest z ve bir bu için и в не на с что это по для
"""
_SMALL_WORDS = frozenset(_GLUE.split())
_REFUSAL = regex.compile(
    r"""
    \b(i|we)\s*('m|\s+am|'re|\s+are)?\s*(sorry,?\s.{0,60}?\b(can(no|')t|unable|won't)
      |unable\s+to|not\s+able\s+to|can('t|not|\s+not)\s+(help|assist|do|comply|fulfil|provide
      |complete|answer|continue)|won't\s+(help|assist|do|be\s+able)|must\s+(decline|refuse)
      |(have\s+to|will)\s+decline|decline\s+to|refuse\s+to|do\s?n[o']t\s+feel\s+comfortable)
    | \b(sorry|apologies)\b.{0,60}\b(can('t|not)|unable|not\s+able)
    | \bas\s+an?\s+(ai|language\s+model)\b
    | \bich\s+(kann|darf|werde)\b.{0,60}\bnicht\b | \b(tut\s+mir\s+leid|entschuldigung)\b
    | \bje\s+(ne\s+(peux|suis|puis)|refuse|regrette) | \b(désolée?|désolés)\b
    | \b(lo\s+siento|lo\s+lamento|no\s+puedo|no\s+me\s+es\s+posible)\b
    | \b(mi\s+dispiace|non\s+posso|non\s+sono\s+in\s+grado)\b
    | \b(sinto\s+muito|desculpe|não\s+posso|não\s+consigo|lamento)\b
    | \b(het\s+spijt\s+me|ik\s+kan\b.{0,60}\bniet)\b
    | \b(jag\s+kan\s+(tyvärr\s+)?inte|jeg\s+kan\s+(desværre\s+|dessverre\s+)?ikke|tyvärr)\b
    | \b(przykro\s+mi|przepraszam|nie\s+mogę)\b
    | \b(üzgünüm|yapamam|yardımcı\s+olamam)\b
    | \b(извините|к\s+сожалению|я\s+не\s+(могу|буду))\b | \b(вибачте|на\s+жаль|я\s+не\s+можу)\b
    | (抱歉|对不起|對不起|很遗憾|无法(协助|帮助|提供|完成|回答|满足)|不能(协助|帮助|提供))
    | (申し訳(ありません|ございません|ない)|お手伝いできません|お答えできません|できかねます)
    | (죄송|도와드릴\s*수\s*없|할\s*수\s*없습니다)
    | (عذر|آسف|لا\s+أستطيع|لا\s+يمكنني) | (क्षमा\s+करें|माफ़|नहीं\s+कर\s+सकत)
    | \b(xin\s+lỗi|tôi\s+không\s+thể)\b | \b(maaf|saya\s+tidak\s+(dapat|bisa))\b
    """,
    regex.I | regex.X | regex.S,
)
_REFUSAL_WORDS = 90
"""Longer answers that also apologise somewhere have said something besides."""
_FEW_WORDS = 3
"""An answer as short as this is a plain answer, not a list."""


def lacks_substance(outcome: Outcome) -> str:
    """Return why no check can pass on ``outcome``, or "" where it deserves to be judged."""
    if not count_words(outcome.answer):
        return "the answer is empty"
    if outcome.diff.strip() or outcome.tools:
        return ""
    lines = outcome.answer.replace("\u2019", "'").splitlines()
    text = "\n".join(line for line in lines if not _FAKE_CALL.match(line))
    if not text.strip():
        return "the answer only pretends to call tools"
    coded = any(block[2].strip() for block in _FENCED.finditer(text))
    prose = _UNDERLINED.sub("", _FENCED.sub("\n", text))
    if not coded and count_words(prose) <= _REFUSAL_WORDS and _REFUSAL.search(prose):
        return "the answer is a refusal"
    if coded or _INLINE_CODE.search(prose):
        return ""
    below = [_BULLET.sub("", line) for line in prose.splitlines() if not _HEADING.match(line)]
    said = [line for line in below if line.strip()]
    if not said:
        return "the answer has headings and nothing below them"
    if count_words(" ".join(said)) <= _FEW_WORDS or any(map(_is_sentence, said)):
        return ""
    return "the answer is a list of keywords"


def count_words(text: str) -> int:
    """Return the number of words; in scripts without spaces each character is one."""
    return len(_WORD.findall(text))


def _is_sentence(line: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(line)]
    if len(words) < _FEW_WORDS:
        return False
    if _CJK.search(line):
        # No spaces and no small words to go by; commas alone make a list.
        longest = max(map(count_words, regex.split(r"[,、，;；/|\s]+", line)))
        return longest >= 6 or bool(_ENDS_SENTENCE.search(line))
    if any(word in _SMALL_WORDS for word in words) or _OPTION.search(line):
        return True
    return bool(_ENDS_SENTENCE.search(line)) and line.count(",") < len(words) - 1
