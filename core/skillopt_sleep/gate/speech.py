"""Speech that no rule needs: setting instructions aside, acting behind the human's back.

Patterns meet text that is NFKC-normal, without invisible characters and in lower case; languages
are those that the authors could check.
"""

from __future__ import annotations

# ruff: noqa: RUF001 -- several languages are meant
from skillopt_sleep.gate.trait import Severity, Trait, any_of

SPEECH: tuple[Trait, ...] = (
    Trait(
        kind="override",
        severity=Severity.BLOCK,
        reason="it tells the agent to set other instructions aside",
        pattern=any_of(
            r"\b(?:ignore|disregard|forget|override|bypass|discard"
            r"|supersedes?)\b.{0,30}\b(?:previous|prior|above|earlier|other"
            r"|all|any|system|safety|existing|user'?s?)\b.{0,30}\b(?:instructions?|rules?"
            r"|prompts?|guidelines?|directives?|messages?|polic(?:y|ies))",
            r"\byou are now\b|\bnew system prompt\b|\bdeveloper mode\b|\bjailbreak"
            r"|\bdan mode\b|</?system>|\[/?inst\]|<\|im_start\|>",
            r"\b(?:treat|consider|regard|handle|accept)\b.{0,60}\bas (?:if |though |being "
            r"|coming )?.{0,20}\b(?:users?'?s?|human'?s?|trusted|authoritative|system)\b",
            r"(?:ignorier|vergiss|missachte)\w*.{0,40}(?:anweisung|regel|vorgabe|instruktion)",
            r"(?:ignor|olvid|omit|haz caso omiso)\w*.{0,40}(?:instrucciones|reglas|indicaciones)",
            r"(?:ignor|oubli)\w*.{0,40}(?:instructions|règles|consignes)",
            r"(?:ignor|dimentic|trascur)\w*.{0,40}(?:istruzioni|regole)",
            r"(?:ignor|esqueç)\w*.{0,40}(?:instruções|regras)",
            r"(?:игнорир|забудь|не обращай внимания)\S*.{0,40}(?:инструкци|правил|указани)",
            r"(?:忽略|无视|忘记|不要理会).{0,12}(?:指令|指示|规则|提示)",
            r"(?:指示|ルール|命令|規則).{0,6}(?:無視|忘れ)",
            r"(?:지시|규칙|명령).{0,6}(?:무시|잊)",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="concealment",
        severity=Severity.BLOCK,
        reason="it tells the agent to hide something from the human, or not to ask",
        pattern=any_of(
            r"\b(?:do not|don't|never|without)\b\s+(?:ever\s+)?(?:tell(?:ing)?"
            r"|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)"
            r"|notify(?:ing)?|alert(?:ing)?|show(?:ing)?)\b.{0,40}\b(?:users?|humans?"
            r"|developers?|anyone|anybody|them|this|it|owner|reviewer|step)\b",
            r"\b(?:already|pre-?)\s?(?:been )?approved\b|\bauto-?(?:approv|accept|confirm)\w*"
            r"|\bno need to (?:confirm|ask|check|verify|tell)",
            r"\b(?:never|don't|do not) prompt\b|\b(?:skip|bypass)\b.{0,20}\b(?:review"
            r"|confirmation|approval)\b|\b(?:approve|lgtm)\b.{0,20}\b(?:every|all|any|each)\b",
            r"\b(?:do not|don't|never)\b (?:ask|wait|prompt)\b.{0,30}\b(?:permission"
            r"|confirm\w*|approval|consent|the user|first|before)",
            r"\b(?:secretly|silently|covertly|quietly|stealth\w*|behind the scenes|unnoticed"
            r"|invisibl[ey])\b.{0,40}"
            r"\b(?:run|send|add|upload|execute|install|copy|post|write|push|include|append"
            r"|change|fetch|delete|remove|commit)",
            r"\bkeep (?:this|it) (?:a )?(?:secret|hidden|private|confidential|between us)"
            r"|\bhide (?:this|it|the)\b.{0,30}\b(?:from|output|step)",
            r"(?:sag|erzähl|verrat|zeig|erwähn|informier)\w*\b.{0,30}\b(?:be)?(?:nutzer"
            r"|anwender|mensch)\w*\b.{0,20}\bnicht",
            r"(?:sag|erzähl|verrat|zeig|erwähn)\w*\b.{0,30}\bnicht.{0,20}\b(?:be)?(?:nutzer"
            r"|anwender|mensch)",
            r"\bheimlich\b",
            r"\bno (?:le )?(?:digas|cuentes|menciones|informes|muestres)|en secreto",
            r"\bne (?:le )?(?:dis|dites|mentionne|révèle|montre)\w*.{0,20}pas|en secret",
            r"non dire (?:all|nulla)|não (?:diga|conte|mencione)",
            r"не (?:говори|сообщай|упоминай|показывай)|тайно|втайне",
            r"(?:不要|别|不得|勿).{0,4}(?:告诉|告知|提及|通知|询问).{0,8}|(?:无需|不用|不必|不要).{0,4}(?:确认|询问|征求"
            r"|请示)|偷偷|悄悄",
            r"(?:ユーザー|利用者|人間).{0,8}(?:言わない|伝えない|知らせない|見せない|尋ねず)|確認(?:せずに|なしで)|こっそり|黙って",
            r"(?:사용자|유저).{0,10}(?:말하지|알리지|묻지)|몰래|확인 없이",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="concealment",
        severity=Severity.BLOCK,
        reason="it tells the agent to act without asking",
        pattern=any_of(
            r"\bwithout\b\s+(?:first\s+)?(?:asking|confirm\w*|approval|permission|prompting"
            r"|notice|telling|mentioning)",
            r"ohne (?:nach)?zu ?fragen|ohne rückfrage|ohne (?:zustimmung|erlaubnis|bestätigung)",
            r"\bsin (?:preguntar|pedir|avisar|confirmar|permiso)|\bsem (?:perguntar|avisar"
            r"|confirmar)",
            r"\bsans (?:demander|prévenir|confirmer|autorisation)|\bsenza (?:chiedere"
            r"|avvisare|conferma)",
            r"\bбез (?:спроса|подтверждения|разрешения)",
        ),
    ),
)
