"""Who set what: through versions, renames, decisions and undo."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.ignored import IgnoreAttributes, RecallAttributes
from metl_gui.core.edits.review import AcceptLosses, RenameLost
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectError
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.workbench.addresses import find_attribute, find_block, find_leaf
from metl_gui.workbench.history.blame import BlameEvent, attribute_history, blame, block_history, element_history
from metl_gui.workbench.history.states import undo_state
from metl_gui.workbench.links.link import LinkPlace, PlaceKind
from metl_gui.workbench.links.places import link_to, look_at_place
from metl_gui.workbench.session import Workbench

from .conftest import declare


def element_of(workbench: Workbench, key: BlockKey, source: str, target: str) -> Element:
    document = workbench.document
    p = find_attribute(document.extraction.version(key[0]), "", source).id
    q = find_attribute(document.cdm.version(key[1]), "", target).id
    return Element(q, p)


def lineages_of(workbench: Workbench, key: BlockKey, source: str, target: str) -> tuple[int, int]:
    document = workbench.document
    p = find_attribute(document.extraction.version(key[0]), "", source).lineage
    q = find_attribute(document.cdm.version(key[1]), "", target).lineage
    return q, p


def told(events: tuple[BlameEvent, ...]) -> list[tuple[int, str]]:
    return [(event.state, event.what) for event in events]


@pytest.fixture
def grown(mapped: Workbench) -> Workbench:
    """Versions 2 and 3 of the mapped schema; version 2 has ``customer_ref`` for ``customer_id``, which is a rename."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "amount", "legacy")))
    key = find_block(mapped.document, "fx.pay.orders@2:payment@1")
    mapped.do(RenameLost(key, "customer_id", "customer_ref", "the team says so"))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_ref", "amount")))
    return mapped


def test_an_element_is_traced_through_versions_to_the_edit_that_set_it(grown: Workbench) -> None:
    key = find_block(grown.document, "fx.pay.orders@3:payment@1")
    (found,) = blame(grown, key, element_of(grown, key, "amount", "amount"))
    assert found.origin is not None
    assert (found.origin.state, found.origin.who) == (5, "tess")
    assert "mapping.csv" in found.origin.title or "Map" in found.origin.title
    assert [event.state for event in found.carried] == [8, 6]
    assert str(found.origin.block) == "fx.pay.orders@1:payment@1"


def test_a_renamed_element_names_the_decision_with_its_comment_and_then_its_first_setting(grown: Workbench) -> None:
    key = find_block(grown.document, "fx.pay.orders@3:payment@1")
    (found,) = blame(grown, key, element_of(grown, key, "customer_ref", "payer_id"))
    assert found.origin is not None
    assert (found.origin.state, found.origin.comment) == (7, "the team says so")
    events = element_history(grown, key, lineages_of(grown, key, "customer_ref", "payer_id"))
    assert told(events) == [(8, "carried along"), (7, "set"), (6, "lost"), (5, "set")]
    assert events[2].reason == "customer_id was removed in version 2"


def test_what_was_lost_and_accepted_is_told_although_it_is_mapped_no_more(grown: Workbench) -> None:
    key = find_block(grown.document, "fx.pay.orders@3:payment@1")
    grown.do(AcceptLosses(key, ("legacy",), "gone for good"))
    block = grown.document.matrix.block(*key)
    assert block is not None
    events = element_history(grown, key, block.losses[-1].lineages)
    assert told(events) == [(8, "lost"), (7, "confirmed"), (6, "carried along"), (5, "set")]
    assert told(block_history(grown, key)) == [(9, "confirmed"), (8, "+3, needs review")]
    assert block_history(grown, key)[0].comment == "gone for good"


def test_clearing_and_setting_again_moves_the_blame(mapped: Workbench) -> None:
    key = find_block(mapped.document, "fx.pay.orders@1:payment@1")
    element = element_of(mapped, key, "id", "payment_id")
    mapped.do(SetElements(key, zeros=(element,)))
    with pytest.raises(EditError, match="not mapped today"):
        blame(mapped, key, element)
    mapped.do(SetElements(key, ones=(element,), comment="asked again"))
    origin = blame(mapped, key, element)[0].origin
    assert origin is not None
    assert (origin.state, origin.comment) == (7, "asked again")
    found = element_history(mapped, key, lineages_of(mapped, key, "id", "payment_id"))
    assert told(found) == [(7, "set"), (6, "cleared"), (5, "set")]


def test_the_trail_goes_on_through_versions_that_were_removed(grown: Workbench) -> None:
    for label in ("1", "2"):
        schema = grown.document.extraction.named("fx.pay.orders")
        assert schema is not None
        version = grown.document.extraction.labelled(schema.id, label)
        assert version is not None
        grown.do(RemoveVersion(Side.EXTRACTION, version.id))
    key = find_block(grown.document, "fx.pay.orders@3:payment@1")
    (found,) = blame(grown, key, element_of(grown, key, "amount", "amount"))
    assert found.origin is not None
    assert (found.origin.state, found.origin.block) == (5, None)
    assert [event.state for event in found.carried] == [8, 6]


def test_the_trail_goes_through_a_new_entity_version(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("refund", "2", "refund_id", "amount", "reason")))
    key = find_block(mapped.document, "fx.pay.orders@1:refund@2")
    (found,) = blame(mapped, key, element_of(mapped, key, "amount", "amount"))
    assert found.origin is not None
    assert (found.origin.state, [event.state for event in found.carried]) == (5, [6])


def test_an_attribute_tells_where_it_came_from_and_what_it_was_called(grown: Workbench) -> None:
    side, version, attribute = find_leaf(grown.document, "fx.pay.orders.customer_ref")
    events = attribute_history(grown, side, version.schema_id, attribute.lineage)
    assert told(events) == [(8, "came in version 3"), (7, "joined in version 2"), (3, "came in version 1")]


def test_any_state_is_taken_back_while_nothing_it_touched_has_changed(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("rate", "1", "base", "quote")))
    mapped.do(AddVersion(Side.CDM, declare("fee", "1", "amount")))
    assert undo_state(mapped, 6).title == "Undo: Add rate version 1"
    assert mapped.document.cdm.named("rate") is None
    assert mapped.document.cdm.named("fee") is not None
    with pytest.raises(EditError, match="taken back already"):
        undo_state(mapped, 6)
    with pytest.raises(EditError, match=r"Changed since: .*That was state 5 \(Map 6 elements"):
        undo_state(mapped, 3)


def test_what_was_done_again_is_taken_back_under_the_state_that_first_did_it(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("rate", "1", "base", "quote")))
    mapped.undo()
    mapped.redo()
    assert undo_state(mapped, 6).state == 9
    assert mapped.document.cdm.named("rate") is None
    assert undo_state(mapped, 9).title == "Redo: Add rate version 1"
    assert mapped.document.cdm.named("rate") is not None


def test_after_a_compaction_the_trail_names_how_many_states_it_may_have_been(grown: Workbench) -> None:
    grown._project.compact(RetentionPolicy(edits=1, days=0))
    key = find_block(grown.document, "fx.pay.orders@3:payment@1")
    (found,) = blame(grown, key, element_of(grown, key, "amount", "amount"))
    assert found.origin is not None
    assert (found.origin.state, found.origin.states) == (7, 7)
    assert [event.state for event in found.carried] == [8]
    with pytest.raises(EditError, match="compacted over state 7"):
        undo_state(grown, 7)
    with pytest.raises(ProjectError, match="merged into state 7"):
        undo_state(grown, 5)
    assert grown.undo().title == "Undo: Add fx.pay.orders version 3"
    with pytest.raises(EditError, match=r"nothing to undo.*merged when the log was compacted"):
        grown.undo()


def test_an_attribute_tells_that_it_was_marked_as_never_to_be_mapped_and_is_again(grown: Workbench) -> None:
    side, version, attribute = find_leaf(grown.document, "fx.pay.orders.customer_ref")
    state = grown.document.state
    grown.do(IgnoreAttributes(side, version.schema_id, (attribute.lineage,), "no use", unmaps=True))
    place = LinkPlace(PlaceKind.SCHEMA, (version.schema_id, version.id, attribute.id))
    shown = look_at_place(grown, link_to(grown.project_id, grown.document, place))
    assert any(fact.startswith("Never to be mapped: no use (") for fact in shown.facts)
    grown.do(RecallAttributes(side, version.schema_id, (attribute.lineage,)))
    events = attribute_history(grown, side, version.schema_id, attribute.lineage)
    assert told(events)[:2] == [(state + 2, "to be mapped again"), (state + 1, "never to be mapped: no use")]
