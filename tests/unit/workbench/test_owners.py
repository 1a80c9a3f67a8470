"""What owners do by names: lineages, the canonical model, comments."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.lineages import AttributeKey, JoinLineages
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.project.comments import Comments, block_subject, element_subject, node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_leaf
from metl_gui.workbench.model import comments, lineages
from metl_gui.workbench.model.entities import EntityChanges, add_entity, change_entity, content, contents
from metl_gui.workbench.review.decisions import review_list
from metl_gui.workbench.session import Workbench

from .conftest import declare


@pytest.fixture
def renamed(mapped: Workbench) -> Workbench:
    """Orders whose customer has another name in version 2."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "amount")))
    return mapped


def test_a_link_says_what_comes_back_before_and_after_it_is_made(renamed: Workbench) -> None:
    before = renamed.document
    names = "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id"
    told = lineages.link(renamed, *names, dry_run=True)
    assert (renamed.document, told.state, told.dry_run) == (before, before.state, True)
    done = lineages.link(renamed, *names)
    assert told.as_json()["blocks"] == done.as_json()["blocks"]
    (block,) = done.as_json()["blocks"]
    assert [each["from"] for each in block["restored"]] == ["customer_ref"]
    assert done.state == before.state + 1


def test_what_was_told_apart_is_not_proposed_as_a_rename_again(renamed: Workbench) -> None:
    lineages.link(renamed, "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id")
    done = lineages.unlink(renamed, "fx.pay.orders.customer_ref")
    assert [len(block.parted) for block in done.blocks] == [1]
    (item,) = review_list(renamed.document, renamed.kept.refused_renames.all()).items
    assert item.proposals == ()
    assert review_list(renamed.document).items[0].proposals != ()


def test_an_unlink_cuts_below_the_later_of_two_versions(renamed: Workbench) -> None:
    told = lineages.unlink(renamed, "fx.pay.orders.amount@1", "fx.pay.orders.amount@2", dry_run=True)
    assert told.title == "Say that amount of fx.pay.orders is another attribute from version 2 on"
    with pytest.raises(EditError, match="is not known to be the same as"):
        lineages.unlink(renamed, "fx.pay.orders.amount@2", "fx.pay.orders.id@1")
    with pytest.raises(EditError, match="Both name amount of version 2"):
        lineages.unlink(renamed, "fx.pay.orders.amount@2", "fx.pay.orders.amount@2")


def test_an_attribute_that_means_two_things_needs_its_version(renamed: Workbench) -> None:
    lineages.unlink(renamed, "fx.pay.orders.amount@2")
    with pytest.raises(EditError, match="not the same attribute in all of its versions"):
        find_leaf(renamed.document, "fx.pay.orders.amount")
    _, version, attribute = find_leaf(renamed.document, "fx.pay.orders.amount@1")
    assert (version.label, attribute.path) == ("1", "amount")


def test_attributes_of_two_trees_cannot_be_the_same(renamed: Workbench) -> None:
    target = renamed.document.cdm.named("payment")
    assert target is not None
    newest = renamed.document.cdm.newest(target.id)
    assert newest is not None
    with pytest.raises(EditError, match="are in different trees"):
        lineages.link(renamed, "fx.pay.orders.amount", f"payment.{newest.attributes[0].path}")


def test_attributes_that_one_version_has_both_of_are_said_to_stay_two(renamed: Workbench) -> None:
    version = renamed.document.extraction.labelled(
        find_leaf(renamed.document, "fx.pay.orders.amount")[1].schema_id, "2"
    )
    assert version is not None
    edit = JoinLineages(
        Side.EXTRACTION, *(AttributeKey(version.id, attribute.id) for attribute in version.attributes[:2])
    )
    assert "Version 1 has both" not in lineages.join_note(renamed.document, edit)
    assert "Version 2 has both, so they stay two attributes" in lineages.join_note(renamed.document, edit)


def test_an_entity_is_added_and_grows_by_versions(workbench: Workbench) -> None:
    add_entity(workbench, "fee", ["id:integer!", "at:date-time"])
    done = add_entity(workbench, "fee", ["note:string"])
    assert done.title == "New version 2 of fee: add note"
    found = content(workbench.document, "fee")
    assert [(a.path, a.type, a.required) for a in found.attributes] == [
        ("id", "integer", True),
        ("at", "date-time", False),
        ("note", "string", False),
    ]
    assert found.versions == ("1", "2")
    assert [each.name for each in contents(workbench.document)] == ["fee", "payment", "refund"]


def test_all_changes_of_an_entity_make_one_version(workbench: Workbench) -> None:
    add_entity(workbench, "fee", ["a:string", "b:string!", "c:string", "d:string"])
    state = workbench.document.state
    changes = EntityChanges(["e:number"], ["d"], ["a=x=y"], ["c:integer!"], ["a"], ["b"], ["c=What = it is"])
    change_entity(workbench, "fee", changes)
    assert workbench.document.state == state + 1
    found = content(workbench.document, "fee")
    assert [(a.path, a.type, a.required, a.documentation) for a in found.attributes] == [
        ("x=y", "string", True, ""),
        ("b", "string", False, ""),
        ("c", "integer", True, "What = it is"),
        ("e", "number", False, ""),
    ]


def test_changing_a_type_alone_keeps_what_is_required(workbench: Workbench) -> None:
    add_entity(workbench, "fee", ["a:string!"])
    change_entity(workbench, "fee", EntityChanges(retype=["a:number"]))
    assert content(workbench.document, "fee").attributes[0].required


@pytest.mark.parametrize("text", ["a", "", ":string", "a:", "a:text", "!"])
def test_what_is_written_like_no_attribute_is_refused(workbench: Workbench, text: str) -> None:
    before = workbench.document
    with pytest.raises(EditError):
        add_entity(workbench, "fee", [text])
    assert workbench.document is before


def test_comments_on_an_attribute_hold_for_all_versions_and_follow_corrections(renamed: Workbench) -> None:
    comments.add_comment(renamed, "fx.pay.orders.customer_id", "Number of the customer")
    _, version, attribute = find_leaf(renamed.document, "fx.pay.orders.customer_ref")
    assert comments.comments_of(renamed).of_lineage(Side.EXTRACTION, version.schema_id, attribute.lineage) == ()
    lineages.link(renamed, "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id")
    subject = node_subject(renamed.document, Side.EXTRACTION, version.schema_id, version.id, attribute.id)
    assert [c.text for c in comments.comments_of(renamed).of(subject)] == ["Number of the customer"]
    lineages.unlink(renamed, "fx.pay.orders.customer_ref")
    assert comments.comments_of(renamed).of(subject) == ()


def test_comments_are_kept_for_every_kind_of_place(mapped: Workbench) -> None:
    block = next(b for b in mapped.document.matrix.blocks() if b.elements)
    version, entity_version = (mapped.document.tree(s).version(i) for s, i in zip(Side, block.key, strict=True))
    schema = mapped.document.extraction.schema(version.schema_id).name
    entity = mapped.document.cdm.schema(entity_version.schema_id).name
    q, p = block.elements[0]
    source, target = version.attribute(p), entity_version.attribute(q)
    assert source is not None
    assert target is not None
    places = {
        "schema": schema,
        "entity": entity,
        "attribute": f"{schema}.{source.path}",
        "block": f"{schema}@{version.label}:{entity}@{entity_version.label}",
        "element": f"{schema}.{source.path}:{entity}.{target.path}",
    }
    for kind, place in places.items():
        entry = comments.add_comment(mapped, place, f"of the {kind}")
        assert (entry.kind, entry.place) == (kind, place)
        assert [c.text for c in comments.listed(mapped, place)] == [f"of the {kind}"]
    found = comments.comments_of(mapped)
    assert [c.text for c in found.of_element(block.key, block.elements[0])] == ["of the element"]
    assert [c.text for c in found.of_block(block.key)] == ["of the block"]
    assert [c.text for c in found.containing("THE ELE")] == ["of the element"]
    assert len(found) == 5


def test_a_comment_on_a_block_stays_when_the_entity_gets_another_version(mapped: Workbench) -> None:
    block = next(b for b in mapped.document.matrix.blocks() if b.elements)
    entity_version = mapped.document.cdm.version(block.entity_version)
    entity = mapped.document.cdm.schema(entity_version.schema_id)
    name = comments.place_of(mapped.document, block_subject(mapped.document, block.key))
    comments.add_comment(mapped, name, "why")
    subject = element_subject(mapped.document, block.key, block.elements[0])
    change_entity(mapped, entity.name, EntityChanges(add=["later:string"]))
    newest = mapped.document.cdm.newest(entity.id)
    assert newest is not None
    found = comments.comments_of(mapped)
    assert [c.text for c in found.of_block((block.version, newest.id))] == ["why"]
    assert found.of(subject) == ()


def test_undo_does_not_take_comments_back_and_what_is_gone_is_said_to_be(mapped: Workbench) -> None:
    entry = comments.add_comment(mapped, "fx.pay", "old")
    schema = mapped.document.extraction.named("fx.pay")
    assert schema is not None
    for id_ in schema.version_ids:
        mapped.do(RemoveVersion(Side.EXTRACTION, id_))
    assert [(c.id, c.place) for c in comments.listed(mapped)] == [(entry.id, "")]
    mapped.undo()
    assert [c.place for c in comments.listed(mapped)] == ["fx.pay"]
    comments.remove(mapped, entry.id)
    with pytest.raises(EditError, match=f"There is no comment {entry.id}"):
        comments.remove(mapped, entry.id)


def test_an_empty_list_of_comments_answers_every_question() -> None:
    assert Comments().of_block((1, 1)) == ()
    assert list(Comments().containing("")) == []
