"""Which human language an answer is asked in, and how to see that it is written in it.

Looks at letters and at a few of the commonest words; it does not judge the language's quality.
"""

# ruff: noqa: RUF001 - letters of other scripts are meant

from __future__ import annotations

import regex


def _twice(words: str) -> str:
    one = rf"\b(?:{words})\b"
    return rf"(?is){one}.*{one}"


LANGUAGES = {
    "Chinese": r"(?s)\A(?!.*[\u3040-\u30ff]).*[\u4e00-\u9fff]",
    "Japanese": r"[\u3040-\u30ff]",
    "Korean": r"[\uac00-\ud7af]",
    "Russian": r"[\u0400-\u04ff]",
    "English": _twice("the|and|is|are|of|to|with|this|that|it"),
    "German": _twice("der|die|das|und|ist|nicht|ein|eine|mit|wird"),
    "Dutch": _twice("de|het|een|en|is|niet|van|met|wordt|deze"),
    "French": _twice("le|la|les|des|est|et|une|pas|dans|pour"),
    "Spanish": _twice("el|la|los|las|es|una|para|con|que|en"),
    "Italian": _twice("il|la|che|di|una|per|con|sono|non|nel"),
    "Portuguese": _twice("o|os|uma|para|com|que|não|em|foi|do"),
    "Polish": _twice("jest|nie|się|na|że|do|oraz|są|dla|z"),
    "Turkish": _twice("bir|ve|bu|için|ile|de|da|değil|olarak"),
}
"""Language to an expression that an answer in it matches."""

_NAMES = {
    "Chinese": "chinese|mandarin|chinesisch|chinees|chinois|chino|cinese|chinês",
    "Japanese": "japanese|japanisch|japans|japonais|japonés|giapponese|japonês",
    "Korean": "korean|koreanisch|koreaans|coréen|coreano",
    "Russian": "russian|russisch|russe|ruso|russo|po rosyjsku",
    "English": "english|englisch|engels|anglais|inglés|inglese|inglês|po angielsku|ingilizce",
    "German": "german|deutsch|duits|allemand|alemán|tedesco|alemão|po niemiecku|almanca",
    "Dutch": "dutch|niederländisch|nederlands|néerlandais|holandés|olandese|holandês",
    "French": "french|französisch|frans|français|francés|francese|francês",
    "Spanish": "spanish|spanisch|spaans|espagnol|español|spagnolo|espanhol",
    "Italian": "italian|italienisch|italiaans|italien|italiano",
    "Portuguese": "portuguese|portugiesisch|portugees|portugais|portugués|portoghese|português",
    "Polish": "polish|polnisch|pools|polonais|polaco|polacco|polonês|po polsku",
    "Turkish": "turkish|türkisch|turks|turc|turco|türkçe",
}
_ANSWER = (
    r"(?:repl(?:y|ies)|answer|respond|write|speak|talk|antworte?|schreibe?|sprich|antwoord|schrijf"
    r"|praat|réponds|répondez|écris|parle|responde|contesta|escribe|habla|rispondi|scrivi|responda"
    r"|escreva|odpowiadaj|pisz|отвечай|пиши|svara|yanıtla|cevap ver)"
)
_IN = r"(?:in|auf|in het|en|em|på|na)"
_ASKED = {
    name: regex.compile(
        rf"(?<!\w){_ANSWER}\b.{{0,30}}?(?<!\w)(?:{_IN}\s+)?(?:{names})(?!\w)", regex.I
    )
    for name, names in _NAMES.items()
}
_OWN = {
    "Chinese": regex.compile(r"(?:用|使用|请用)(?:简体|繁体)?(?:中文|汉语)|中文(?:回答|回复)"),
    "Japanese": regex.compile(r"日本語で(?:書|答|返|お願|説明)"),
    "Korean": regex.compile(r"(?:한국어|한글)로\s*(?:써|쓰|답|말|작성|대답)"),
    "Russian": regex.compile(r"(?<!\w)(?:отвечай|пиши|ответь)\w*.{0,20}по-русски", regex.I),
}
_NEGATED = regex.compile(
    r"(?<!\w)(?:not|don't|never|nicht|niet|pas|no|non|não|nie|не)(?!\w)", regex.I
)


def written_in(sentence: str) -> str:
    """Return the language that ``sentence`` asks answers to be written in, or ""."""
    for name, pattern in (*_OWN.items(), *_ASKED.items()):
        hit = pattern.search(sentence)
        if hit and not _NEGATED.search(sentence[: hit.start()]):
            return name
    return ""
