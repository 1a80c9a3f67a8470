"""Edits of warehouse models: titles, refusals, undo, and what a state's hash says of them."""

from __future__ import annotations

import pytest

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.changes.rewind import rewound
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.warehouse import RemoveModel, SetModel
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Hierarchy, Model
from metl_gui.errors import EditError
from tests.helpers.world import World

CUSTOMER = Dimension(name="customer", entity="customer", columns=(Column(name="name", path="name"),))
DATES = Dates(name="date", first="2026-01-01", last="2026-12-31")
FX = Model(name="fx", tables=(CUSTOMER, DATES))


def with_models(*models: Model) -> Document:
    document = World().document
    for model in models:
        document = perform(document, SetModel(model)).after
    return document


def test_models_of_a_document_are_in_the_order_of_their_names() -> None:
    document = with_models(FX, Model(name="audit"), Model(name="zoo"))
    assert [model.name for model in document.models] == ["audit", "fx", "zoo"]
    assert document.model("fx") is FX
    assert document.model("none") is None


def test_what_an_edit_of_models_leaves_alone_stays_the_same_object() -> None:
    document = with_models(FX)
    after = perform(document, SetModel(Model(name="audit"))).after
    assert after.matrix.base is document.matrix.base
    assert after.models[1] is FX
    assert perform(document, SetModel(FX)).change.is_empty


def test_a_title_names_the_tables_that_become_others() -> None:
    document = with_models(FX)
    changed = Model(name="fx", tables=(CUSTOMER, Hierarchy(name="tree", of="customer")))
    assert SetModel(changed).title(document) == "Change tree, date of the warehouse model fx"
    assert SetModel(Model(name="fx", tables=FX.tables, entities=())).title(document) == "Change fx"
    assert SetModel(Model(name="one", tables=(DATES,))).title(document) == "Add the warehouse model one with 1 table"
    assert RemoveModel("fx").title(document) == "Remove the warehouse model fx"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 64, "ä" * 32, "\ud800"])
def test_a_text_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(EditError, match="is no name for a warehouse model"):
        perform(Document(), SetModel(Model(name=name)))


def test_a_model_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(EditError) as refused:
        perform(with_models(Model(name="audit")), RemoveModel("audti"))
    assert refused.value.text == "Did you mean audit?"


def test_taking_back_gives_the_model_of_before() -> None:
    document = with_models(FX)
    removed = perform(document, RemoveModel("fx"))
    assert removed.after.models == ()
    assert perform(removed.after, Revert(removed.change, removed.title)).after.models == (FX,)
    assert rewound(removed.after, removed.change, document.state).models == (FX,)
    assert rewound(document, removed.change.inverse(), removed.after.state).models == ()


def test_what_was_changed_since_cannot_be_taken_back() -> None:
    added = perform(Document(), SetModel(FX))
    later = perform(added.after, SetModel(Model(name="fx"))).after
    with pytest.raises(EditError) as refused:
        perform(later, Revert(added.change, added.title))
    assert "the warehouse model fx" in refused.value.text


def test_a_second_person_need_not_confirm_models() -> None:
    assert perform(Document(), SetModel(FX), EditContext("ada", 1, needs_second=True)).after.models == (FX,)


def test_models_count_in_the_hash_of_a_state_and_only_where_there_are_some() -> None:
    bare = Document()
    assert state_hash(perform(with_models(FX), RemoveModel("fx")).after) == state_hash(bare)
    assert state_hash(with_models(FX)) != state_hash(bare)
    assert state_hash(with_models(FX, Model(name="a"))) == state_hash(with_models(Model(name="a"), FX))
