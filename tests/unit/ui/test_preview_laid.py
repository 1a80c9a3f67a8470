"""A preview laid out as one text: what stands out in it, what belongs together, and what is hidden."""

from __future__ import annotations

import json

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.preview.text import TextStyle, flowing, lay_out
from metl_gui.workbench.samples.preview import preview
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import mapped, workbench
from tests.unit.workbench.test_preview import HUSHED, mask, record

__all__ = ["mapped", "workbench"]


def test_a_layout_has_a_spot_for_each_value_with_its_partner_on_the_other_side(mapped: Workbench) -> None:
    document = mapped.document
    laid = lay_out(document, preview(document, record()), (1, 1))
    spots = [spot for spot in laid.spots if spot.value == '"C-7"']
    incoming, outgoing = spots
    assert (incoming.side, outgoing.side) == (Side.EXTRACTION, Side.CDM)
    assert incoming.partners == {(outgoing.version, outgoing.attribute)}
    assert outgoing.partners == {(incoming.version, incoming.attribute)}
    for spot in laid.spots:
        assert laid.text[spot.member.value : spot.member.stop].replace("\N{NO-BREAK SPACE}", " ") == spot.value


def test_what_is_mapped_stands_out_and_what_is_not_is_dim(mapped: Workbench) -> None:
    mapped.do(SetElements((1, 1), zeros=(mapped.document.matrix.block(1, 1).elements[1],)))  # type: ignore[union-attr]
    laid = lay_out(mapped.document, preview(mapped.document, record()), (1, 1))
    looks = {laid.text[part.start : part.stop]: part.look for part in laid.parts}
    assert looks['"1"'] is TextStyle.VALUE
    assert looks['"customer_id":\N{NO-BREAK SPACE}"C-7"'] is TextStyle.UNMAPPED


@pytest.mark.parametrize(
    "text", ['{"a":1.50,"b":{"c":[1,{"d":"x y"}],"e":{}},"f":"\\u00e9 \\" ,"}', "[]", '"x"', "-0.0"]
)
def test_flowing_changes_nothing_but_white_space(text: str) -> None:
    shown = flowing(text).replace("\N{NO-BREAK SPACE}", " ")
    assert json.loads(shown) == json.loads(text)
    assert "1.50" in shown or "1.50" not in text
    assert "\n" not in shown


def test_no_masked_value_is_in_the_text_or_in_a_spot(mapped: Workbench) -> None:
    mask(mapped, "customer_id")
    found = preview(mapped.document, record(customer_id=HUSHED))
    for is_whole in (False, True):
        laid = lay_out(mapped.document, found, None, is_whole=is_whole)
        assert HUSHED not in laid.text
        assert all(HUSHED not in spot.value for spot in laid.spots)
    broken = preview(mapped.document, record(customer_id=HUSHED)[:-3])
    assert HUSHED not in lay_out(mapped.document, broken, None).text
    assert "Not shown" in lay_out(mapped.document, broken, None).text


def test_a_whole_record_shows_its_envelope_and_the_same_values_are_spots(mapped: Workbench) -> None:
    found = preview(mapped.document, record())
    row, whole = (lay_out(mapped.document, found, None, is_whole=is_whole) for is_whole in (False, True))
    assert '"topic"' in whole.text
    assert '"topic"' not in row.text
    assert {(s.side, s.version, s.attribute) for s in row.spots} == {
        (s.side, s.version, s.attribute) for s in whole.spots
    }
