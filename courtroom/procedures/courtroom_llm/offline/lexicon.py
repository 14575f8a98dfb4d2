"""Words that speak for much-used labels, as stems: each stands for all words that begin with it."""

from __future__ import annotations

STEMS: dict[str, str] = {
    "joy": "joy happ glad delight cheer excit thrill great good wonderful amaz content satisf pleas proud confident calm relax "
    "safe secur comfort hope optimis thank grate bless strong energ productiv determin success accept valu useful lucky special "
    "brave talent pretty free friendly generous inspir lively peace perfect playful positiv precious radiant respect sincer "
    "splendid welcom worth fantastic fun smile laugh celebrat sunshine eager popular clever smart superior rich cute beautiful "
    "glamor innocent reassur resolv honor honour important ecsta fab fine cool pleasant elegant carefree triumph bouncy jubila "
    "festiv vibrant assur invigorat refresh vital virtuous divine casual convinc artist creativ bonus finally",
    "sadness": "sad unhapp lonel alone lost miser hurt disappoint depress empt tired low guilt asham broke hopeless useless "
    "worthless stupid awful bore boring dull exhaust drain gloom letharg homesick humiliat reject ignor regret melanchol heartbr "
    "vain neglect numbed numbness unlov needy troubl beaten punish damag burden defeat discourag inadequa lousy crap shit rotten listless "
    "foolish jaded dirty cry cried tears grie mourn miss abandon aching pain suffer sorrow despair bitter-sweet unwelcome bad "
    "embarrass devastat isolat pathetic terrible weary victim blank remorse ugly fake idiot moron dumb groggy sorry apolog "
    "unimportant unsuccess disheart deprived disturbed messy funeral farewell gone unfortunate submissive jaded",
    "anger": "ang annoy irrita furi mad rage resent bitter frustrat offend rude selfish greed violen cold dangerous impatien "
    "rebel grump bother hate hatr outrag insult rush stubborn env jealous dissatisf crank piss disgust fed-up cruel hostil "
    "vicious spite vengef mean sarcas appall petty distract agitat fuck damn unfair wronged heartless hateful obnox bitch "
    "savage tortur irrit enrag aggravat rant yell shout complain blame unjust",
    "fear": "fear afraid scar nervous anxi uncertain insecur vulnerab shak terrif worr unsure hesita helpless pressur threaten "
    "distress apprehens uncomfort reluct intimidat paranoi fright panic dread alarm tense uneas timid shy doubt suspicio "
    "restless strain startl skept overwhelm neurotic frantic petrif horr creep danger unprotect assault confus weird trembl "
    "wary nightmare unsafe phobi insecure inhibit bashful",
    "surprise": "surpris shock amaz astonish stun curious impress strange unexpect sudden wow unbeliev daz overwhelm funny weird "
    "baffl startl incredibl disbelief speechless bewilder wonder enthral never guess",
    "love": "love lovi loving lovel beloved caring care affection tender passion long-ing longing sympath supportiv romantic nostalg "
    "sweet gentle faithful loyal fond delicate compassion horny naughty hot adore ador cherish dear kiss hug darling warm "
    "treasured accepting devot blessed generous liked lust sentimental heart wife husband",
}
ALSO: dict[str, tuple[str, ...]] = {
    "happiness": ("joy",), "happy": ("joy",), "sad": ("sadness",), "angry": ("anger",), "afraid": ("fear",),
    "scared": ("fear",), "surprised": ("surprise",), "affection": ("love",), "positive": ("joy", "love"),
    "negative": ("sadness", "anger", "fear"), "worry": ("fear",), "grief": ("sadness",),
}  # fmt: skip
"""Other names under which such labels go."""

FOLLOWS = frozenset(
    ("entailment", "entailed", "entails", "yes", "true", "supported", "supports", "follows", "answered")
)
"""Labels that say that the shorter text of a pair is borne out by the longer one."""
FOLLOWS_NOT = frozenset(
    (
        "not entailment",
        "non entailment",
        "no",
        "false",
        "not supported",
        "refuted",
        "refutes",
        "neutral",
        "contradiction",
    )
    + ("unsupported", "unknown", "not answered", "not enough info", "contradicted", "does not follow")
)
"""Labels that say that it isn't."""
AGAINST = frozenset(("contradiction", "contradicted", "refuted", "refutes", "false", "no"))
"""Of these, those that say that the contrary is said."""
DENIALS = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "n't", "cannot", "isn't")
)
