"""Which language a text is in: by the script that most of its words have, then by its words."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from courtroom.text.words import STOP_WORDS

LOOKED_AT = 4_000
"""Characters by which a language is found."""
LEAST_LETTERS = 30
"""A text of fewer letters is in the first language of its script: a product's name is in none."""
ENGLISH_SHARE = 0.3
"""Of words without a meaning of their own (the, of, is): a text in which so many are English is English."""
_TABLE = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text(encoding="utf-8"))
LANGUAGES: Mapping[str, str] = _TABLE["languages"]
"""The languages of a script, by how Unicode names its letters; the first one is the most common."""
LETTERS_A_WORD: Mapping[str, float] = _TABLE["letters_a_word"]
"""Of scripts whose words are short; 5 in others."""
KANA_SHARE = 0.1
"""Of the letters of a Japanese text, at least so many are kana."""

_WORD = re.compile(r"[a-z']+")


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the language of most of a text; "en" where it has no words."""
    looked_at = unicodedata.normalize("NFKC", text[:LOOKED_AT])
    letters = Counter(script for character in looked_at if (script := _script(character)))
    kana = letters["HIRAGANA"] + letters["KATAKANA"]
    han = letters.pop("CJK", 0) + letters.pop("HIRAGANA", 0) + letters.pop("KATAKANA", 0)
    words = {script: count / LETTERS_A_WORD.get(script, 5) for script, count in letters.items()}
    words["CJK"] = (han - kana) / LETTERS_A_WORD["CJK"] + kana / LETTERS_A_WORD["HIRAGANA"]
    most = max(words, key=lambda script: words[script])
    if not words[most]:
        return "en"
    if most == "CJK":
        return "ja" if kana >= KANA_SHARE * han else "zh"
    known = LANGUAGES.get(most, "en").split()
    if len(known) == 1 or letters[most] < LEAST_LETTERS or (most == "LATIN" and _reads_english(looked_at)):
        return known[0]
    from py3langid import rank  # reads its table when it is first asked, a second: plainly English texts need it not

    return next((language for language, _ in rank(looked_at) if language in known), known[0])


def is_unspaced(text: str) -> bool:
    """Return whether most of a text is in Chinese or Japanese, which have no spaces between words."""
    return language_of(text) in ("zh", "ja")


@lru_cache(maxsize=8192)
def _script(character: str) -> str:
    """The first word of a letter's name in Unicode, such as LATIN; empty for what is no letter."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def _reads_english(text: str) -> bool:
    found = _WORD.findall(text.lower())
    return sum(word in STOP_WORDS for word in found) >= ENGLISH_SHARE * max(1, len(found))
