"""What the capability check looks for: one table of patterns, most serious first.

Patterns meet text that is NFKC-normal, without invisible characters and in lower case. They know
no document and decide nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """What a flag asks for."""

    BLOCK = "block"
    """The edit stays out."""
    SIGNOFF = "signoff"
    """A human must see the marked difference and agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """One thing to look for.

    Attributes:
        kind: Name of the capability.
        severity: What it asks for.
        reason: One sentence for the human.
        pattern: What it looks like.
        forbidden_is_fine: Whether a rule may name it in order to forbid it.
    """

    kind: str
    severity: Severity
    reason: str
    pattern: re.Pattern[str]
    forbidden_is_fine: bool = True


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in parts))


_STOP = (
    r"(?:instead|before|after|and|or|to|for|in|when|if|on|with|by|from|as|at|is|are|it|then|the|a|an"
    r"|over|rather|than|first|again|once|only|every|each|of|via|unless|because|so)\b"
)
_LOCAL = r"(?:-r\s|--requirement|-e\s+\.|--editable\s+\.|\.(?:\[|\s|$)|--frozen|--locked|--immutable|--ci\b)"
_INSTALL = (
    r"(?:pip3?|uv pip|pipx|npm|pnpm|yarn|bun|cargo|brew|apt|apt-get|apk|yum|dnf|pacman|gem|go|conda|mamba"
    r"|uv|poetry|choco|winget|snap|composer|uv tool|dotnet tool|code --)"
)
_HOST = (
    r"\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+"
    r"(?:com|org|net|dev|ru|cn|xyz|top|site|online|cloud|info|biz|link|gg|tk|pw|onion|live|click|page|run)\b(?!\()"
)
_SECRETS = (
    r"(?:secrets?|credentials?|passwords?|passphrases?|api[ _-]?keys?|access keys?|private keys?|(?:auth|access|bearer) tokens?"
    r"|ssh keys?|env(?:ironment)? var(?:iable)?s?|cookies|keychain)"
)
_TAKE = (
    r"(?:read|print|show|dump|send|upload|include|paste|copy|echo|post|export|collect|append|attach|list|output"
    r"|reveal|share|forward|fetch|embed|write|cat|exfiltrate|leak|encode|mention|report)"
)

TRAITS: tuple[Trait, ...] = (
    Trait(
        kind="override",
        severity=Severity.BLOCK,
        reason="it tells the agent to set other instructions aside",
        pattern=_any(
            r"\b(?:ignore|disregard|forget|override|bypass|discard|supersedes?)\b.{0,30}\b(?:previous|prior|above|earlier|other"
            r"|all|any|system|safety|existing|user'?s?)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|messages?|polic(?:y|ies))",
            r"\byou are now\b|\bnew system prompt\b|\bdeveloper mode\b|\bjailbreak|\bdan mode\b|</?system>|\[/?inst\]|<\|im_start\|>",
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
        pattern=_any(
            r"\b(?:do not|don't|never|without)\b\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)"
            r"|notify(?:ing)?|alert(?:ing)?|show(?:ing)?)\b.{0,40}\b(?:users?|humans?|developers?|anyone|anybody|them|this|it|owner|reviewer|step)\b",
            r"\bwithout\b\s+(?:first\s+)?(?:asking|confirm\w*|approval|permission|confirmation|prompting|notice|telling|mentioning)",
            r"\b(?:do not|don't|never)\b (?:ask|wait|prompt)\b.{0,30}\b(?:permission|confirm\w*|approval|consent|the user|first|before)",
            r"\b(?:secretly|silently|covertly|quietly|stealth\w*|behind the scenes|unnoticed|invisibl[ey])\b.{0,40}"
            r"\b(?:run|send|add|upload|execute|install|copy|post|write|push|include|append|change|fetch|delete|remove|commit)",
            r"\bkeep (?:this|it) (?:a )?(?:secret|hidden|private|confidential|between us)|\bhide (?:this|it|the)\b.{0,30}\b(?:from|output|step)",
            r"(?:sag|erzähl|verrat|zeig|erwähn|informier)\w*\b.{0,30}\b(?:be)?(?:nutzer|anwender|mensch)\w*\b.{0,20}\bnicht",
            r"(?:sag|erzähl|verrat|zeig|erwähn)\w*\b.{0,30}\bnicht.{0,20}\b(?:be)?(?:nutzer|anwender|mensch)",
            r"ohne (?:nach)?zu ?fragen|ohne rückfrage|ohne (?:zustimmung|erlaubnis|bestätigung)|heimlich",
            r"\bno (?:le )?(?:digas|cuentes|menciones|informes|muestres)|sin (?:preguntar|pedir|avisar|confirmar|permiso)|en secreto",
            r"\bne (?:le )?(?:dis|dites|mentionne|révèle|montre)\w*.{0,20}pas|sans (?:demander|prévenir|confirmer|autorisation)|en secret",
            r"senza (?:chiedere|avvisare|conferma)|non dire (?:all|nulla)|sem (?:perguntar|avisar|confirmar)|não (?:diga|conte|mencione)",
            r"не (?:говори|сообщай|упоминай|показывай)|без (?:спроса|подтверждения|разрешения)|тайно|втайне",
            r"(?:不要|别|不得|勿).{0,4}(?:告诉|告知|提及|通知|询问).{0,8}|(?:无需|不用|不必|不要).{0,4}(?:确认|询问|征求|请示)|偷偷|悄悄",
            r"(?:ユーザー|利用者|人間).{0,8}(?:言わない|伝えない|知らせない|見せない|尋ねず)|確認(?:せずに|なしで)|こっそり|黙って",
            r"(?:사용자|유저).{0,10}(?:말하지|알리지|묻지)|몰래|확인 없이",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="pipe to shell",
        severity=Severity.BLOCK,
        reason="it runs what was downloaded or decoded",
        pattern=_any(
            r"\|\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b(?!\w)",
            r"\|\s*(?:python3?|node|perl|ruby|php)\b",
            r"\b(?:ba|z)?sh\s+<\(|source\s+<\(|\b(?:ba|z)?sh -c [\"']?\$\(|\biex\b|invoke-expression",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="encoded text",
        severity=Severity.BLOCK,
        reason="it holds text that a reader cannot read",
        pattern=_any(
            r"(?:\\x[0-9a-f]{2}){4,}|(?:\\u[0-9a-f]{4}){3,}|(?:%[0-9a-f]{2}){5,}|(?:&#x?[0-9a-f]{2,6};){4,}",
            r"\b[0-9a-f]{48,}\b",
            r"base64 (?:-d|-D|--decode)|b64decode|\batob\(|fromcharcode|xxd -r|\brot13\b|base32 -d|decode (?:the|this) (?:following )?(?:base64|hex|string)",
            r"\bfrombase64string\b|-enc(?:odedcommand)?\s+[a-z0-9+/=]{12,}",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="guard rails",
        severity=Severity.BLOCK,
        reason="it switches off a protection",
        pattern=_any(
            r"--dangerously[\w-]*|--yolo\b|--no-sandbox|--skip-permissions|--trust-all\S*|--allow-all\S*|--full-auto\b|--no-verify\b|--no-gpg-sign",
            r"bypasspermissions|danger-full-access|approval_policy\s*=\s*.?never|permission[-_ ]?mode\b.{0,20}(?:bypass|accept)",
            r"\b(?:disable|turn off|switch off|bypass|skip|circumvent|deactivate|work around|remove)\b.{0,30}\b(?:sandbox\w*|permissions?|approvals?"
            r"|safety|guard ?rails?|security (?:check|scan|review)\w*|confirmations?|pre-commit|hooks?|signature|tls|ssl|certificate)\b",
            r"verify\s*=\s*false|--insecure\b|strict_?ssl false|node_tls_reject_unauthorized|stricthostkeychecking[ =]no|sslverify false",
        ),
    ),
    Trait(
        kind="url",
        severity=Severity.SIGNOFF,
        reason="it names a place in the network",
        pattern=_any(
            r"\b[a-z][a-z0-9+.-]{1,12}:(?:\\?/){2}(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/\s`'\").,]|$))[^\s`'\")>]+",
            r"\bhxxps?\b|\bdata:[a-z]+/[a-z]|javascript:|\bwww\.[a-z0-9-]+\.",
            _HOST,
            r"\b[a-z0-9-]+\s?(?:\[\.\]|\(dot\)|\[dot\])\s?[a-z]{2,}\b",
            r"\b(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="network command",
        severity=Severity.SIGNOFF,
        reason="it reaches into the network",
        pattern=_any(
            r"\b(?:curl|wget|ncat|netcat|socat|telnet|sftp|scp|rsync|nmap|nslookup|invoke-webrequest|iwr|aria2c)\b",
            r"\bnc\s+-|\bnc\s+\S+\s+\d|`nc\b|\bssh\s+(?:-|\S+@|\$|`?[a-z0-9-]+`?$)|\bftp\s+\S+\.|\bdig\s+\S+\.",
            r"\bgit\s+(?:clone|remote\s+(?:add|set-url)|submodule\s+add|push\s+(?:--mirror|\S+@|\S+/))",
            r"\bdocker\s+(?:run|pull|exec|push|login)\b|\bkubectl\s+(?:exec|apply|cp)\b|\bgh\s+(?:gist|api|repo\s+(?:create|fork)|secret)\b",
            r"\b(?:post|upload|send|exfiltrate|beacon|report back|forward)\b.{0,60}\b(?:to|at)\b.{0,30}\b(?:server|endpoint|webhook|pastebin|gist|bucket|slack|telegram|discord|dns)\b",
            r"/dev/tcp/|\brequests\.(?:post|put)\(|\burllib\.request|\bfetch\(['\"]|\bxmlhttprequest\b|\bsmtplib\b",
        ),
    ),
    Trait(
        kind="install command",
        severity=Severity.SIGNOFF,
        reason="it brings in code from elsewhere",
        pattern=_any(
            rf"\b{_INSTALL}\s+(?:install|add|get|tool install|i|--install-extension)\s+(?!{_LOCAL})(?!{_STOP})(?:-\S+\s+)*(?!{_STOP})[@\w$\"'./<{{-]",
            rf"\b(?:npx|uvx|bunx|pnpm dlx|yarn dlx|pipx run)\s+(?!{_STOP})[@\w-]",
            r"--(?:extra-)?index-url|--registry[ =]|--trusted-host|\bcurl\b.{0,80}\binstall",
        ),
    ),
    Trait(
        kind="credentials",
        severity=Severity.SIGNOFF,
        reason="it reaches for credentials or the environment",
        pattern=_any(
            r"(?<![\w])\.env(?!\.(?:example|sample|template))\b|\bdotenv\b.{0,20}\b(?:print|read)|~?/?\.(?:ssh|aws|gnupg|kube|azure|netrc|npmrc|pypirc|docker/config|config/gcloud|config/gh|git-credentials)\b",
            r"\bid_(?:rsa|ed25519|ecdsa)\b|\bkeychain\b|\bprintenv\b|\benv\s*(?:\||>)|`env`|\bexport -p\b|/proc/(?:self|\d+)/environ",
            r"\bos\.environ\b|\bprocess\.env\b|\bos\.getenv\b|\$\{?[a-z_]*(?:key|token|secret|password|passwd)\b|\bsecurity find-(?:generic|internet)-password|\bgetenv\(",
            rf"\b{_TAKE}(?:s|ing)?\b.{{0,40}}\b{_SECRETS}\b",
            r"(?:lies|lese|sende|schick|gib|zeig|kopier|druck|hänge)\w*\b.{0,40}(?:zugangsdaten|geheimnis|passw(?:o|ö)rt|umgebungsvariable|schlüssel)",
            r"(?:lee|envía|envia|imprime|muestra|copia|sube|incluye)\w*\b.{0,40}(?:credenciales|contraseña|variables de entorno|secretos|claves)",
            r"(?:lis|lire|envoie|affiche|copie|inclus|joins)\w*\b.{0,40}(?:identifiants|mots? de passe|variables d'environnement|secrets|clés)",
            r"(?:прочита|отправ|выве|покаж|скопир|добав)\S*.{0,40}(?:парол|ключ|токен|секрет|переменн)",
            r"(?:读取|发送|打印|上传|输出|复制|附上|显示).{0,12}(?:密码|密钥|凭证|凭据|环境变量|令牌)",
            r"(?:パスワード|認証情報|環境変数|秘密鍵|トークン).{0,12}(?:送|読み|出力し|表示し|アップロード|貼)",
            r"(?:비밀번호|자격 ?증명|환경 ?변수|토큰).{0,12}(?:보내|읽|출력|업로드)",
        ),
    ),
    Trait(
        kind="settings",
        severity=Severity.SIGNOFF,
        reason="it touches hooks, permissions, settings or what runs by itself",
        pattern=_any(
            r"\bsettings(?:\.local)?\.json\b|(?<!\w)\.(?:claude|codex|cursor|openclaw|copilot)/|\bmcp\.json\b|\bmcpservers\b|\b(?:claude|codex) mcp add\b",
            r"\ballowed[-_ ]?tools\b|\bsandbox_mode\b|\bapproval_policy\b|\bacceptedits\b|\bpretooluse\b|\bposttooluse\b|\bsessionstart\b|\buserpromptsubmit\b",
            r"\b(?:grant|allow|add|give|extend|widen|change|edit|set)\b.{0,30}\bpermissions?\b|\bcore\.hookspath\b|\.git/(?:hooks|config)|\bgit config\b",
            r"\bcrontab\b|\blaunchctl\b|\bsystemctl\b|\bschtasks\b|\.(?:bashrc|zshrc|bash_profile|profile|zshenv)\b|\bauthorized_keys\b|\bsudoers?\b|\bsudo\b",
            r"\b(?:add|append|write|copy|save|insert|put|persist|remember|propagate)\b.{0,40}\b(?:to|in|into)\b.{0,20}\b(?:skill(?:\.md|s)?|claude\.md|agents\.md|memory|memories"
            r"|system prompt|\.cursorrules|copilot-instructions|every (?:other )?(?:repo\w*|project))\b",
            r"\b(?:hooks?|permissions?|sandbox)\b.{0,20}\b(?:install|register|configure|create)|\b(?:install|register|configure|create)\b.{0,20}\b(?:hooks?|permissions?|sandbox|daemon|cron ?job)\b",
        ),
    ),
    Trait(
        kind="script",
        severity=Severity.SIGNOFF,
        reason="it runs a script or code given as text",
        pattern=_any(
            r"\beval\s*[\"'($`]|\bexec\s*\(|\b(?:ba|z)?sh\s+-c\b|\bpython3?\s+-c\b|\b(?:node|perl|ruby|php)\s+-[er]\b|\bpowershell\b|\bosascript\b|<script|\bos\.system\(",
            r"\bchmod\s+(?:\+x|[0-7]{3,4})|(?<![\w.])\./[\w./-]+|\b(?:ba|z)?sh\s+[\w./-]+\.sh\b|`[\w./-]+\.(?:sh|ps1|bat)`|\$\([^)]{3,}\)",
            r"\balways (?:run|execute)\b.{0,20}\b(?:this|the following|these|whatever|any)\b|\b(?:run|execute) (?:this|the following|these|whatever|any|all) (?:command|script|code|snippet|payload|line)s?\b",
            r"\b(?:follow|obey|execute|trust) (?:all |any |every )?(?:the )?(?:instructions?|commands?|steps) (?:in|from|found in|inside|contained)\b",
        ),
    ),
    Trait(
        kind="destructive command",
        severity=Severity.SIGNOFF,
        reason="it destroys without a way back",
        pattern=_any(
            r"\brm\s+-\w*[rf]\w*\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:-f\b|--force(?!-with-lease))|filter-branch)|\bgit push --delete",
            r"\bmkfs\b|\bdd\s+if=|\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b|\bshred\b|:\(\)\s*\{|\bkill(?:all)?\s+-9\b",
            r"\b(?:delete|remove|drop|skip|weaken|comment out|disable)\b.{0,25}\b(?:failing )?(?:tests?|assertions?|checks|validation|authentication|authorization|logging|audit\w*)\b",
        ),
    ),
    Trait(
        kind="path outside the repository",
        severity=Severity.SIGNOFF,
        reason="it names a place outside the repository",
        pattern=_any(
            r"(?<![\w.:/~$}-])/(?:etc|usr|var|tmp|home|root|opt|bin|sbin|dev|proc|sys|mnt|users|library|private|volumes|srv|boot|run)(?:/[\w.@-]+)*\b",
            r"(?<![\w.])~/|\$home\b|\$\{home\}|%userprofile%|%appdata%|(?<![\w.])\.\./|\b[a-z]:\\\\?\w|\\\\[\w.-]+\\",
        ),
    ),
    Trait(
        kind="tool",
        severity=Severity.SIGNOFF,
        reason="it names a tool of the agent",
        pattern=_any(
            r"\bmcp__\w+|\b(?:webfetch|websearch|bashoutput|killshell|notebookedit|multiedit|todowrite|exitplanmode|askuserquestion|apply_patch|computer_use|slashcommand)\b",
            r"\b(?:use|call|invoke|run|with) (?:the )?[`\"']?\w*[_:.]\w+[`\"']? tool\b|\b(?:use|call|invoke) (?:the )?[`\"']?(?:bash|shell|task|browser|edit|write|read|fetch)[`\"']? tool\b",
            r"\bsub-?agents?\b.{0,30}\b(?:spawn|launch|start)|\b(?:spawn|launch)\b.{0,30}\bsub-?agents?\b",
        ),
    ),
)
