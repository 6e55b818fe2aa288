"""What only sounds like a complaint, and praise, questions and "go on", language by language.

Phrases in the pattern language of ``tokens.Phrases`` (``~`` ends a word stem). Chosen from how
people write to agents, not from any labelled log. Complaints stand in ``complaints.py``,
languages without spaces in ``lexicon_scripts.py``. Nothing here knows the agent's side of the
conversation; ``signals.py`` does.
"""

# ruff: noqa: RUF001 - letters of other scripts are meant

from __future__ import annotations

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
        "not sure|bad|yet|now|necessarily|urgent|only|needed|necessary|required",
        "don't|dont worry|hesitate|know|think|mind|care|see|understand",
        "do not worry|hesitate|know",
        "never mind|forget|thought|seen|heard|would|knew",
        "that|which|who|if|when|where is|are|was|were wrong|broken|missing|empty|incorrect|gone",
        "no errors|error|issues|failures|complaints|bugs|changes|warnings",
        "should|must|can|could|will|to|i|we|you|while|but still",
        "don't|dont|not|niet|nicht forget|vergessen|vergeten",
        "vergiss|vergeet nicht|niet",
        "n'oublie|n'oubliez pas",
        "no olvides|olvide",
        "no te olvides",
        "non dimenticare|dimenticarti|dimenticate",
        "não esqueça|esquece|esqueças|se",
        "nie zapomnij|zapominaj",
        "не забудь|забывай|забудьте",
        "should be possible|able|nice|easy|enough|fine|ok|okay|good|interesting|quick",
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
