"""Names as people write them."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_block, find_place, known_block_name
from metl_gui.workbench.session import Workbench

from .conftest import declare


def test_a_block_name_reads_back_as_the_block_it_names(workbench: Workbench) -> None:
    key = find_block(workbench.document, "fx.pay.orders@1:payment@1")
    assert str(known_block_name(workbench.document, key)) == "fx.pay.orders@1:payment@1"


def test_names_with_colons_and_at_signs_are_cut_where_both_sides_are_known(workbench: Workbench) -> None:
    workbench.do(AddVersion(Side.EXTRACTION, declare("urn:orders", "1", "id")))
    found = find_block(workbench.document, "urn:orders@1:payment@1")
    assert known_block_name(workbench.document, found).schema == "urn:orders"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "schema@version:entity@version"),
        ("fx.pay.order@1:payment@1", "Did you mean fx.pay.orders"),
        ("fx.pay.orders@9:payment@1", "It has 1"),
        ("fx.pay.orders@1:paymnt@1", "Did you mean payment"),
        ("orders@1:payment@1", "Did you mean fx.pay.orders"),
    ],
)
def test_a_block_that_is_not_known_is_answered_with_what_is_near(workbench: Workbench, text: str, said: str) -> None:
    with pytest.raises(EditError, match=said.replace(".", r"\.")):
        find_block(workbench.document, text)


def test_the_longest_known_schema_name_is_taken(workbench: Workbench) -> None:
    schema, path = find_place(workbench.document, Side.EXTRACTION, "fx.pay.orders")
    assert (schema.name, path) == ("fx.pay.orders", None)
    schema, path = find_place(workbench.document, Side.EXTRACTION, "fx.pay.id")
    assert (schema.name, path) == ("fx.pay", "id")
    with pytest.raises(EditError, match="has an attribute"):
        find_place(workbench.document, Side.EXTRACTION, "fx.pay.orders.nothing")


def test_an_empty_project_says_so(workbench: Workbench) -> None:
    with pytest.raises(EditError, match="no schema"):
        find_place(workbench.document, Side.EXTRACTION, "x")
