"""Checks of facts: their times, and what else they alone declare."""

from __future__ import annotations

import pytest

from tests.unit.core.dimensional.test_checks import GOOD, checked, codes

TIMES = GOOD.replace(
    "    event_time: at\n", "    event_time: at\n    event_times: [{name: sent_at, from: at, role: sent}]\n"
)


def test_times_with_roles_have_no_fault() -> None:
    assert checked(TIMES) == ()


@pytest.mark.parametrize(
    ("good", "bad", "code", "place"),
    [
        ("from: at, role", "from: status, role", "no-time", "w: payment.sent_at"),
        ("name: sent_at, from", "name: status, from", "name-twice", "w: payment.status"),
        ("name: sent_at, from", "name: payer_key, from", "name-twice", "w: payment.payer_key"),
        ("role: sent}", "role: payer}", "role-twice", "w: payment.payer"),
        ("role: sent}", f"role: {'r' * 60}}}", "name-too-long", "w: payment.sent_at"),
    ],
)
def test_a_time_of_a_fact_has_its_fault_at_its_place(good: str, bad: str, code: str, place: str) -> None:
    assert good in TIMES
    assert codes(TIMES.replace(good, bad, 1)).get(code) == place


def test_a_role_of_a_time_needs_a_table_of_days() -> None:
    lines = [line for line in TIMES.splitlines() if "{date: date" not in line and "dimension: date" not in line]
    assert codes("\n".join(lines)) == {"no-days": "w: payment.sent_at"}
    assert codes("\n".join(lines).replace(", role: sent", "")) == {}


LISTED = GOOD.replace("    degenerate: [", "    junk: [channel]\n    degenerate: [{name: channel, from: status}, ")


def test_a_fact_may_have_a_junk_dimension_of_its_own_beside_one_that_is_declared() -> None:
    assert checked(LISTED) == ()


@pytest.mark.parametrize(
    ("good", "bad", "code", "place"),
    [
        ("junk: [channel]", "junk: [chanel]", "unknown-column", "w: payment"),
        ("junk: [channel]", "junk: [amount]", "unknown-column", "w: payment"),
        ("columns: [status]", "columns: [amount]", "unknown-column", "w: flags"),
        ("{time: time}", "{time: payment_junk}", "name-twice", "w: payment"),
        ("{time: time}", "{junk: more, of: payment, columns: [status]}", "junk", "w: more"),
        ("name: channel, from", "name: flags_key, from", "name-twice", "w: payment.flags_key"),
    ],
)
def test_a_junk_dimension_has_its_fault_at_its_place(good: str, bad: str, code: str, place: str) -> None:
    assert good in LISTED
    assert codes(LISTED.replace(good, bad, 1)).get(code) == place
