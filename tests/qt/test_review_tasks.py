"""A whole review, done by mouse and again by keyboard alone, in the real window."""

from __future__ import annotations

from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.review.assignments import assignments
from tests.qt.test_ten_tasks import Sit, kept, pairs, sit

__all__ = ["sit"]

LIST = "Waiting for a decision"
ORDERS = "fx.payments.orders"


def test_what_waits_is_found_assigned_answered_and_taken_back(
    sit: Sit,
    waiting_sample: SampleFolder,
) -> None:
    user = sit(waiting_sample.project)
    user.do("View", "Review")
    user.until(lambda: len(user.rows(LIST)) == 2)
    user.write("Filter the review list", "entity:payment")
    (row,) = user.rows(LIST)
    assert row.startswith(f"{ORDERS} 5 → payment 2.0.0, smaller, 2 lost")
    assert user.docked(LIST) == f"{LIST} | 1 of 2"
    user.choose(LIST, (row,))

    user.do("Mapping", "Say who decides")
    user.write(f"Who decides on {ORDERS} 5 → payment 2.0.0?", "Bob", ends_with="Return")
    user.until(lambda: user.sees("Assigned to Bob"))
    assert "for Bob" in user.rows(LIST)[0]
    workbench = user.window.project.workbench
    assert workbench is not None
    assert assignments(workbench).names == ("Bob",)

    user.press("Not a rename")
    user.until(lambda: "customer_ref is not proposed for customer_id again" in user.notice)
    user.press("Choose another…")
    user.write("What fills payer_id instead of customer_id?", "customer_r", ends_with="Return")
    user.until(lambda: pairs(kept(user), ORDERS, "payment").get("payer_id") == "customer_ref")
    assert user.undo_words == "Undo map customer_ref to payer_id"

    user.press("Confirm the loss")
    user.until(lambda: not user.rows(LIST))
    assert user.sees("Nothing that waits is like that.")
    assert "87 of 88 blocks confirmed" in user.status
    user.write("Filter the review list", " ")
    user.until(lambda: len(user.rows(LIST)) == 1)
    user.enter(LIST)  # in a box Ctrl+Z takes back letters
    user.undo()
    user.until(lambda: len(user.rows(LIST)) == 2)
    assert "86 of 88 blocks confirmed" in user.status
