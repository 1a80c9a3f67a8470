"""Tables of days with names in the language that a model states."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.dimensional.models.calendar_names import calendar_names
from metl_gui.core.warehouse_model import Dates
from metl_gui.errors import EditError
from metl_gui.warehouse.plans.dimensions.calendar_plan import create_dates
from tests.unit.warehouse.conftest import NewTarget


@pytest.mark.parametrize(
    ("locale", "day", "month"),
    [
        ("en", "Thursday", "January"),
        ("de", "Donnerstag", "Januar"),
        ("de-AT", "Donnerstag", "Jänner"),
        ("pt_BR", "Quinta-feira", "Janeiro"),
        ("ja", "木曜日", "1月"),
    ],
)
def test_days_and_months_have_the_names_of_the_language(
    new_target: NewTarget, tmp_path: Path, locale: str, day: str, month: str
) -> None:
    target = new_target(tmp_path)
    with target.transaction():
        for step in create_dates(Dates(name="day", first="2026-01-01", last="2026-01-04", locale=locale)):
            target.step(step)
        assert target.rows("SELECT day_name, month_name FROM day WHERE day_key = 20260101") == [(day, month)]
        names = target.rows("SELECT day_name FROM day WHERE day_key IN (20260101, 20260104) ORDER BY day_key")
        assert [name for (name,) in names] == [calendar_names(locale).days[3], calendar_names(locale).days[6]]


def test_each_month_and_each_day_has_a_name() -> None:
    for locale in ("en", "de", "fr", "tr", "zh", "ar", "he"):
        months, days = calendar_names(locale)
        assert (len(set(months)), len(set(days))) == (12, 7)
        assert all(months)
        assert all(days)


@pytest.mark.parametrize("locale", ["", "dee", "../de", "de'; DROP TABLE day", "x" * 1000])
def test_a_language_without_names_is_refused(locale: str) -> None:
    with pytest.raises(EditError, match="no names of days"):
        calendar_names(locale)
