"""Prices as people write them, read alike everywhere; a price that is not sure is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.text.prices import currency, price


@pytest.mark.parametrize(
    ("text", "amount", "code"),
    [
        ("12,50 €", 12.5, "EUR"),
        ("1.299,00 €", 1299, "EUR"),
        ("1\u202f299,00 €", 1299, "EUR"),
        ("CHF 1’299.–", 1299, "CHF"),
        ("¥1.2万", 12_000, "CNY"),
        ("1万2千元", 12_000, "CNY"),
        ("一百二十元", 120, "CNY"),
        ("￥１，２９９", 1299, "CNY"),
        ("$1,299.00 USD", 1299, "USD"),
        ("1.234.567,89", 1_234_567.89, ""),
        ("1,299", 1299, ""),
        ("CA$12", 12, "CAD"),
        ("1.2k", 1200, ""),
        ("١٢٫٥٠ €", 12.5, "EUR"),
    ],
)
def test_a_price_is_read_as_its_country_writes_it(text: str, amount: float, code: str) -> None:
    assert price(text) == (amount, "")
    assert currency(text) == code


@pytest.mark.parametrize(
    ("text", "amount", "doubt"),
    [
        ("1.299 €", 1299, "was read as 1,299.00"),
        ("TBD 100", 100, "was read as 100.00, without “tbd”"),
        ("ca. 300 EUR", 300, "was read as 300.00, without “ca”"),
        ("100-200 USD", None, "names more than one number"),
        ("1.2 million", None, "names a number that is not known (“million”)"),
        ("1.299.00", None, "is no number that can be read"),
        ("-5 EUR", None, "is less than nothing"),
        ("(1,234.50)", None, "is less than nothing"),
        ("free", None, "names no number"),
    ],
)
def test_a_price_that_is_not_sure_is_told(text: str, amount: float | None, doubt: str) -> None:
    assert price(text) == (amount, doubt)


@given(
    st.decimals(0, 999_999_999, places=2, allow_nan=False),
    st.sampled_from([(",", "."), (".", ","), ("'", "."), (" ", ",")]),
)
def test_every_amount_comes_back_whatever_marks_it_has(value: object, marks: tuple[str, str]) -> None:
    thousands, decimals = marks
    text = f"{value:,.2f}".replace(".", "D").replace(",", thousands).replace("D", decimals)
    assert price(text) == (float(str(value)), "")
