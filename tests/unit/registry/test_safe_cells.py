"""Cells for spreadsheets: no text becomes a formula, however the table is cut, and every text comes back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.registry.tables.cells import exact, has_formula, safe

DANGEROUS = "=+-@＝＋－＠"  # noqa: RUF001 - those that OWASP names
TEXTS = st.one_of(st.text(), st.text(st.sampled_from([*DANGEROUS, *"',;|\t\r\n\" a\u200b\ufeff\x00"]), max_size=12))


@given(TEXTS)
def test_no_safe_cell_begins_as_a_formula_whatever_separators_cut_it(text: str) -> None:
    pieces = [safe(text), *re.split(r'[,;|\t\r\n"]', safe(text))]
    assert not any(piece.strip("\ufeff\u200b\x00 \t\r\n").startswith(tuple(DANGEROUS)) for piece in pieces)
    assert not safe(text).startswith(("\t", "\r", "\n"))


@given(TEXTS)
def test_every_text_comes_back_from_its_safe_cell(text: str) -> None:
    assert exact(safe(text)) == text


@given(TEXTS)
def test_a_text_is_changed_only_where_a_formula_could_begin(text: str) -> None:
    assert safe(text).replace("'", "") == text.replace("'", "")
    assert has_formula(text) <= (safe(text) != text)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("'=1+1", "''=1+1"),
        ("  \u200b@SUM(A1)", "'  \u200b@SUM(A1)"),
        ("－1", "'－1"),  # noqa: RUF001 - the wide one is meant
        ("a;=1+1", "a;'=1+1"),
        ('a;"=1+1"', 'a;"\'=1+1"'),
        ("\tx", "'\tx"),
        ("a-b", "a-b"),
        ("'quoted'", "'quoted'"),
        ("", ""),
    ],
)
def test_a_safe_cell_has_an_apostrophe_where_a_formula_would_begin(text: str, cell: str) -> None:
    assert safe(text) == cell
