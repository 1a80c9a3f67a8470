"""The line of the status bar that says where one is: what of long names it leaves out when there is no room."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from metl_gui.ui.widgets.labels import PlaceLabel, shortened

WORDS = "com.snowplowanalytics.snowplow/client_session 1-0-2 <b>sessionId</b> → customer &amp;co <b>identity</b>"


def test_long_names_are_elided_in_the_middle_and_fields_stay_whole() -> None:
    short = shortened(WORDS, 16)
    assert short == "com.sno…_session 1-0-2 <b>sessionId</b> → customer &amp;co <b>identity</b>"
    assert shortened(WORDS, 48) == WORDS


@pytest.mark.usefixtures("dressed")
def test_names_come_back_whole_when_there_is_room_again() -> None:
    label = PlaceLabel()
    label.show()
    label.resize(380, 20)
    label.say(WORDS)
    QApplication.processEvents()
    assert "…" in label.text()
    assert label.text().endswith("<b>identity</b>")
    assert label.words == WORDS
    assert label.toolTip() == WORDS
    label.resize(2000, 20)
    QApplication.processEvents()
    assert label.text() == WORDS
    label.close()


@pytest.mark.usefixtures("dressed")
def test_no_field_is_cut_at_its_end_however_little_room_there_is() -> None:
    label = PlaceLabel()
    label.setStyleSheet("padding: 0 8px")
    label.show()
    label.say(WORDS)
    for width in range(600, 60, -7):
        label.resize(width, 20)
        QApplication.processEvents()
        assert label.sizeHint().width() <= width, label.text()
        if width > 200:
            assert label.text().endswith("<b>identity</b>")
        else:
            assert label.text().endswith("y</b>") or label.text().endswith("y")
    label.close()


@pytest.mark.usefixtures("dressed")
def test_long_bold_names_are_elided_too_where_nothing_else_is_left_to_shorten() -> None:
    label = PlaceLabel()
    label.show()
    label.resize(300, 20)
    label.say(f"<b>{'analytics_session_' * 5}</b> → <b>{'message_bounced_' * 5}</b> · 0 mapped")
    QApplication.processEvents()
    assert label.text().endswith("mapped")
    assert label.sizeHint().width() <= 300
    label.close()
