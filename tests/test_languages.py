"""Which language a text is in, one rule for all doors; and how prompts name it."""

import json

import pytest

from courtroom.cases.files import read_upload
from courtroom.models.rendering import LANGUAGES as NAMES
from courtroom.models.rendering import environment
from courtroom.text.languages import LANGUAGES, language_of

TEXTS = {
    "en": "The tenant 张伟 says that the lamp was broken when it came, and that the seller, 李娜, was told at once.",
    "zh": "我买了 iPhone 15 Pro Max 256GB，屏幕碎了，卖家 Best Phone Store 不肯退款。",
    "ja": "ランプは割れて届きました。売主は返金を拒否しました。",
    "ko": "램프가 깨져서 도착했습니다. 판매자는 환불을 거부했습니다.",
    "ar": "وصل المصباح مكسوراً ورفض البائع إعادة المبلغ إلى المشتري.",
    "ru": "Лампа пришла разбитой, и продавец отказался вернуть деньги покупателю.",
    "uk": "Лампа прийшла розбитою, і продавець відмовився повернути гроші покупцеві.",
    "de": "Die Lampe kam zerbrochen an, und der Verkäufer weigert sich, das Geld zu erstatten.",
    "fr": "La lampe est arrivée cassée et le vendeur refuse de rembourser l'acheteur.",
    "es": "La lámpara llegó rota y el vendedor se niega a devolver el dinero.",
    "pl": "Lampa przyszła zepsuta, a sprzedawca odmówił zwrotu pieniędzy.",
    "vi": "Chiếc đèn đến nơi bị vỡ và người bán từ chối hoàn tiền.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_in_the_language_of_most_of_its_words(language: str) -> None:
    (document,) = read_upload("a.txt", TEXTS[language].encode())
    assert document.case.language == language
    record = {"product": "X", "price": "¥5", "buyer_evidence": TEXTS[language] * 2, "category": "Other"}
    (dispute,) = read_upload("a.json", json.dumps(record).encode())
    assert dispute.case.language == language
    table = "text,label\n" + "".join(f'"{TEXTS[language]}",{label}\n' for label in ("joy", "fear"))
    (task,) = read_upload("a.csv", table.encode())
    assert task.case.language == language
    assert language_of(TEXTS[language]) == language


def test_a_prompt_names_every_language_that_is_found() -> None:
    say = environment(lambda name: "Write in {{ code | language }}.").get_template("say").render
    assert say(code="ar") == "Write in Arabic."
    assert say(code="de-AT") == "Write in German."
    assert say(code="zh-TW") == "Write in Chinese (繁體中文)."
    assert say(code="xx") == "Write in the language of the material (xx)."
    codes = ["zh", "ja", *(code for known in LANGUAGES.values() for code in known.split())]
    assert not [code for code in codes if code not in NAMES]


@pytest.mark.parametrize(("text", "language"), [(TEXTS["zh"], "zh"), (TEXTS["de"], "de"), (TEXTS["en"], "en")])
def test_a_case_that_names_no_language_is_in_that_of_its_texts(text: str, language: str) -> None:
    pieces = [{"id": f"{side}-1", "side": side, "text": text} for side in ("buyer", "seller")]
    case = {"kind": "dispute", "id": "x", "title": "X", "category": "Other", "transaction": {"product": "X"}}
    (package,) = read_upload("a.json", json.dumps({**case, "evidence": pieces}).encode())
    assert package.case.language == language
    (said,) = read_upload("a.json", json.dumps({**case, "evidence": pieces, "language": "fr"}).encode())
    assert said.case.language == "fr", "what the case says holds"
