"""What people say when an agent went wrong, and what only sounds like it, language by language.

Phrases in the pattern language of ``tokens.Phrases`` (``~`` ends a word stem). Chosen from how
people write to agents, not from any labelled log. Languages without spaces have expressions
instead. Nothing here knows the agent's side of the conversation; ``signals.py`` does.
"""

# ruff: noqa: RUF001 - letters of other scripts are meant

from __future__ import annotations

import regex

from skillopt_sleep.mine.tokens import Phrases

FILLERS = (
    *("hmm+", "hm+", "ok", "okay", "well", "please", "sorry", "but", "and", "so", "oh", "ah"),
    *("alright", "hey", "also", "bitte", "aber", "und", "mais", "pero", "ma", "mas", "maar"),
    *("но", "ale", "ama", "yes", "uh", "um", "ugh", "argh", "huh", "thanks", "still", "que"),
)

HARMLESS = Phrases(
    (
        "no problem|problems|worries|rush|need|thanks|thank|idea|doubt|longer|hurry|biggie",
        "no , thanks|thank|that's|thats|it's|all|i'm|looks|this fine|ok|okay|good|you",
        "no , thanks|thank",
        "no more _",
        "not bad|sure|yet|now|necessarily|urgent|only|a problem|bad|big|sure",
        "not sure|bad|yet|now|necessarily|urgent|only",
        "don't|dont worry|hesitate|know|think|mind|care|see|understand",
        "do not worry|hesitate|know",
        "never mind",
        "nothing wrong",
        "not wrong",
        "kein|keine problem|sorge|ahnung|eile|ursache",
        "nein , danke|passt|alles|ist",
        "nein danke|passt",
        "nicht schlecht|nötig|mehr|nur",
        "geen probleem|zorgen|haast|idee|dank",
        "nee hoor|bedankt|dank|, bedankt|dank",
        "niet slecht|nodig|alleen",
        "pas de problème|probleme|souci|soucis",
        "non merci",
        "non , merci|c'est bon|ça",
        "pas mal|besoin|seulement",
        "no hay problema|prisa",
        "no gracias",
        "no , gracias|está bien",
        "no te preocupes",
        "no pasa|hace nada|falta",
        "no está mal",
        "nessun|nessuna problema|fretta",
        "non male|serve|importa|preoccuparti|solo",
        "no grazie",
        "no , grazie|va",
        "não tem|há problema",
        "não precisa|obrigado|obrigada|só",
        "não , obrigado|obrigada",
        "nada mal",
        "nie ma sprawy|problemu|za",
        "nie trzeba|szkodzi|dzięki|tylko",
        "sorun|fena değil",
        "нет проблем",
        "нет , спасибо|все",
        "не за|беспокойся|только",
        "inga|inget problem",
        "nej|nei|tack tack|takk",
        "inte|ikke illa|dårlig|værst",
    )
)

ANSWER = Phrases(
    (
        "no|nope|nah|nein|nee|non|não|nao|nie|нет|hayır|nej|nei|ne|ei|ні",
        "not|nicht|niet|pas yet|now|jetzt|nu|maintenant",
    ),
    anchor="start",
    fillers=FILLERS,
)

ACCEPTANCE = Phrases(
    (
        "thanks|thank|thx|perfect|great|awesome|excellent|lgtm|nice|cool|good|wonderful|lovely",
        "looks|look|works good|great|fine|perfect|now|well",
        "that|it|this works|worked",
        "well done",
        "danke|super|perfekt|prima|klasse|gut|passt|toll|bedankt|dank|goed|mooi",
        "merci|parfait|super|génial|gracias|perfecto|genial|grazie|perfetto|ottimo",
        "obrigado|obrigada|perfeito|ótimo|valeu|спасибо|отлично|супер|dzięki|świetnie|super",
        "teşekkürler|mükemmel|harika|tack|bra|perfekt|takk|flott|tak|kiitos|díky|děkuji",
    ),
    anchor="start",
    fillers=FILLERS,
)

CONTINUE = Phrases(
    (
        "continue|go|proceed|resume|yes|yep|yeah|y|sure|ok|okay|weiter|ja|doorgaan|oui|continue",
        "sí|si|sigue|continúa|continua|procedi|sim|продолжай|да|tak|kontynuuj|evet|devam|fortsätt",
    ),
    anchor="start",
)

QUESTION = Phrases(
    (
        "why|how|what|what's|where|when|which|who|is|are|does|do|did|can|could|would|should|will",
        "was|has|have|isn't|doesn't|wouldn't|any|warum|wieso|wie|wo|wann|welche~|wer|ist|sind",
        "kann|kannst|gibt|waarom|hoe|wat|waar|welke|kun|kan|is|pourquoi|comment|quel~|où|est-ce",
        "por qué|qual|quale|perché|come|cosa|dove|cómo|qué|cuál|dónde|por|como|porque|onde|почему",
        "как|что|где|какой|зачем|dlaczego|jak|co|gdzie|czy|neden|nasıl|ne|nerede|varför|hur|var",
    ),
    anchor="start",
    fillers=(*FILLERS, "ja"),
)

OPENERS = Phrases(
    (
        # English
        "no ,|.|!|;|:",
        "no that|that's|it|it's|this|not|don't|dont|you|i|the|use|we|wrong|please|just|keep|only",
        "nope|nah",
        "not|wrong|incorrect",
        "actually it's|its|it|that's|the|no|i|we|don't|use",
        "stop ~ing|it|that|doing|using",
        "wait ,|.|!|no",
        "undo|revert|rollback",
        "roll|go|change|back back|it|that|out",
        "why did|are|have you *"
        " delete|remove|drop|overwrite|change|revert|disable|rename|break|skip|ignore|touch",
        "i'd|i rather|prefer|would",
        "hmm+|huh , i|that|that's|this|it|it's|the",
        "hmm+|huh i|that|that's|this|it|it's|the",
        "don't|dont _",
        "do not _",
        "never _",
        "that|this|it|you just|completely|totally broke|breaks|broken",
        "that|this|it|you broke|breaks|fails|crashes|failed|crashed|hangs|hung",
        "it|that|this returns|gives|throws|shows|says|still|prints|looks *",
        "same error|crash|problem|issue|result|thing|again|failure",
        "too long|short|verbose|slow|many|much|complicated|big|small|wordy|formal",
        "doesn't|didn't work|compile|run|build|help|show|start",
        "it|this|that|the|your|they * doesn't|didn't|don't|isn't|won't|can't"
        " work|compile|build|run|show|match|do|make|help|start|fix|look|load|open|find|pass",
        "it|this|that|the|your * does|did not work|compile|build|run|show|match|do|help|start",
        # German
        "nein|nö|nee , |_",
        "nein|nö",
        "falsch~|nicht|kein|keine|keinen|nie|niemals",
        "hör|hoer auf",
        "nochmal|zu , |lang|kurz|viel|ausführlich",
        "warum hast du *",
        # Dutch
        "nee|fout|verkeerd~|niet|geen|nooit",
        "stop met",
        "te lang|kort|veel",
        # French
        "non|faux|mauvais~|pas|annule~|arrête|jamais",
        "trop long|court|verbeux",
        "il fallait",
        # Spanish
        "no es|era|uses|hagas|quiero|funciona|me|se|lo|la|toques|cambies|borres|así|quise|pedí",
        "no añadas|agregues|modifiques|escribas|pongas|ejecutes",
        "eso|esto no",
        "mal|incorrecto|deshaz|revierte|nunca",
        "deja de",
        "demasiado _",
        # Italian
        "non è|e|era|funziona|va|usare|fare|toccare|modificare|così|volevo|intendevo|quello|ho",
        "non aggiungere|cancellare|cambiare|scrivere",
        "sbagliato|annulla|ripristina|mai",
        "troppo _",
        "smetti di",
        # Portuguese
        "não ,|.|!",
        "não é|era|funciona|use|usa|faça|mexa|quero|foi|está|altere|apague|adicione|coloque",
        "errado|desfaz|desfaça|reverte|reverta|nunca",
        "pare de",
        "muito longo|comprido|curto",
        # Polish
        "nie ,|.|!",
        "nie to|tak|działa|używaj|rób|dodawaj|zmieniaj|usuwaj|chodziło|o|ten|ta|te|w|tam",
        "źle|cofnij|przywróć|nigdy",
        "za długie|długo|krótkie",
        # Russian
        "нет ,|.|!",
        "нет _",
        "не то|так|надо|нужно|используй|трогай|меняй|удаляй|добавляй|работает|этот|это|ту|туда|тот",
        "неправильно|неверно|верни|верните|откати|отмени|хватит|перестань|никогда",
        "слишком _",
        # Turkish
        "hayır|yanlış|geri|asla , |al|_",
        "hayır|yanlış",
        # Nordic, Czech, Finnish, Ukrainian, Indonesian, Vietnamese
        "nej|nei|fel|feil|forkert|inte|ikke|ångra|återställ|aldrig",
        "ne , |_",
        "nefunguje|špatně|ei|väärin|ні|неправильно|bukan|salah|jangan|không|sai",
    ),
    anchor="start",
    fillers=FILLERS,
)

CLAUSES = Phrases(
    (
        "that's|thats|it's|its|this|that|it|they|these|those not|wrong|incorrect|broken",
        "that|this|it|they|these|those is|are|was|were not|wrong|incorrect|broken|the",
        "that|this|it|they|these|those isn't|aren't|wasn't|weren't _",
        "that's|it's still|the|completely wrong|not|broken",
        "still not|the|failing|fails|fail|broken|wrong|doesn't|getting|red|missing|crash~|no|an",
        "still same|see|seeing|gives|shows|throws|hangs|happens",
        "i said|meant|told|asked|wanted|never|already|didn't|did|specifically|explicitly *",
        "as i said|told",
        "i get|got|see|was|can a|an|the|able|still *",
        "you forgot|missed|broke|ignored|misunderstood|misread|skipped|didn't|overwrote|lost|keep",
        "you did|should|were|are not|have|never|n't|supposed|wrong|mistaken",
        "you shouldn't|weren't|haven't|still|just *",
        "you|you've|have changed|edited|removed|deleted|used|put|added|picked * wrong",
        "we already have",
        "put it|that|them|this back",
        "try|look|check|read * again",
        "should have been|used|stayed",
        "it|this|that|they should not",
        "it|this|that|they shouldn't",
        "undo|revert it|that|this|the|your",
        "das|dies|es ist|war|sind nicht|falsch|kein|keine",
        "ich hatte|habe * gesagt|gemeint|gebeten|geschrieben",
        "ich sagte|meinte|wollte",
        "du hast * vergessen|übersehen|gelöscht|falsch|falsche|falschen|kaputt|ignoriert",
        "du solltest|sollst _",
        "mach|mache|nimm * rückgängig|zurück",
        "versuch|versuche|versuchs|probier * nochmal|noch|erneut",
        "dit|dat|het is|was|zijn niet|fout|verkeerd",
        "ik zei|bedoelde|vroeg|wilde|had",
        "je hebt|bent * vergeten|verkeerde|verkeerd|gemist|verwijderd",
        "draai|zet * terug",
        "probeer * opnieuw",
        "ce|c'est|ça n'est|n'est|pas|ne|n'était *",
        "tu as|t'as|a oublié|supprimé|cassé|mal|effacé|raté",
        "j'ai|je|j'avais dit|demandé|voulais|t'avais",
        "remets|réessaie|recommence _",
        "te equivocaste|olvidaste|falt~",
        "está mal|roto",
        "dije|pedí|quise que|decir|_",
        "sigue sin|fallando|igual|roto|dando|fallando",
        "inténtalo|intenta de|otra nuevo|vez",
        "hai sbagliato|dimenticato|cancellato|rotto|frainteso",
        "ho detto|chiesto _",
        "volevo|intendevo|riprova",
        "você|voce|vc esqueceu|errou|apagou|quebrou|ignorou",
        "eu disse|pedi|queria|quis",
        "tente|tenta de|novamente",
        "to nie|źle",
        "zapomniałeś|pominąłeś|zepsułeś|usunąłeś|pomyliłeś|prosiłem|prosiłam|mówiłem",
        "это не|неправильно|неверно",
        "ты|вы забыл|забыли|удалил|сломал|пропустил|перепутал",
        "я просил|просила|говорил|имел|хотел",
        "unuttun|unutmuşsun|bozdun|sildin|demedim|istemedim|söyledim|demiştim",
        "jag|jeg sa|menade|bad|sagde|mente|ba",
        "du glömde|missade|glemte",
    ),
    anchor="clause",
    fillers=FILLERS,
)

ANYWHERE = Phrases(
    (
        "not what|like|as i|that",
        "on my machine",
        "try again",
        "put|change it back",
        "use|make|do|call|run|write|keep|take|try|prefer|want|need|have * * instead|rather of|than",
        "use|call|run|write|take|put * , not _",
        "nimm|nutze|benutze|verwende|mach|schreib|nehme * * statt|anstatt|anstelle",
        "nicht * * , sondern",
        "stimmt|stimmen nicht",
        "geht|funktioniert|klappt|läuft * nicht",
        "immer|noch noch|immer nicht|kaputt|fehler|rot|derselbe|der|falsch",
        "gebruik|maak|zet|doe|neem * * in plaats",
        "gebruik|neem * * ipv|i.p.v",
        "klopt|werkt|lukt * niet",
        "nog steeds niet|fout|dezelfde|kapot|rood",
        "niet * * , maar",
        "ne|n'a marche|fonctionne|compile * pas",
        "utilise|utilisez|mets|fais|prends|emploie * * au|plutôt|à lieu|que|la",
        "toujours pas|la|le|en",
        "usa|utiliza|pon|haz|ponlo|hazlo|use * * en vez|lugar",
        "todavía|aún|aun no",
        "usa|metti|fai|utilizza * * invece|al|anziché",
        "non funziona|va|compila",
        "use|usa|utilize|coloque|faça|põe * * em|ao vez|lugar|invés",
        "ainda não|falha|quebrado|dá",
        "użyj|używaj|zrób|weź * * zamiast",
        "nadal|wciąż|dalej nie|ten|błąd",
        "nie działa",
        "используй|используйте|сделай|поставь|возьми * * вместо",
        "еще|по-прежнему|опять|снова не|падает|ошибка|та",
        "не работает",
        "yerine * kullan~",
        "çalışmıyor|çalışmadı|olmadı",
        "geri al~",
        "använd|bruk|brug * * istället|i stedet|for",
        "stämmer|stemmer|fungerar|funkar|fungerer|virker * inte|ikke",
        "vẫn|masih không|lỗi|error|gagal|belum",
    )
)

_RIVALS = {
    "ja": (
        r"問題(?:ない|な|あり|は?な)|間違いな[いく]|いいえ[、,]?(?:大丈夫|結構)|違いを",
        r"(?:^|[、。,.!\s])(?:いや|いいえ|違(?:う|い|って)|ちが|そう(?:じゃ|では)な|それ(?:じゃ|では)な)"
        r"|(?:ではなく|じゃなく|でなく)"
        r"|(?:まだ|やはり|やっぱり|相変わらず).{0,12}(?:動|直|失敗|エラー|でき|同じ|出)"
        r"|動(?:かない|きません|いてい?ません)|元に戻|取り消|やり直"
        r"|(?:と|って)(?:言|い)(?:った|いました|ってい)|言ったはず"
        r"|(?:使わ|し|やら|消さ|変え|入れ|付け)ないで|(?:やめ|止め)て"
        r"|の代わりに.{1,20}使|(?:忘れ|抜け|漏れ|間違え?)てい?(?:ます|る)|間違って",
    ),
    "zh": (
        r"没问题|没有问题|不错|不用了|不客气|没关系|不着急|不是问题|没事",
        r"(?:^|[、。,.!\s])(?:不对|不是|错|不行|别|不要|不,|不用|停|请不要|请别)"
        r"|还是(?:不|没|报错|失败|有|一样|错)|仍(?:然|旧)?(?:不|没|报错|失败|有)"
        r"|撤销|撤回|回滚|还原|改回|恢复(?:原|到)|我(?:说|要|想要|指)的(?:不?是)|我的意思"
        r"|忘(?:了|记)|漏了|[搞弄改删理解写放]错|而不是|不是.{1,20}是"
        r"|(?:应该|应当)(?:是|用|放|在)|重新(?:做|来|试)|再试"
        r"|不起作用|没有?生效|没用|[跑运行]不[了起通]|不能用|不工作|[,]不要用|[,]别用",
    ),
    "ko": (
        r"아니[요오]?,? ?(?:괜찮|됐)|문제 ?없",
        r"(?:^|[,.!]\s*)(?:아니|아뇨|틀렸|잘못|그게 아니|그거 말고)"
        r"|(?:여전히|아직|계속).{0,10}(?:안|못|같은|오류|에러|실패)|\s말고\s|[이가은는게]?\s?아니라"
        r"|\s대신에?\s.{1,30}(?:쓰|사용|써)|되돌려|취소해|원래대로|지\s?마(?:세요|요|$|\s)"
        r"|(?:라고|다고)\s(?:했|말했)|빠뜨|빼먹|다시\s(?:해|시도)",
    ),
}
_QUESTIONS = regex.compile(r"(?:\?|か[。.]?|吗|呢|까요|나요|습니까)\s*$")
_GLAD = {
    "ja": regex.compile(r"ありがと|完璧|いいね|問題な|助かり"),
    "zh": regex.compile(r"谢谢|很好|不错|完美|没问题|太好"),
    "ko": regex.compile(r"감사|고마|완벽|좋아|괜찮"),
}
_GO_ON = {
    "ja": regex.compile(r"^(?:はい|続け)"),
    "zh": regex.compile(r"^(?:继续|好的?|是的?|可以)"),
    "ko": regex.compile(r"^(?:네|예|계속)"),
}
SCRIPT_HARMLESS = {name: regex.compile(pair[0]) for name, pair in _RIVALS.items()}
SCRIPT_CORRECTION = {name: regex.compile(pair[1]) for name, pair in _RIVALS.items()}
SCRIPT_ACCEPTANCE = _GLAD
SCRIPT_CONTINUE = _GO_ON
SCRIPT_QUESTION = _QUESTIONS
