"""Topics as a person looks at them before a run."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kafka.inspection import SeenMessage
from metl_gui.errors import RunError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.workbench.masked_messages import Masks
from metl_gui.workbench.runs.topics import ShownMessage, _shown, pattern_fits
from tests.helpers.world import World


def seen(value: bytes | None, key: bytes | None = b'{"id":1}') -> ShownMessage:
    return _shown(SeenMessage("t/0/7", 5, key, value), Masks(Document(), None))


def test_a_pattern_fits_whole_names_only() -> None:
    assert pattern_fits(r"shop\.o.*", ["shop.orders", "my.shop.orders", "shop.o"]) == ["shop.orders", "shop.o"]


def test_a_pattern_that_is_none_is_refused_with_an_example() -> None:
    with pytest.raises(RunError, match="no regular expression") as refused:
        pattern_fits("(", [])
    assert "shop" in refused.value.hint


def test_a_message_is_shown_as_text_as_its_framing_or_as_a_tombstone() -> None:
    assert seen(b'{"a":1.50}') == ShownMessage("t/0/7", 5, '{"id":1}', '{"a":1.50}', "text")
    assert seen(b"\0\0\0\0\x07abc").value == "8 bytes, framed: schema 7 of the registry"
    assert (seen(None).kind, seen(None).value) == ("tombstone", "")
    assert seen(b"\xff\xfe").value == "2 bytes: ff fe"
    assert seen(b"x", None).key == ""


def test_a_huge_message_is_cut_for_the_eye() -> None:
    assert len(seen(b"x" * 100_000).value) == 4_000


def test_masked_values_are_hidden_in_what_lies_in_a_topic() -> None:
    world = World()
    world.schema("fx.pay", "1", "amount", "id")
    version = world.version(Side.EXTRACTION, "fx.pay", "1")
    amount = version.at_path("amount")
    assert amount is not None
    world.do(MaskAttribute(Side.EXTRACTION, version.id, amount.id))
    masks = Masks(world.document, None)
    raw = b'{"before":null,"after":{"id":1,"amount":12.50},"op":"c"}'
    shown = _shown(SeenMessage("t/0/7", 5, None, raw), masks)
    assert "12.50" not in shown.value
    assert HIDDEN in shown.value
    assert '"id":1' in shown.value
