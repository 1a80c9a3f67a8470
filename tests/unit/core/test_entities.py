"""The canonical data model by hand: new entities, new versions, attributes made by mapping, and their preview."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import Edit, EditContext, Transition, perform
from metl_gui.core.changes.effects import BlockEffect, effects
from metl_gui.core.edits.entities import AddEntity, ChangeEntity, CreateAndMap, RenameEntity, changed_words, declared
from metl_gui.core.edits.lineages import AttributeKey
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.core.trees.types import CHOICES, read_type, type_name
from metl_gui.core.warehouse_model import Bridge, Dimension, Model
from metl_gui.errors import EditError
from tests.helpers.world import World
from tests.unit.core.test_lineages import not_same, same
from tests.unit.core.test_rules import content_of


@pytest.fixture
def world() -> World:
    world = World()
    world.schema("s", "1", "amount", "ref", "note")
    world.schema("s", "2", "amount", "ref", "note", "fee:int64")
    world.entity("be", "1", "value", "id")
    world.map("s@1:be@1", value="amount", id="ref")
    world.map("s@2:be@1", value="amount", id="ref")
    return world


def newest(world: World, name: str = "be") -> Version:
    entity = world.document.cdm.named(name)
    assert entity is not None
    found = world.document.cdm.newest(entity.id)
    assert found is not None
    return found


def change(world: World, *attributes: AttributeDeclaration, label: str | None = None) -> ChangeEntity:
    return ChangeEntity(newest(world).schema_id, attributes, label)


def named(world: World, path: str, label: str = "2") -> AttributeKey:
    version = world.version(Side.EXTRACTION, "s", label)
    attribute = version.at_path(path)
    assert attribute is not None
    return AttributeKey(version.id, attribute.id)


def effects_of(world: World, edit: Edit) -> tuple[BlockEffect, ...]:
    return effects(perform(world.document, edit))


def test_an_entity_gets_another_name_answers_to_the_old_one_and_keeps_everything_else(world: World) -> None:
    before = world.document
    entity = newest(world).schema_id
    done = world.do(RenameEntity(entity, "thing"))
    after = world.document
    assert done.title == "Rename be to thing"
    assert after.state == before.state + 1
    for name in ("be", "thing"):
        found = after.cdm.named(name)
        assert found is not None
        assert (found.id, found.name, found.aliases) == (entity, "thing", ("be",))
    assert newest(world, "be") == newest(world, "thing")
    assert not effects(done), "no block changes"
    world.undo(done)
    assert world.document.cdm.schema(entity) == before.cdm.schema(entity)
    assert world.document.cdm.named("thing") is None


def test_an_entity_that_is_called_as_before_answers_to_both_names_still(world: World) -> None:
    entity = newest(world).schema_id
    world.do(RenameEntity(entity, "thing"))
    world.do(RenameEntity(entity, "be"))
    found = world.document.cdm.schema(entity)
    assert (found.name, found.aliases) == ("be", ("thing",))
    assert world.do(RenameEntity(entity, "be")).change.is_empty


def test_a_name_that_another_entity_answers_to_is_refused(world: World) -> None:
    world.entity("other", "1", "x")
    world.do(RenameEntity(newest(world, "other").schema_id, "third"))
    for name in ("third", "other"):
        with pytest.raises(EditError, match=f"third answers to {name} already"):
            perform(world.document, RenameEntity(newest(world).schema_id, name))
    with pytest.raises(EditError, match="An entity needs a name"):
        perform(world.document, RenameEntity(newest(world).schema_id, " "))
    with pytest.raises(EditError, match="cannot be the name of an entity"):
        perform(world.document, RenameEntity(newest(world).schema_id, "a@b"))


@pytest.mark.parametrize(
    ("model", "is_kept"),
    [
        (Model(name="wh"), True),
        (Model(name="wh", entities=("other",)), False),
        (Model(name="wh", entities=("be",)), True),
        (Model(name="wh", entities=(), tables=(Dimension(name="d", entity="be"),)), True),
        (Model(name="wh", entities=(), tables=(Bridge(name="d", entity="be"),)), True),
        (Model(name="wh", entities=(), tables=(Dimension(name="d", entity="other"),)), False),
    ],
)
def test_an_entity_keeps_its_name_while_a_warehouse_keeps_its_messages(
    world: World, model: Model, is_kept: bool
) -> None:
    world.document = replace(world.document, models=(model,))
    edit = RenameEntity(newest(world).schema_id, "thing")
    if is_kept:
        with pytest.raises(EditError, match="The warehouse model wh keeps the messages of be"):
            perform(world.document, edit)
    else:
        assert perform(world.document, edit).after.cdm.named("thing") is not None


def test_an_entity_that_nothing_is_mapped_to_has_no_messages_to_keep(world: World) -> None:
    world.entity("other", "1", "x")
    world.document = replace(world.document, models=(Model(name="wh"),))
    done = perform(world.document, RenameEntity(newest(world, "other").schema_id, "thing"))
    assert done.after.cdm.named("thing") is not None


def test_a_new_version_collects_all_changes_and_carries_the_blocks_in_one_state(world: World) -> None:
    value, id_ = declared(newest(world))
    transition = world.do(
        change(world, replace(value, path="amount", type="number"), id_, AttributeDeclaration("x", "string"))
    )
    assert newest(world).label == "2"
    assert world.pairs("s@1:be@2") == world.pairs("s@2:be@2") == {("amount", "amount"), ("id", "ref")}
    assert transition.after.state == transition.before.state + 1
    assert transition.title == ("New version 2 of be: add x; rename value to amount; change the type of amount")


def test_who_removes_an_attribute_answers_for_its_elements_and_is_not_asked_again(world: World) -> None:
    world.do(change(world, declared(newest(world))[0]))
    assert review_items(world.document) == ()
    for version in "12":
        block = world.block(f"s@{version}:be@2")
        assert [(loss.to_path, loss.answer) for loss in block.losses] == [("id", "accepted")]
        assert (block.status, block.who) == (Status.CONFIRMED, "tester")


def test_removing_an_attribute_leaves_what_its_sources_lost_to_be_decided(world: World) -> None:
    world.schema("s", "3", "ref")
    assert [loss.to_path for loss in world.block("s@3:be@1").open_losses] == ["value"]
    world.do(change(world, declared(newest(world))[0]))
    (item,) = review_items(world.document)
    assert [loss.to_path for loss in item.losses] == ["value"]


def test_a_second_person_confirms_what_a_new_version_loses(world: World) -> None:
    edit = change(world, declared(newest(world))[0])
    after = perform(world.document, edit, EditContext("tester", 1, needs_second=True)).after
    keys = [(world.version(Side.EXTRACTION, "s", label).id, newest(world).id + 1) for label in "12"]
    found = [after.matrix.block(*key) for key in keys]
    assert [block.is_unconfirmed for block in found if block is not None] == [True, True]


def test_undoing_a_new_version_puts_the_old_blocks_back(world: World) -> None:
    before = content_of(world.document)
    world.undo(world.do(change(world, declared(newest(world))[0])))
    assert content_of(world.document) == before


def test_documentation_and_order_change_in_place(world: World) -> None:
    value, id_ = declared(newest(world))
    transition = world.do(change(world, id_, replace(value, doc="In euro")))
    assert transition.title == "Describe be version 1"
    assert [(a.path, a.doc) for a in newest(world).attributes] == [("id", ""), ("value", "In euro")]
    assert transition.change.blocks == ()
    assert world.pairs("s@1:be@1") == {("value", "amount"), ("id", "ref")}


def test_an_attribute_that_takes_the_name_of_a_removed_one_keeps_its_own_lineage(world: World) -> None:
    id_ = declared(newest(world))[1]
    world.do(change(world, replace(id_, path="value")))
    assert world.pairs("s@1:be@2") == {("value", "ref")}


def test_the_key_follows_a_renamed_attribute(world: World) -> None:
    from metl_gui.core.edits.versions import NoteKey

    world.do(NoteKey(Side.CDM, newest(world).id, ("id",)))
    value, id_ = declared(newest(world))
    world.do(change(world, value, replace(id_, path="payment_id")))
    assert newest(world).key == ("payment_id",)
    world.do(change(world, declared(newest(world))[0]))
    assert newest(world).key is None


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ((), "be would have no attributes"),
        ((AttributeDeclaration("a", "string"), AttributeDeclaration("a", "int32")), "be names a twice"),
        ((AttributeDeclaration("a", "text"),), "a cannot be of type 'text'"),
        ((AttributeDeclaration("", "string"),), "An attribute of be has no path"),
        ((AttributeDeclaration("a..b", "string"),), "'a..b' is no path"),
        ((AttributeDeclaration("a\\b", "string"),), "is no path"),
        ((AttributeDeclaration(" a", "string"),), "' a' is no path"),
        ((AttributeDeclaration("a\n", "string"),), "is no path"),
        (
            (AttributeDeclaration("a", "string"), AttributeDeclaration("a.b", "string")),
            "a is a value of be and cannot hold a.b",
        ),
    ],
)
def test_what_cannot_be_a_version_is_refused_in_words(
    world: World, attributes: tuple[AttributeDeclaration, ...], words: str
) -> None:
    with pytest.raises(EditError, match=words.replace(".", "\\.")):
        world.do(change(world, *attributes))


@pytest.mark.parametrize("name", ["", " be", "a@b", "a:b", "a\tb"])
def test_what_block_names_could_not_be_written_with_is_no_name_of_an_entity(world: World, name: str) -> None:
    with pytest.raises(EditError, match="name"):
        world.do(AddEntity(name, (AttributeDeclaration("a", "string"),)))


def test_an_entity_that_is_there_is_not_added_again(world: World) -> None:
    with pytest.raises(EditError, match="There is an entity be already"):
        world.do(AddEntity("be", (AttributeDeclaration("a", "string"),)))


def test_a_new_entity_begins_with_its_first_version(world: World) -> None:
    world.do(AddEntity("fee", (AttributeDeclaration("a", "string", optional=False),)))
    assert newest(world, "fee").label == "1"
    assert not newest(world, "fee").attributes[0].optional


def test_going_back_to_the_content_of_an_older_version_names_it(world: World) -> None:
    before = declared(newest(world))
    world.do(change(world, *before, AttributeDeclaration("x", "string")))
    with pytest.raises(EditError, match="exactly these attributes in version 1"):
        world.do(change(world, *before))


def test_a_label_below_the_newest_one_is_refused(world: World) -> None:
    with pytest.raises(EditError, match="Version 0 of be would not be the newest one"):
        world.do(change(world, *declared(newest(world)), AttributeDeclaration("x", "string"), label="0"))


def test_labels_that_are_dates_are_followed_by_a_higher_number() -> None:
    world = World()
    world.entity("be", "2024-05-01", "a")
    world.do(change(world, *declared(newest(world)), AttributeDeclaration("x", "string")))
    assert newest(world).label == "2025"


@pytest.mark.parametrize(
    ("before", "after"), [("1", "2"), ("1.2.3", "2.0.0"), ("1-0-0", "2-0-0"), ("v7", "8"), ("2.0", "3.0"), ("new", "2")]
)
def test_the_next_label_is_written_like_the_newest_one(before: str, after: str) -> None:
    world = World()
    world.entity("be", before, "a")
    world.do(change(world, *declared(newest(world)), AttributeDeclaration("x", "string")))
    assert newest(world).label == after


def test_an_attribute_is_created_and_mapped_in_one_step(world: World) -> None:
    transition = world.do(CreateAndMap(newest(world).schema_id, (named(world, "fee"),)))
    assert transition.title == "Create fee of be and map it"
    assert world.pairs("s@2:be@2") == {("value", "amount"), ("id", "ref"), ("fee", "fee")}
    assert world.pairs("s@1:be@2") == {("value", "amount"), ("id", "ref")}
    created = newest(world).at_path("fee")
    assert created is not None
    assert (created.type, created.optional) == ("int64", True)
    world.undo(transition)
    assert newest(world).label == "1"
    assert world.pairs("s@2:be@1") == {("value", "amount"), ("id", "ref")}


def test_several_attributes_are_created_in_one_version(world: World) -> None:
    world.do(CreateAndMap(newest(world).schema_id, (named(world, "fee"), named(world, "note"))))
    assert newest(world).label == "2"
    assert {("fee", "fee"), ("note", "note")} <= world.pairs("s@2:be@2")


def test_an_attribute_that_the_entity_has_is_not_created_again(world: World) -> None:
    with pytest.raises(EditError, match="be has an attribute id already"):
        world.do(CreateAndMap(newest(world).schema_id, (named(world, "fee"),), "id"))


def test_the_preview_says_what_a_new_version_loses_and_keeps(world: World) -> None:
    before = world.document
    found = effects_of(world, change(world, declared(newest(world))[0]))
    assert world.document is before
    assert [(e.lost, e.gained, e.kept, e.needs_review) for e in found] == [
        ((("ref", "id"),), (), 1, False),
        ((("ref", "id"),), (), 1, False),
    ]
    assert [e.came_from for e in found] == [world.key("s@1:be@1"), world.key("s@2:be@1")]


def test_the_preview_of_a_lineage_names_what_parts_and_what_comes_back(world: World) -> None:
    world.schema("s", "3", "amount", "ref", "note", "fee:int64", "more")
    (effect,) = effects_of(world, not_same(world, "ref@3"))
    assert (effect.key, effect.lost, effect.needs_review) == (world.key("s@3:be@1"), (("ref", "id"),), True)
    world.do(not_same(world, "ref@3"))
    (effect,) = effects_of(world, same(world, "ref@3", "ref@2"))
    assert (effect.gained, effect.lost) == ((("ref", "id"),), ())


def test_correcting_a_lineage_of_the_canonical_model_parts_nothing_else(world: World) -> None:
    world.do(change(world, *declared(newest(world)), AttributeDeclaration("x", "string")))
    found = effects_of(world, not_same(world, "id@2", "be", Side.CDM))
    assert [(e.lost, e.gained, e.kept) for e in found] == [((("ref", "id"),), (), 1)] * 2


def test_blocks_that_go_are_named_by_the_preview(world: World) -> None:
    entity = newest(world).schema_id
    world.do(SetSettings(Side.CDM, entity, (("policy", "parallel"),)))
    world.do(change(world, *declared(newest(world)), AttributeDeclaration("x", "string")))
    found = effects_of(world, SetSettings(Side.CDM, entity, (("policy", "newest"),)))
    assert [(e.is_gone, len(e.lost)) for e in found] == [(True, 2), (True, 2)]


def test_an_edit_of_the_record_alone_has_no_effect_to_name(world: World) -> None:
    transition: Transition = world.do(change(world, *declared(newest(world))[::-1]))
    assert effects(transition) == ()


def test_changes_are_said_one_by_one(world: World) -> None:
    value, id_ = declared(newest(world))
    after = [replace(value, optional=False), replace(id_, type="int64"), AttributeDeclaration("x", "string")]
    assert changed_words(newest(world), after) == ["add x", "make value required", "change the type of id"]
    assert changed_words(newest(world), [AttributeDeclaration("id", "string")]) == ["remove value"]


@pytest.mark.parametrize("text", [*CHOICES, "bytes/org.apache.kafka.connect.data.Decimal(2)", "string/email"])
def test_a_type_is_read_as_it_is_written(text: str) -> None:
    type_, logical, scale = read_type(text)
    assert type_name(AttributeDeclaration("a", type_, logical, scale)) == text


@pytest.mark.parametrize(
    "text", ["", "text", "string/", "/date", "Decimal(2)", "string(x)", "a b", "date/x", "string//x/(2"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(EditError, match="There is no type"):
        read_type(text)


# keys


def test_a_key_is_given_in_place_follows_renames_and_goes_with_its_attribute(world: World) -> None:
    entity, attributes = newest(world).schema_id, declared(newest(world))
    edit = ChangeEntity(entity, attributes, key=("id",))
    assert edit.title(world.document) == "Give be version 1 the key id"
    done = world.do(edit)
    assert (newest(world).key, newest(world).label) == (("id",), "1")
    assert ChangeEntity(entity, attributes).title(world.document) == "Describe be version 1"
    world.do(change(world, *(replace(a, path="ref" if a.path == "id" else a.path) for a in declared(newest(world)))))
    assert (newest(world).key, newest(world).label) == (("ref",), "2")
    gone = ChangeEntity(entity, declared(newest(world)), key=())
    assert gone.title(world.document) == "Give be version 2 no key"
    world.do(gone)
    assert not newest(world).key
    assert done.after.state != done.before.state


def test_a_new_entity_has_its_key_in_the_order_that_was_given(world: World) -> None:
    made = (AttributeDeclaration("a", "string"), AttributeDeclaration("b", "string"))
    world.do(AddEntity("pair", made, key=("b", "a")))
    assert newest(world, "pair").key == ("b", "a")
    world.do(AddEntity("plain", made))
    assert newest(world, "plain").key is None


@pytest.mark.parametrize(("key", "words"), [(("c",), "has no attribute 'c'"), (("a", "a"), "names a twice")])
def test_a_key_of_what_is_not_there_is_refused(world: World, key: tuple[str, ...], words: str) -> None:
    with pytest.raises(EditError, match=words):
        world.do(AddEntity("pair", (AttributeDeclaration("a", "string"),), key=key))
    with pytest.raises(EditError, match="id"):
        world.do(ChangeEntity(newest(world).schema_id, declared(newest(world)), key=("ids",)))
