"""What embeddings are good for: `python -m tests.benchmarks.measure_embeddings`.

Each that runs on this machine is asked for the nearest of several texts. Those whose package is not installed are left
out.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from courtroom.knowledge.bases import bundled_cases, bundled_statutes
from courtroom.knowledge.embedding import DEFAULT, HASHED, LOCAL, Embedding, installed
from courtroom.knowledge.vectors import embedding_of
from courtroom.settings import DATA
from tests.benchmarks.tables import Row, Table, share, show

Text = tuple[str, frozenset[str]]
"""A text, and what of it makes another one right."""
SAME = (
    ("The parcel was crushed when it came", "It arrived with the box squashed flat"),
    ("He won't give my money back", "The merchant refuses any refund"),
    ("The telephone no longer charges", "Its battery can't be filled with power any more"),
    ("The purse is a counterfeit", "That handbag isn't genuine"),
    ("She took things out of the store without paying", "A woman shoplifted goods"),
    ("The car struck a walker and fled", "A driver ran over a pedestrian and left the scene"),
    ("They fought outside the pub", "A brawl broke out in front of the bar"),
    ("The aquarium pump drips", "Water is leaking from a fish tank's filter"),
    ("The shoes had been worn before", "These sneakers were already used"),
    ("Movers scratched my wooden table", "The removal firm damaged an oak desk"),
    ("The concert was called off", "The show has been cancelled"),
    ("He is well known for being honest", "Everybody trusts this man's word"),
)
SAME_ZH = (
    ("包裹送到时已经压坏了", "收货的时候盒子被挤扁"),
    ("他不肯把钱还给我", "卖家拒绝退款"),
    ("电话再也充不进电", "手机电池坏掉，无法通电"),
    ("这只皮包是仿冒的", "那个手袋并非正品"),
    ("她没付账便拿走店里的东西", "一名女子在商场行窃"),
    ("小车撞到行人后逃走", "司机肇事，离开现场"),
    ("他们在酒馆外打架", "酒吧门口发生斗殴"),
    ("鱼缸的水泵漏水", "水族箱过滤器在滴"),
    ("鞋子以前有人穿过", "这双球鞋是二手货"),
    ("搬家公司刮花了我的木桌", "橡木家具在搬运中受损"),
    ("演唱会不办了", "音乐表演取消"),
    ("大家都说他诚实", "人人信得过这位先生"),
)
NAMES = (DEFAULT, HASHED, *(name for name in LOCAL if name in ("local/wordllama", "local/all-minilm-l6-v2")))
HEAD = ("embedding", "paraphrases, English", "Chinese", "norms of a dispute", "personas and norms",
        "precedents, Chinese",
        "statutes from facts, Chinese", "statutes, English to Chinese")  # fmt: skip
TRADES = {
    "Digital & Appliances": ("Li Wei", "Kenji Tanaka", "Gao Jun", "Peter Hall", "Huang Rui"),
    "Fashion & Bags": ("Zhou Min", "Maria Rossi", "Yuki Sato", "Joy Adeyemi", "Tang Ying", "Dao Anh"),
    "Home & Lifestyle": ("Fatima Haddad", "Carlos Mendes", "Marta Kowalska", "He Qiang"),
    "Virtual & Services": ("Amina Yusuf", "Liu Yang", "Diego Romero"),
}
"""Personas whose trade is that of a category of disputes, as we read them."""


def tables() -> Iterable[Table]:
    there = [name for name in NAMES if name in (DEFAULT, HASHED) or installed(name)]
    rows = tuple(Row(f"`{name}`", partial(figures, embedding_of(name))) for name in there)
    sizes = (f"{title} ({len(queries)})" for title, (queries, _, _) in zip(HEAD[1:], sets(), strict=True))
    yield Table("The right text among the nearest", (HEAD[0], *sizes), rows)


def sets() -> Iterable[tuple[Sequence[Text], Sequence[Text], int]]:
    """For each figure: what is asked, what is looked through, and among how many of the nearest a right one must be."""
    for pairs in (SAME, SAME_ZH):
        sides = (_named((pair[side], str(at)) for at, pair in enumerate(pairs)) for side in (0, 1))
        yield (*sides, 1)  # type: ignore[misc]
    disputes = [json.loads(line) for line in (DATA / "precedents.jsonl").read_text("utf-8").splitlines()]
    norms = [(norm, frozenset((one["id"], one["category"]))) for one in disputes for norm in one["norms"]]
    yield _named((one["dispute"], one["id"]) for one in disputes), norms, 5
    personas = {one["name"]: one for one in json.loads((DATA / "personas.json").read_text("utf-8"))}
    told = {name: f"{one['background']} {', '.join(one['interests'])}" for name, one in personas.items()}
    yield _named((told[name], trade) for trade, names in TRADES.items() for name in names), norms, 1
    criminal = [case for case in bundled_cases() if case.language == "zh" and case.gold]
    facts = [(case.facts, frozenset(case.gold.charges)) for case in criminal if case.gold]
    yield facts, facts, 1
    laws = [(law, frozenset((str(law.number), law.id))) for law in bundled_statutes()]
    articles = [frozenset(map(str, case.gold.relevant_articles)) for case in criminal if case.gold]
    chinese = [(f"{law.title.zh} {law.text.zh}", known) for law, known in laws]
    yield [(case.facts, named) for case, named in zip(criminal, articles, strict=True)], chinese, 5
    yield [(f"{law.title.en} {law.text.en}", frozenset((law.id,))) for law, _ in laws], chinese, 1


def _named(texts: Iterable[tuple[str, str]]) -> list[Text]:
    return [(text, frozenset((name,))) for text, name in texts]


def figures(embedding: Embedding) -> Iterable[str]:
    """The share of each set in which a right text is among the nearest; a text is not looked for in itself."""
    for queries, texts, most in sets():
        asked = asyncio.run(embedding.embed([text for text, _ in queries]))
        near = asked @ asyncio.run(embedding.embed([text for text, _ in texts])).T
        right = 0
        for (own, wanted), of in zip(queries, near, strict=True):
            found = [texts[place] for place in np.argsort(-of, kind="stable") if texts[place][0] != own][:most]
            right += any(wanted & known for _, known in found)
        yield share(right / len(queries))


main = partial(show, tables)
if __name__ == "__main__":
    main()
