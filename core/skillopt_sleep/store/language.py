"""A guess at the language of a short text, from its script and its commonest words.

It tells a dozen languages apart well enough to group and to report; it is no classifier.
"""

from __future__ import annotations

import re

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_COMMON = {
    "en": "the and to is it of in that not you for with this please can we do be have what why",
    "de": "der die das und nicht ist ein eine ich mit bitte auf den zu im noch wie kannst mach",
    "fr": "le la les et est pas un une que je avec pour dans des du sur ne ce vous peux",
    "es": "el la los las y no es un una que con por para de en se por favor como puedes haz",
    "pt": "o os as e não é um uma que com por para de em se faça você como isso está",
    "it": "il lo la gli e non è un una che con per di in si come puoi fai questo sono",
    "nl": "de het een en niet is ik met voor dat van op te zijn kun je wat moet maar maak",
    "pl": "i nie jest to na się z do że w jak proszę czy tego tylko dla od po zrób",
    "tr": "ve bir bu için de da ne var değil ile mi olarak lütfen daha gibi yap şu",
    "sv": "och det är inte en ett att som på för med jag kan du den av gör varför",
}
_WORDS = {name: frozenset(text.split()) for name, text in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 600


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the likeliest language of ``text``, or "" if nothing tells."""
    sample = text[:_LOOKED_AT]
    if not sample.isascii():
        for name, script in _SCRIPTS:
            if len(script.findall(sample)) * 8 >= len(sample.strip()) > 0:
                return name
    found = [word.lower() for word in _WORD.findall(sample)]
    scores = {name: sum(word in known for word in found) for name, known in _WORDS.items()}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] else ""
