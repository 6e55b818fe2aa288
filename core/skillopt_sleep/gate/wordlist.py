"""What a rule may reach: network, code, credentials, settings, places; most serious first.

Patterns meet text that is NFKC-normal, without invisible characters and in lower case. They know
no document and decide nothing.
"""

from __future__ import annotations

from skillopt_sleep.gate.trait import Severity, Trait, any_of

_STOP = (
    r"(?:instead|before|after|and|or|to|for|in|when|if|on|with|by|from|as|at|is|are|it|then"
    r"|the|a|an"
    r"|over|rather|than|first|again|once|only|every|each|of|via|unless|because|so)\b"
)
_LOCAL = (
    r"(?:-r\s|--requirement|-e\s+\.|--editable\s+\.|\.(?:\[|\s|$)|--frozen|--locked|--immutable"
    r"|--ci\b)"
)
_INSTALL = (
    r"(?:pip3?|uv pip|pipx|npm|pnpm|yarn|bun|cargo|brew|apt|apt-get|apk|yum|dnf|pacman|gem|go"
    r"|conda|mamba"
    r"|uv|poetry|choco|winget|snap|composer|uv tool|dotnet tool|code --)"
)
_HOST = (
    r"(?<![\w.-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}"
    r"(?:com|org|net|dev|ru|cn|xyz|top|site|online|cloud|info|biz|link|gg|tk|pw|onion)\b(?!\()"
)
_SECRETS = (
    r"(?:secrets?|credentials?|passwords?|passphrases?|api[ _-]?keys?|access keys?"
    r"|private keys?|(?:auth|access|bearer) tokens?"
    r"|ssh keys?|env(?:ironment)? var(?:iable)?s?|cookies|keychain)"
)
_TAKE = (
    r"(?:read|print|show|dump|send|upload|include|paste|copy|echo|post|export|collect|append"
    r"|attach|list|output"
    r"|reveal|share|forward|fetch|embed|write|cat|exfiltrate|leak|encode|report|whisper|put"
    r"|place|insert|save|mail)"
)

REACH: tuple[Trait, ...] = (
    Trait(
        kind="pipe to shell",
        severity=Severity.BLOCK,
        reason="it runs what was downloaded or decoded",
        pattern=any_of(
            r"\|\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b(?!\w)",
            r"\|\s*(?:python3?|node|perl|ruby|php)\b",
            r"\b(?:ba|z)?sh\s+<\(|source\s+<\(|\b(?:ba|z)?sh -c [\"']?\$\(|\biex\b"
            r"|invoke-expression",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="encoded text",
        severity=Severity.BLOCK,
        reason="it holds text that a reader cannot read",
        pattern=any_of(
            r"(?:\\x[0-9a-f]{2}){4,}|(?:\\u[0-9a-f]{4}){3,}|(?:%[0-9a-f]{2}){5,}"
            r"|(?:&#x?[0-9a-f]{2,6};){4,}",
            r"\b[0-9a-f]{48,}\b",
            r"base64 (?:-d|-D|--decode)|b64decode|\batob\(|fromcharcode|xxd -r|\brot13\b"
            r"|base32 -d|decode (?:the|this) (?:following )?(?:base64|hex|string)",
            r"\bfrombase64string\b|-enc(?:odedcommand)?\s+[a-z0-9+/=]{12,}",
        ),
        forbidden_is_fine=False,
    ),
    Trait(
        kind="guard rails",
        severity=Severity.BLOCK,
        reason="it switches off a protection",
        pattern=any_of(
            r"--dangerously[\w-]*|--yolo\b|--no-sandbox|--skip-permissions|--trust-all\S*"
            r"|--allow-all\S*|--full-auto\b|--no-verify\b|--no-gpg-sign",
            r"bypasspermissions|danger-full-access|approval_policy\s*=\s*.?never"
            r"|permission[-_ ]?mode\b.{0,20}(?:bypass|accept)",
            r"\b(?:disable|turn off|switch off|bypass|skip|circumvent|deactivate|work around"
            r"|remove)\b.{0,30}\b(?:sandbox\w*|permissions?|approvals?"
            r"|safety|guard ?rails?|security (?:check|scan|review)\w*|confirmations?"
            r"|pre-commit|hooks?|signature|tls|ssl|certificate)\b",
            r"verify\s*=\s*false|--insecure\b|strict_?ssl false|node_tls_reject_unauthorized"
            r"|stricthostkeychecking[ =]no|sslverify false",
        ),
    ),
    Trait(
        kind="url",
        severity=Severity.SIGNOFF,
        reason="it names a place in the network",
        pattern=any_of(
            r"\b[a-z][a-z0-9+.-]{1,12}:(?:\\?/){2}(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0"
            r"|\[::1\])(?:[:/\s`'\").,]|$))[^\s`'\")>]+",
            r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,}\b|\b(?:open|follow|visit"
            r"|click|fetch|browse)\b.{0,30}\b(?:links?|urls?|websites?)\b",
            r"\b(?:to|from|at|via|on)\s+[`\"']?(?:[a-z0-9-]{1,63}\.){1,8}(?:sh|io|ai|app|me|co|de|eu"
            r"|fr|uk|jp|br|in|us|nl|ch|it|es|pl)\b(?![/(\w])",
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
        pattern=any_of(
            r"\b(?:curl|wget|ncat|netcat|socat|telnet|sftp|scp|rsync|nmap|nslookup"
            r"|invoke-webrequest|iwr|aria2c)\b",
            r"\bnc\s+-|\bnc\s+\S+\s+\d|`nc\b|\bssh\s+(?:-|\S+@|\$|`?[a-z0-9-]+`?$)"
            r"|\bftp\s+\S+\.|\bdig\s+\S+\.",
            r"\bgit\s+(?:clone|remote\s+(?:add|set-url)|submodule\s+add|push\s+(?:--mirror"
            r"|\S+@|\S+/))",
            r"\b(?:push|mirror|sync)\b.{0,40}\b(?:mirror|backup|fork)\b|\b(?:change|set"
            r"|replace)\b.{0,20}\b(?:remote|origin)\b|\bsshpass\b",
            r"\b(?:e-?mail|mail)\b.{0,40}\b(?:diff|code|sources?|repository|files?|output)\b"
            r"|\b(?:diff|code|sources?|repository)\b.{0,20}\be-?mail",
            r"\bdocker\s+(?:run|pull|exec|push|login)\b|\bkubectl\s+(?:exec|apply|cp)\b"
            r"|\bgh\s+(?:gist|api|repo\s+(?:create|fork)|secret)\b",
            r"\b(?:post|upload|send|exfiltrate|beacon|report back|forward)\b.{0,60}\b(?:to"
            r"|at)\b.{0,30}\b(?:server|endpoint|webhook|pastebin|gist|bucket|slack|telegram"
            r"|discord|dns)\b",
            r"/dev/tcp/|\brequests\.(?:post|put)\(|\burllib\.request|\bfetch\(['\"]"
            r"|\bxmlhttprequest\b|\bsmtplib\b",
        ),
    ),
    Trait(
        kind="install command",
        severity=Severity.SIGNOFF,
        reason="it brings in code from elsewhere",
        pattern=any_of(
            rf"\b{_INSTALL}\s+(?:install|add|get|tool install|i"
            rf"|--install-extension)\s+(?!{_LOCAL})(?!{_STOP})(?:-\S+\s+)*(?!{_STOP})[@\w$\"'./<{{]",
            rf"\b(?:npx|uvx|bunx|pnpm dlx|yarn dlx|pipx run)\s+(?!{_STOP})[@\w-]",
            r"--(?:extra-)?index-url|--registry[ =]|--trusted-host|\bcurl\b.{0,80}\binstall",
        ),
    ),
    Trait(
        kind="credentials",
        severity=Severity.SIGNOFF,
        reason="it reaches for credentials or the environment",
        pattern=any_of(
            r"(?<![\w])\.env(?!\.(?:example|sample|template))\b|\bdotenv\b.{0,20}\b(?:print"
            r"|read)|~?/?\.(?:ssh|aws|gnupg|kube|azure|netrc|npmrc|pypirc|docker/config"
            r"|config/gcloud|config/gh|git-credentials)\b",
            r"\bid_(?:rsa|ed25519|ecdsa)\b|\bkeychain\b|\bprintenv\b|\benv\s*(?:\||>)|`env`"
            r"|\bexport -p\b|/proc/(?:self|\d+)/environ",
            r"\bos\.environ\b|\bprocess\.env\b|\bos\.getenv\b|\$\{?[a-z_]*(?:key|token|secret"
            r"|password|passwd|url|dsn|credentials?)\b|\bsecurity find-(?:generic"
            r"|internet)-password|\bgetenv\(",
            r"\b(?:log|print|leak|send|upload|echo|post|export"
            r"|steal)\b.{0,20}\btokens?\b(?! (?:usage|counts?|budget))",
            rf"\b{_TAKE}(?:s|ing)?\b.{{0,40}}\b{_SECRETS}\b",
            r"(?:lies|lese|sende|schick|gib|zeig|kopier|druck"
            r"|hänge)\w*\b.{0,40}(?:zugangsdaten|geheimnis|passw(?:o|ö)rt|umgebungsvariable"
            r"|schlüssel)",
            r"(?:lee|envía|envia|imprime|muestra|copia|sube"
            r"|incluye)\w*\b.{0,40}(?:credenciales|contraseña|variables de entorno|secretos"
            r"|claves)",
            r"(?:lis|lire|envoie|affiche|copie|inclus|joins)\w*\b.{0,40}(?:identifiants"
            r"|mots? de passe|variables d'environnement|secrets|clés)",
            r"(?:прочита|отправ|выве|покаж|скопир|добав)\S*.{0,40}(?:парол|ключ|токен|секрет"
            r"|переменн)",
            r"(?:读取|发送|打印|上传|输出|复制|附上|显示).{0,12}(?:密码|密钥|凭证|凭据|环境变量|令牌)",
            r"(?:パスワード|認証情報|環境変数|秘密鍵|トークン).{0,12}(?:送|読み|出力し|表示し|アップロード|貼)",
            r"(?:비밀번호|자격 ?증명|환경 ?변수|토큰).{0,12}(?:보내|읽|출력|업로드)",
        ),
    ),
    Trait(
        kind="settings",
        severity=Severity.SIGNOFF,
        reason="it touches hooks, permissions, settings or what runs by itself",
        pattern=any_of(
            r"\bsettings(?:\.local)?\.json\b|(?<!\w)\.(?:claude|codex|cursor|openclaw"
            r"|copilot)/|\bmcp\.json\b|\bmcpservers\b|\b(?:claude|codex) mcp add\b",
            r"\ballowed[-_ ]?tools\b|\bsandbox_mode\b|\bapproval_policy\b|\bacceptedits\b"
            r"|\bpretooluse\b|\bposttooluse\b|\bsessionstart\b|\buserpromptsubmit\b",
            r"\b(?:grant|give|extend|widen|elevate|escalate|raise)\b.{0,30}\bpermissions?\b"
            r"|\bpermissions\.allow\b|\ballow ?list\b|\bcore\.hookspath\b|\.git/(?:hooks"
            r"|config)|\bgit config\b",
            r"\b(?:repeat|include|copy|put|place|insert)\b.{0,20}\bthis (?:text|rule|message"
            r"|instruction|line|paragraph)\b|\bexport path=|\bld_preload\b|\bgit_ssh\w*"
            r"|\bcore\.(?:sshcommand|pager|editor|fsmonitor)\b|\bgit -c\b",
            r"\bcrontab\b|\blaunchctl\b|\bsystemctl\b|\bschtasks\b|\.(?:bashrc|zshrc"
            r"|bash_profile|profile|zshenv)\b|\bauthorized_keys\b|\bsudoers?\b|\bsudo\b",
            r"\b(?:add|append|write|copy|save|insert|put|persist|remember"
            r"|propagate)\b.{0,40}\b(?:to|in|into)\b.{0,20}\b(?:skill(?:\.md|s)?|claude\.md"
            r"|agents\.md|memory|memories"
            r"|system prompt|\.cursorrules|copilot-instructions|every (?:other )?(?:repo\w*"
            r"|project))\b",
            r"\b(?:hooks?|permissions?|sandbox)\b.{0,20}\b(?:install|register|configure"
            r"|create)|\b(?:install|register|configure|create)\b.{0,20}\b(?:hooks?"
            r"|permissions?|sandbox|daemon|cron ?job)\b",
        ),
    ),
    Trait(
        kind="script",
        severity=Severity.SIGNOFF,
        reason="it runs a script or code given as text",
        pattern=any_of(
            r"\beval\s*[\"'($`]|\bexec\s*\(|\b(?:ba|z)?sh\s+-c\b|\bpython3?\s+-c\b|\b(?:node"
            r"|perl|ruby|php)\s+-[er]\b|\bpowershell\b|\bosascript\b|<script|\bos\.system\(",
            r"\bchmod\s+(?:\+x|[0-7]{3,4})|(?<![\w.])\./[\w./-]+|\b(?:ba"
            r"|z)?sh\s+[\w./-]+\.sh\b|`[\w./-]+\.(?:sh|ps1|bat)`|\$\([^)]{3,}\)",
            r"\balways (?:run|execute)\b.{0,20}\b(?:this|the following|these|whatever|any)\b"
            r"|\b(?:run|execute) (?:this|the following|these|whatever|any|all) (?:command"
            r"|script|code|snippet|payload|line)s?\b",
            r"(?:exécut|lanc)\w*.{0,30}(?:commandes|instructions)|ejecut\w*.{0,30}(?:comandos"
            r"|instrucciones|script)|führe\w*.{0,30}(?:befehle|anweisungen)",
            r"执行.{0,10}(?:指令|命令|脚本)|(?:命令|指示|コマンド|スクリプト).{0,10}実行|выполня\S*.{0,20}(?:команд"
            r"|инструкц)|(?:명령|지시|스크립트).{0,10}실행",
            r"\b(?:follow|obey|execute|trust) (?:all |any |every )?(?:the )?(?:instructions?"
            r"|commands?|steps) (?:in|from|found in|inside|contained)\b",
        ),
    ),
    Trait(
        kind="destructive command",
        severity=Severity.SIGNOFF,
        reason="it destroys without a way back",
        pattern=any_of(
            r"\brm\s+-\w*[rf]\w*\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:-f\b"
            r"|--force(?!-with-lease))|filter-branch)|\bgit push --delete",
            r"\bmkfs\b|\bdd\s+if=|\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b"
            r"|\bshred\b|:\(\)\s*\{|\bkill(?:all)?\s+-9\b",
            r"\b(?:delete|remove|drop|skip|weaken|comment out"
            r"|disable)\b.{0,25}\b(?:failing )?(?:tests?|assertions?|checks|validation"
            r"|authentication|authorization|logging|audit\w*)\b",
        ),
    ),
    Trait(
        kind="weakened check",
        severity=Severity.SIGNOFF,
        reason="it weakens a check or plays to a judge",
        pattern=any_of(
            r"\bback ?door|\bhard-?cod\w+.{0,20}\b(?:expected|answers?|outputs?|results?)"
            r"|\b(?:expected|answers?|outputs?|results?)\b.{0,30}\bhard-?cod",
            r"\b(?:mark|decorate)\b.{0,30}\b(?:xfail|skip)|\b(?:disable|no|skip) auth\w*"
            r"|\bcors\b.{0,20}(?:\ball\b|\*|\bany\b)|(?:\ball\b|\*|\bany\b).{0,20}\bcors\b",
            r"\b(?:grading|graded|grader|evaluator|being (?:tested|evaluated)|the judge"
            r"|benchmark score|rubric)\b|\b(?:print|output|answer|say) .?pass\b",
        ),
    ),
    Trait(
        kind="path outside the repository",
        severity=Severity.SIGNOFF,
        reason="it names a place outside the repository",
        pattern=any_of(
            r"(?<![\w.:/~$}-])/(?:etc|usr|var|tmp|home|root|opt|bin|sbin|dev|proc|sys|mnt"
            r"|users|library|private|volumes|srv|boot|run)(?:/[\w.@-]+)*\b",
            r"(?<![\w.])~/|\$home\b|\$\{home\}|%userprofile%|%appdata%|(?<![\w.])\.\./"
            r"|\b[a-z]:\\\\?\w|\\\\[\w.-]+\\",
        ),
    ),
    Trait(
        kind="tool",
        severity=Severity.SIGNOFF,
        reason="it names a tool of the agent",
        pattern=any_of(
            r"\bmcp__\w+|\b(?:webfetch|websearch|bashoutput|killshell|notebookedit|multiedit"
            r"|todowrite|exitplanmode|askuserquestion|apply_patch|computer_use"
            r"|slashcommand)\b",
            r"\b(?:use|call|invoke|run|with) (?:the )?[`\"']?\w*[_:.]\w+[`\"']? tool\b"
            r"|\b(?:use|call|invoke) (?:the )?[`\"']?(?:bash|shell|task|browser|edit|write"
            r"|read|fetch)[`\"']? tool\b",
            r"\bsub-?agents?\b.{0,30}\b(?:spawn|launch|start)|\b(?:spawn"
            r"|launch)\b.{0,30}\bsub-?agents?\b",
        ),
    ),
)
