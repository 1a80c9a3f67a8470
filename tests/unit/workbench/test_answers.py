"""The answer sheet there and back: rows keep what they are about, whatever people do to the workbook meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

import openpyxl
import pytest

from metl_gui.core.edits.review import Postpone
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.review.items import review_items
from metl_gui.core.review.query import query_of
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, SchemaError
from metl_gui.workbench.review import answer_sheet, decisions
from metl_gui.workbench.review.answer_sheet import (
    SHEET,
    AnswerSheetResult,
    AnswerSheetSummary,
    parse_key,
    read_answers,
    take_answers,
    write_sheet,
)
from metl_gui.workbench.review.assignments import assign, assignments, wanted_in
from metl_gui.workbench.session import Workbench

from .conftest import declare
from .test_reviewing import PAYMENT_2, REFUND_2


@pytest.fixture
def shrunk(mapped: Workbench) -> Workbench:
    """Version 2 renames ``customer_id``, drops ``legacy`` and ``amount``."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "channel")))
    return mapped


def test_a_sheet_is_read_after_a_version_was_inserted_where_the_loss_began_and_its_entity_moved_on(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_ref", "channel")))
    sheet = sent(mapped, tmp_path)
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "channel")))
    newest = mapped.document.cdm.newest(1)
    assert newest is not None
    more = declare("payment", "2", *(a.path for a in newest.attributes), "more")
    mapped.do(AddVersion(Side.CDM, more))
    sheet.answer("legacy", "payment", your_answer="not needed any more")
    taken = take_answers(mapped, sheet.path)
    assert [row.words for row in taken.answered] == ["legacy is not needed any more in fx.pay.orders 3 → payment 2"]
    assert (taken.ignored, taken.unclear) == ((), ())


def test_an_item_stays_with_who_is_to_decide_when_a_version_is_inserted_where_it_began_and_taken_out_again(
    mapped: Workbench,
) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_ref", "channel")))
    assign(mapped, ["fx.pay.orders@3:payment@1"], "ada")

    def known() -> dict[tuple[int, int], str]:
        items = review_items(mapped.document)
        return {item.key: assignments(mapped).of(mapped.document, item) for item in items if item.key[1] == 1}

    (first,) = known()
    assert known() == {first: "ada"}
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "channel")))
    assert len(known()) == 2
    assert set(known().values()) == {"ada"}
    mapped.undo()
    assert known() == {first: "ada"}


class SentSheet:
    """A workbook in the hands of somebody else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.book = openpyxl.load_workbook(path)
        self.sheet = self.book[SHEET]
        self.titles = [str(cell.value) for cell in self.sheet[1]]

    def rows(self) -> list[dict[str, object]]:
        values = self.sheet.iter_rows(min_row=2, values_only=True)
        return [dict(zip(self.titles, row, strict=True)) for row in values]

    def answer(self, lost: str, entity: str, **cells: str) -> None:
        for at, row in enumerate(self.rows(), 2):
            if str(row["lost"]).startswith(lost) and str(row["entity"]).startswith(entity):
                for title, value in cells.items():
                    self.sheet.cell(at, self.titles.index(title.replace("_", " ")) + 1).value = value
                self.book.save(self.path)
                return
        raise AssertionError(f"no row of {lost}")


def sent(workbench: Workbench, folder: Path) -> SentSheet:
    made = write_sheet(workbench, folder / "open.xlsx")
    return SentSheet(made.path)


def words(rows: tuple[object, ...]) -> list[str]:
    return [str(getattr(row, "words", "")) for row in rows]


def test_there_is_one_row_for_each_lost_element_with_reason_and_candidates(shrunk: Workbench, tmp_path: Path) -> None:
    assign(shrunk, [REFUND_2], "Bob")
    path = tmp_path / "open.xlsx"
    assert write_sheet(shrunk, path) == AnswerSheetSummary(path, 2, 4, 0)
    rows = SentSheet(path).rows()
    customer = next(row for row in rows if str(row["lost"]).startswith("customer_id"))
    assert customer["schema"] == "fx.pay.orders"
    assert customer["version"] == "2"
    assert customer["reason"] == "customer_id was removed in version 2"
    assert str(customer["candidates"]).startswith("customer_ref")
    assert [row["assigned to"] for row in rows] == [None, None, None, "Bob"]


def test_the_drop_down_of_a_row_names_what_is_free_in_its_block_proposals_first(
    shrunk: Workbench, tmp_path: Path
) -> None:
    sheet = sent(shrunk, tmp_path)
    names = [cell.value for (cell,) in sheet.book["Names"].iter_rows(max_col=1)]
    customer = next(row for row in sheet.rows() if str(row["lost"]).startswith("customer_id"))
    first, count = int(str(customer["first name"])), int(str(customer["names"]))
    assert names[first - 1 : first - 1 + count] == ["customer_ref", "channel"]
    assert sheet.book["Names"].sheet_state == "hidden"
    assert sheet.sheet.column_dimensions["K"].hidden
    formulas = [str(each.formula1) for each in sheet.sheet.data_validations.dataValidation]
    assert '"renamed to,not needed any more,later"' in formulas


def test_the_answers_are_one_undo_step(shrunk: Workbench, tmp_path: Path) -> None:
    before, state = state_hash(shrunk.document), shrunk.document.state
    sheet = sent(shrunk, tmp_path)
    sheet.answer("customer_id", "payment", your_answer="renamed to", new_name="customer_ref", comment="asked Eve")
    sheet.answer("legacy", "payment", your_answer="Not needed any more")
    sheet.answer("amount", "refund", your_answer="later")
    taken = take_answers(shrunk, sheet.path)
    assert (taken.state, taken.title) == (state + 1, "Take 3 answers from open.xlsx")
    assert (len(taken.answered), taken.ignored, taken.unclear, taken.empty) == (3, (), (), 1)
    payment, refund = decisions.review_list(shrunk.document).items
    assert [lost.element.from_path for lost in payment.lost] == ["amount"]
    assert payment.comment == "asked Eve"
    assert refund.postponed
    shrunk.undo()
    assert state_hash(shrunk.document) == before


def test_looking_first_says_the_same_and_changes_nothing(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("customer_id", "payment", your_answer="renamed to", new_name="customer_ref")
    document = shrunk.document
    looked = read_answers(shrunk, sheet.path)
    assert shrunk.document is document
    assert looked.title == ""
    assert words(looked.answered) == words(take_answers(shrunk, sheet.path).answered)


def test_rows_are_known_when_they_were_sorted_and_some_were_deleted(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("legacy", "payment", your_answer="not needed any more")
    rows = [tuple(row) for row in sheet.sheet.iter_rows(min_row=2, values_only=True)]
    random.Random(4).shuffle(rows)
    sheet.sheet.delete_rows(2, len(rows))
    kept = [row for row in rows if "amount" not in str(row[3])]
    for row in kept:
        sheet.sheet.append(list(row))
    sheet.book.save(sheet.path)
    taken = take_answers(shrunk, sheet.path)
    assert words(taken.answered) == ["legacy is not needed any more in fx.pay.orders 2 → payment 1"]


def test_rows_that_were_decided_meanwhile_are_ignored_and_told(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("legacy", "payment", your_answer="not needed any more")
    sheet.answer("amount", "refund", your_answer="not needed any more")
    decisions.confirm(shrunk, [REFUND_2])
    taken = take_answers(shrunk, sheet.path)
    assert len(taken.answered) == 1
    (ignored,) = taken.ignored
    assert "decided meanwhile by tess" in ignored.words
    again = take_answers(shrunk, sheet.path)
    assert (again.title, len(again.ignored)) == ("", 2)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"your_answer": "renamed to"}, "no new name"),
        ({"your_answer": "perhaps"}, "is no answer"),
        ({"new_name": "channel"}, "its answer is not"),
        ({"your_answer": "renamed to", "new_name": "nonsense"}, "has no attribute nonsense"),
        ({"your_answer": "renamed to", "new_name": "id"}, "cannot take the place"),
        ({"your_answer": "=1+1"}, "formula"),
        ({"your_answer": "later", "key": "x"}, "hidden key is missing or damaged"),
    ],
)
def test_a_row_that_is_not_clear_is_told_with_its_number_and_the_others_are_taken(
    shrunk: Workbench, tmp_path: Path, cells: dict[str, str], reason: str
) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("customer_id", "payment", **cells)
    sheet.answer("amount", "refund", your_answer="not needed any more")
    number = next(at for at, row in enumerate(sheet.rows(), 2) if str(row["lost"]).startswith("customer_id"))
    taken = take_answers(shrunk, sheet.path)
    assert [row.number for row in taken.unclear] == [number]
    assert reason in taken.unclear[0].words
    assert len(taken.answered) == 1
    assert taken.left == 1


def test_two_rows_that_contradict_each_other_are_both_unclear(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("legacy", "payment", your_answer="later")
    copied = next(list(row.values()) for row in sheet.rows() if str(row["lost"]).startswith("legacy"))
    copied[sheet.titles.index("your answer")] = "not needed any more"
    sheet.sheet.append(copied)
    sheet.book.save(sheet.path)
    taken = take_answers(shrunk, sheet.path)
    assert words(taken.unclear) == ["another row gives another answer to the same"] * 2
    assert taken.title == ""


def test_one_rename_may_settle_the_row_of_another_block(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "sum", "legacy")))
    sheet = sent(mapped, tmp_path)
    for entity in ("payment", "refund"):
        sheet.answer("amount", entity, your_answer="renamed to", new_name="sum")
    taken = take_answers(mapped, sheet.path)
    assert taken.unclear == ()
    assert len(taken.answered) == 2
    assert "settled by" in taken.answered[1].words
    assert taken.left == 0


def test_the_sheet_of_another_project_is_refused(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    with (
        Workbench.create(tmp_path / "other.metl") as other,
        pytest.raises(SchemaError, match="answer sheet of another project"),
    ):
        read_answers(other, sheet.path)


def test_a_sheet_says_who_is_to_decide_from_now_on(shrunk: Workbench, tmp_path: Path) -> None:
    sheet = sent(shrunk, tmp_path)
    sheet.answer("amount", "refund", assigned_to="Eve")
    taken: AnswerSheetResult = take_answers(shrunk, sheet.path)
    assert (taken.assigned, taken.title) == (1, "")
    (item,) = decisions.review_list(shrunk.document, wanted=wanted_in(shrunk, query_of(assigned="eve"))).items
    assert (str(item.block), item.assigned_to) == (REFUND_2, "Eve")
    assert assignments(shrunk).names == ("Eve",)


def test_a_cell_that_nobody_touched_overwrites_nothing_that_was_done_meanwhile(
    shrunk: Workbench, tmp_path: Path
) -> None:
    assign(shrunk, [PAYMENT_2], "Ben")
    item, _ = review_items(shrunk.document)
    shrunk.do(Postpone(item.key, "ask the bank first"))
    sheet = sent(shrunk, tmp_path)
    assign(shrunk, [PAYMENT_2], "Carl")
    shrunk.do(Postpone(item.key, "the bank said: keep it"))
    sheet.answer("legacy", "payment", your_answer="later")
    taken = take_answers(shrunk, sheet.path)
    assert (len(taken.answered), taken.assigned) == (1, 0)
    block = shrunk.document.matrix.block(*item.key)
    assert block is not None
    assert block.comment == "the bank said: keep it"
    assert assignments(shrunk).names == ("Carl",)
    sheet.answer("legacy", "payment", comment="Eve knows", assigned_to="Eve")
    assert take_answers(shrunk, sheet.path).assigned == 1
    block = shrunk.document.matrix.block(*item.key)
    assert block is not None
    assert (block.comment, assignments(shrunk).names) == ("Eve knows", ("Eve",))


def test_a_sheet_that_does_not_say_how_it_was_sent_is_read_as_it_stands(shrunk: Workbench, tmp_path: Path) -> None:
    assign(shrunk, [REFUND_2], "Ben")
    sheet = sent(shrunk, tmp_path)
    for title in ("comment as sent", "assigned to as sent"):
        sheet.sheet.delete_cols(sheet.titles.index(title) + 1)
        sheet.titles.remove(title)
    sheet.answer("amount", "refund", your_answer="later", comment="in May")
    assign(shrunk, [REFUND_2], "Carl")
    assert (len(take_answers(shrunk, sheet.path).answered), assignments(shrunk).names) == (1, ("Ben",))


def test_only_wanted_items_are_written(shrunk: Workbench, tmp_path: Path) -> None:
    assign(shrunk, [PAYMENT_2], "Ada Example")
    made = write_sheet(shrunk, tmp_path / "a.xlsx", wanted_in(shrunk, query_of(assigned="ada")))
    assert (made.items, made.rows) == (1, 3)


def test_names_that_look_like_formulas_stay_names(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "=cmd()", "amount", "legacy")))
    sheet = sent(mapped, tmp_path)
    cells = [cell for row in sheet.book["Names"].iter_rows() for cell in row]
    assert "=cmd()" in [cell.value for cell in cells]
    assert {cell.data_type for cell in cells} == {"s"}


def test_a_key_with_a_changed_digit_is_none(shrunk: Workbench, tmp_path: Path) -> None:
    key = str(sent(shrunk, tmp_path).rows()[0]["key"])
    assert parse_key(key) is not None
    for at, letter in enumerate(key):
        changed = key[:at] + ("1" if letter != "1" else "2") + key[at + 1 :]
        assert parse_key(changed) is None
    for text in ("", ".", "a.b.c", "x" * 5_000, key + "0"):
        assert parse_key(text) is None


def test_more_rows_than_are_read_back_are_not_written(
    shrunk: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_sheet, "MAX_ROWS", 3)
    with pytest.raises(EditError, match="too much for one answer sheet"):
        write_sheet(shrunk, tmp_path / "open.xlsx")
    assert not (tmp_path / "open.xlsx").exists()
