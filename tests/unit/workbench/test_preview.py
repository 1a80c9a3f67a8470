"""The instant preview: what it says of each fate, what it links, and that no masked value comes out of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import MaskAttribute, SetSettings
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.nodes import Side
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.workbench.samples.preview import Preview, Previews, preview
from metl_gui.workbench.session import Workbench

ORDERS = "fx.pay.orders"
HUSHED = "VERY-HUSHED-42"


def record(op: str = "c", topic: str = ORDERS, **row: Any) -> bytes:
    after = {"id": "1", "customer_id": "C-7", "amount": "5", "legacy": None} | row
    return json.dumps({"topic": topic, "value": {"before": None, "after": after, "op": op}}).encode()


def mask(workbench: Workbench, path: str) -> None:
    version = workbench.document.extraction.version(1)
    attribute = version.at_path(path)
    assert attribute is not None
    workbench.do(MaskAttribute(Side.EXTRACTION, version.id, attribute.id))


def everything(found: Preview) -> str:
    texts = [found.words, found.position, *(note for each in found.messages for note in each.notes)]
    parts = [found.row, found.whole, *(each.text for each in found.messages)]
    return " ".join([*texts, *((part or b"").decode() for part in parts)])


def test_a_mapped_message_shows_its_row_and_each_message_with_the_paths_that_made_it(mapped: Workbench) -> None:
    found = preview(mapped.document, record())
    assert (found.fate, found.schema, found.version, found.op_words) == (RecordOutcome.MAPPED, ORDERS, "1", "create")
    assert found.words == "Becomes 2 messages."
    assert json.loads(found.row or b"") == {"id": "1", "customer_id": "C-7", "amount": "5", "legacy": None}
    payment, refund = found.messages
    assert ("customer_id", "payer_id") in payment.links
    assert json.loads(payment.text or b"")["payload"]["payer_id"] == "C-7"
    assert refund.entity == "refund"
    assert all("confirmed" not in note for note in payment.notes)


@pytest.mark.parametrize(
    ("raw", "fate", "words"),
    [
        (b'{"op":', RecordOutcome.SET_ASIDE, "Would be set aside. It is no text that may be accepted"),
        (record(topic="nobody"), RecordOutcome.SET_ASIDE, "Would be set aside. Its schema is not in the project"),
        (
            record(unheard=1),
            RecordOutcome.SET_ASIDE,
            "Would be set aside. None of the versions that are known has this form",
        ),
        (b'{"topic":"fx.pay.orders","value":null}', RecordOutcome.SKIPPED, "Would be skipped: a tombstone"),
        (
            b'{"topic":"__debezium-heartbeat.fx","value":{"ts_ms":1}}',
            RecordOutcome.SKIPPED,
            "Would be skipped: a heartbeat",
        ),
        (
            b'{"topic":"fx.pay","value":{"orders":"1","id":"2"}}',
            RecordOutcome.FILTERED,
            "Would be filtered: no attribute of version 1 is mapped.",
        ),
        (
            record(id=None, customer_id=None, amount=None),
            RecordOutcome.FILTERED,
            "Would be filtered: every mapped attribute is null in it.",
        ),
    ],
)
def test_what_is_not_mapped_says_why_in_words(mapped: Workbench, raw: bytes, fate: RecordOutcome, words: str) -> None:
    found = preview(mapped.document, raw)
    assert found.fate is fate
    assert found.words.startswith(words)


def test_a_preview_follows_an_edit_and_its_undo(mapped: Workbench) -> None:
    previews, key = Previews(), (1, 1)
    previews.take(mapped.document)
    before = previews.of(record())
    block = mapped.document.matrix.block(*key)
    assert block is not None
    mapped.do(SetElements(key, zeros=block.elements[:1]))
    previews.take(mapped.document)
    edited = previews.of(record())
    mapped.undo()
    previews.take(mapped.document)
    again = previews.of(record())
    assert edited.messages[0].links != before.messages[0].links
    assert again.messages[0].links == before.messages[0].links
    assert json.loads(again.messages[0].text or b"")["payload"] == json.loads(before.messages[0].text or b"")["payload"]


def test_no_masked_value_is_in_anything_that_a_preview_says(mapped: Workbench) -> None:
    mask(mapped, "customer_id")
    for op in "crud":
        found = preview(mapped.document, record(op, customer_id=HUSHED))
        assert HUSHED not in everything(found)
        assert HUSHED not in json.dumps(found.as_json())
    found = preview(mapped.document, record(customer_id=HUSHED))
    assert HIDDEN in (found.row or b"").decode()


def test_a_masked_version_field_is_not_quoted_where_no_version_has_it(mapped: Workbench) -> None:
    mapped.do(SetSettings(Side.EXTRACTION, 1, (("version_field", "customer_id"),)))
    assert HUSHED in preview(mapped.document, record(customer_id=HUSHED)).words
    mask(mapped, "customer_id")
    found = preview(mapped.document, record(customer_id=HUSHED))
    assert found.reason == "unknown_version"
    assert HUSHED not in everything(found)


def test_a_record_that_cannot_be_read_is_not_shown_where_anything_is_masked(mapped: Workbench) -> None:
    raw = record(customer_id=HUSHED)[:-3]
    mask(mapped, "customer_id")
    found = preview(mapped.document, raw)
    assert found.whole is None
    assert HUSHED not in everything(found)


def test_the_masks_of_the_newest_state_hide_values_while_an_earlier_one_is_looked_at(mapped: Workbench) -> None:
    earlier = mapped.document
    mask(mapped, "customer_id")
    previews = Previews()
    previews.take(earlier, mapped.document)
    assert HUSHED not in everything(previews.of(record(customer_id=HUSHED)))
