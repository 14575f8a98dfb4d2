"""The offline model's method for norm distillation."""

from __future__ import annotations

import random
import re

from courtroom.models.offline import Methods
from courtroom.procedures.distillation.tasks import DeriveNorms, Reflection
from courtroom.text.central import central
from courtroom.text.words import sentences

SOME = {"en": "some", "zh": "若干"}
GENERAL = {
    "en": "In disputes about {category}, what the {side} can document decides.",
    "zh": "在“{category}”类纠纷中，以{side}能证明的事实为准。",
}
SIDES = {"en": {"buyer": "buyer", "seller": "seller"}, "zh": {"buyer": "买家", "seller": "卖家"}}


def reflect(task: DeriveNorms, draw: random.Random) -> Reflection:
    """The winners' most central opinions with figures taken out, beside the closest earlier norm."""
    language = "zh" if task.language.startswith("zh") else "en"
    views = task.buyer_views if task.winner == "buyer" else task.seller_views
    pool = [
        re.sub(r"\d[\d.,%]*", SOME[language], s) for text in (*views, *task.earlier_norms[:2]) for s in sentences(text)
    ]
    general = GENERAL[language].format(category=task.category, side=SIDES[language][task.winner])
    norms = tuple(dict.fromkeys((*central(pool, 3), general)))
    return Reflection(reflection_result=norms[:4] if len(norms) > 1 else (*norms, task.dispute[:200]))


METHODS: Methods = {
    DeriveNorms: reflect,
}
