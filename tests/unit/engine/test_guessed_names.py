"""Machine code guesses the names of an object from the one before, and shares text between messages: never in error."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.compiled import tables as tables_module
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from tests.helpers.plans import map_all, plan_of

_NAMES = ("id", "a", "eightlet", "thirteen_long", "fourteen__long", "a_name_of_some_thirty_letters_x", "grüße", "")
_UNAVAILABLE = "__debezium_unavailable_value"


def _plan(names: Sequence[str], entities: int) -> Plan:
    """Make a schema of so many columns, each entity taking some of them."""
    blocks = [
        {"entity": f"e{n}", "entity_version": "1", "targets": [[name, f"{name}_of"] for name in names[n : n + 3]]}
        for n in range(entities)
    ]
    version = {"label": "1", "paths": list(names), "key": ["id"], "blocks": blocks}
    return plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]})


def _envelope(row: dict[str, Any], op: str, space: str = "") -> bytes:
    source = {"name": "srv", "schema": "pub", "table": "t0", "lsn": 7, "ts_ms": 5}
    content = {"before": None, "after": row, "source": source, "op": op, "ts_ms": 9}
    return json.dumps(content, ensure_ascii=False, separators=("," + space, ":" + space)).encode()


def _assert_same(ours: MappedBatch, theirs: MappedBatch) -> None:
    assert ours.messages() == theirs.messages()
    assert ours.fates.tolist() == theirs.fates.tolist()
    assert ours.counts() == theirs.counts()


@pytest.mark.parametrize("seed", range(6))
def test_rows_whose_names_begin_like_those_before_them_are_told_apart(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    plan = _plan(_NAMES[:6], 2)
    kernel, reference = Kernel(plan, choice="compiled", patience=0), Kernel(plan, choice="reference")
    hits = 0
    for batch in range(8):
        raws = []
        for _ in range(60):
            names = list(_NAMES[: dice.choice((0, 1, 3, 5, 6, 6, 6, 8))])
            if dice.random() < 0.2:
                dice.shuffle(names)
            if dice.random() < 0.2 and names:
                names[-1] += dice.choice("xé")
            if dice.random() < 0.2 and names:
                # As long as the one that is guessed, and another one.
                place = dice.randrange(len(names))
                names[place] = names[place][:-1] + "z"
            row: dict[str, Any] = {name: dice.choice((None, 1, "x", {"a": 1}, {}, [])) for name in names}
            raws.append(_envelope(row, dice.choice("cru"), dice.choice(("", "", " "))))
        ours = map_all(kernel, raws)
        _assert_same(ours, map_all(reference, raws))
        hits += ours.hits
        if batch == 4:
            monkeypatch.setattr(tables_module, "MOST_NUMBERED", 1)
            map_all(kernel, raws[:1])
            monkeypatch.undo()
    assert hits > 100


@pytest.mark.parametrize("op", ["c", "u"])
def test_each_message_of_a_record_has_its_own_payload_whichever_of_them_are_not_sent(op: str) -> None:
    dice = random.Random(op)
    names = ("id", "a", "b", "c", "d", "e", "f")
    plan = _plan(names, 5)
    kernel = Kernel(plan, choice="compiled", patience=0)
    values = (None, None, None, 1, "x" * 15, "x" * 16, "x" * 33, _UNAVAILABLE)
    raws = [_envelope({name: dice.choice(values) for name in names}, op) for _ in range(300)]
    map_all(kernel, raws)
    ours = map_all(kernel, raws)
    _assert_same(ours, map_all(Kernel(plan, choice="reference"), raws))
    assert ours.hits > 30


def test_text_in_wrappers_is_read_alike_wherever_its_escapes_stand() -> None:
    dice = random.Random(3)
    plan = _plan(("id", "a"), 1)
    kernel = Kernel(plan, choice="compiled", patience=0)
    raws = []
    for shift in range(300):
        text = "".join(dice.choices('ab"\\\n\té€𝄞/', k=shift % 40))
        inner = json.dumps({"id": "x" * (shift % 17), "a": text}, ensure_ascii=shift % 2 == 0)
        raws.append(json.dumps({"topic": "srv.pub.t0", "value": inner}, ensure_ascii=shift % 3 == 0).encode())
    map_all(kernel, raws)
    ours = map_all(kernel, raws)
    _assert_same(ours, map_all(Kernel(plan, choice="reference"), raws))
    assert ours.hits > 250


_TEXTS = (
    "0", "-0", "00", "01", "-01", "7", "-7", "--7", "-", "+7", "-null", "-true", '-"x"', "1.", "1.5", "-1.50", ".5",
    "1..5", "1.5.", "1.e2", "1e2", "1.5e2", "1E+2", "1e", "0.0", "00.0", "1_0", "1" * 15, "1" * 16, "1" * 17, "0" * 16,
    f"1.{'2' * 14}", f"1.{'2' * 15}", f"1.{'2' * 16}", f"{'1' * 15}.5", f"{'1' * 16}.5", "null", "nul", "nullx", "Null",
    "true", "false", "fals", "falsy", "falsey", '""', '"x"', '"', '"x', f'"{"x" * 14}"', f'"{"x" * 15}"',
    f'"{"x" * 16}"', f'"{"x" * 40}"', f'"{"x" * 40}', '"{"', '"{}"', '"é"', '"\\n"', '"\\q"', '"a\tb"', "{}", "[]",
    "[1]", "]", "}", ",", "",
)  # fmt: skip
_BEHIND = ("", " ", "x", ",", "}", '"', ":")


@pytest.mark.parametrize("text", _TEXTS)
def test_values_behind_names_that_were_guessed_are_taken_or_refused_as_by_the_reference(text: str) -> None:
    plan = _plan(("id", "a", "eightlet"), 2)
    kernel, reference = Kernel(plan, choice="compiled", patience=0), Kernel(plan, choice="reference")
    usual = _envelope({"id": 1, "a": 1, "eightlet": 1}, "u")
    map_all(kernel, [usual] * 3)
    for member in (b'"id":1', b'"a":1', b'"eightlet":1', b'"lsn":7'):
        for behind in _BEHIND:
            odd = usual.replace(member, member[:-1] + (text + behind).encode())
            assert odd != usual or text + behind in ("1", "7")
            ours = map_all(kernel, [usual, odd, usual])
            _assert_same(ours, map_all(reference, [usual, odd, usual]))
            # Scalars of a row are taken, others left to the reference.
            if _is_scalar(text + behind) and member != b'"lsn":7':
                assert ours.hits == 3


def _is_scalar(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


@pytest.mark.parametrize("end", range(1, 60))
def test_a_record_that_is_cut_off_behind_names_that_were_guessed_is_refused(end: int) -> None:
    plan = _plan(("id", "a", "eightlet"), 1)
    kernel, reference = Kernel(plan, choice="compiled", patience=0), Kernel(plan, choice="reference")
    usual = _envelope({"id": 1, "a": "x" * 20, "eightlet": 1}, "u")
    map_all(kernel, [usual] * 3)
    # What lies behind it in the buffer would make it whole.
    length = len(usual)
    starts, stops = np.array([0, length]), np.array([length - end, 2 * length])
    cut = Records(usual * 3, starts, stops, starts, "f")
    ours = kernel.map(cut)
    _assert_same(ours, reference.map(cut))
    assert ours.fates.tolist() == [RecordOutcome.SET_ASIDE, RecordOutcome.MAPPED]
