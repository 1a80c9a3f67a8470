"""Rows of the action table for the Review page and for the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions.table import EditCondition
from metl_gui.ui.review.card import AnswerKind
from metl_gui.ui.shell.action_rows.conditions import (
    WindowRow,
    all_of,
    can_edit,
    has_project,
    looks_back,
    may_write,
    node_selected,
    on_page,
    shows_now,
    something_waits,
)

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


_DECIDING = all_of(can_edit, something_waits)
_AT_CARDS = all_of(_DECIDING, on_page(1))
CARD_KEYS = (
    "answer_renamed",
    "answer_group",
    "answer_another",
    "answer_lost",
    "answer_not_renamed",
    "assign_item",
    "next_item",
    "later",
    "review_in_matrix",
)
"""Actions of one letter that hold at the cards as they do in the list."""


@EditCondition
def _has_matrix(window: Window) -> bool:
    return on_page(1)(window) and window.facts.waiting > 0 and window.review.detail.offers_matrix


@EditCondition
def _has_group(window: Window) -> bool:
    return bool(window.review.detail.groups.cards)


REVIEW_ROWS = (
    WindowRow(
        "answer_renamed",
        "Mapping > Answer",
        "It was renamed",
        "R",
        lambda w: w.review.answer(AnswerKind.RENAMED),
        _AT_CARDS,
        scope="review list",
    ),
    WindowRow(
        "answer_group",
        "Mapping > Answer",
        "All of the first group were renamed",
        "Shift+R",
        lambda w: w.review.detail.groups.accept_first(),
        all_of(_AT_CARDS, _has_group),
        scope="review list",
    ),
    WindowRow(
        "answer_another",
        "Mapping > Answer",
        "Choose another attribute…",
        "C",
        lambda w: w.review.answer(AnswerKind.ANOTHER),
        _AT_CARDS,
        scope="review list",
    ),
    WindowRow(
        "answer_lost",
        "Mapping > Answer",
        "Confirm the loss",
        "G",
        lambda w: w.review.answer(AnswerKind.LOST),
        _AT_CARDS,
        scope="review list",
    ),
    WindowRow(
        "answer_not_renamed",
        "Mapping > Answer",
        "Not a rename",
        "W",
        lambda w: w.review.answer(AnswerKind.NOT_RENAMED),
        _AT_CARDS,
        scope="review list",
    ),
    WindowRow(
        "assign_item",
        "Mapping",
        "Say who decides…",
        "A",
        lambda w: w.on_review(w.review_commands.assign),
        _DECIDING,
        scope="review list",
    ),
    WindowRow(
        "confirm_shown",
        "Mapping > Many at once",
        "Confirm all that are shown…",
        "Ctrl+Shift+Return",
        lambda w: w.on_review(w.review_commands.confirm_shown),
        _DECIDING,
    ),
    WindowRow(
        "assign_shown",
        "Mapping > Many at once",
        "Say who decides on all that are shown…",
        does=lambda w: w.on_review(w.review_commands.assign_shown),
        when=_DECIDING,
    ),
    WindowRow(
        "later_shown",
        "Mapping > Many at once",
        "Decide later on all that are shown",
        does=lambda w: w.on_review(w.review_commands.postpone_shown),
        when=_DECIDING,
    ),
    WindowRow(
        "send_sheet",
        "Mapping",
        "Send open decisions out as an answer sheet…",
        does=lambda w: w.review_commands.ask_and_send(),
        when=all_of(something_waits, shows_now),
    ),
    WindowRow(
        "read_sheet",
        "Mapping",
        "Read an answer sheet…",
        does=lambda w: w.review_commands.ask_and_read(),
        when=has_project,
    ),
    WindowRow(
        "review_in_matrix",
        "View",
        "The decision in the matrix",
        "M",
        lambda w: w.review.detail.show_matrix(not w.review.detail.shows_matrix),
        _has_matrix,
        is_checked=lambda w: w.review.detail.shows_matrix,
        scope="review list",
    ),
)


@EditCondition
def _one_meant(window: Window) -> bool:
    return window.history.meant is not None


@EditCondition
def _has_states(window: Window) -> bool:
    return window.history.looking.newest > 0


HISTORY_ROWS = (
    WindowRow("history", "View > History", "Show the history", "Ctrl+H", lambda w: w.history.show()),
    WindowRow(
        "why", "View > History", "Why is this mapped?", "Ctrl+Shift+Y", lambda w: w.history.show_why(), node_selected
    ),
    WindowRow(
        "time_slider",
        "View > History",
        "Time slider",
        "Ctrl+Shift+H",
        lambda w: w.history.show_strip(w.history.strip.isHidden()),
        is_checked=lambda w: not w.history.strip.isHidden(),
    ),
    WindowRow(
        "older_state",
        "View > History",
        "One state back",
        "Alt+PgUp",
        lambda w: w.history.step(-1),
        all_of(has_project, _has_states),
    ),
    WindowRow("newer_state", "View > History", "One state on", "Alt+PgDown", lambda w: w.history.step(1), looks_back),
    WindowRow(
        "back_to_now", "View > History", "Back to now", "Alt+Home", lambda w: w.history.looking.come_back(), looks_back
    ),
    WindowRow(
        "compare_with_now",
        "View > History",
        "Compare this state with now",
        "",
        lambda w: w.history.compare_with_now(),
        all_of(has_project, _one_meant),
    ),
    WindowRow(
        "undo_state",
        "Edit",
        "Undo this state…",
        "",
        lambda w: w.history.ask_and_undo(),
        all_of(may_write, _one_meant),
    ),
    WindowRow(
        "compare_with_live", "View > History", "Compare with what is live", "", lambda w: w.history.compare_with_live()
    ),
    WindowRow(
        "compare_with_file",
        "View > History",
        "Compare with another file…",
        "",
        lambda w: w.history.ask_and_compare_file(),
        has_project,
    ),
    WindowRow(
        "publish",
        "Run",
        "Publish this state…",
        "Ctrl+Shift+U",
        lambda w: w.history.ask_and_publish(),
        may_write,
    ),
    WindowRow("hint_states", "View", "Look at a state; choose two to compare them", "Click, Enter; Ctrl+click"),
    WindowRow("hint_marks", "View", "On the time slider: from mark to mark", "Ctrl+Left, Ctrl+Right"),
)
