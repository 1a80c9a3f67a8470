"""The ways from the Run page to the topics that it reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.head_bar import PAGES
from metl_gui.ui.kafka.sink_dialog import SinkDialog
from metl_gui.ui.kafka.source_dialog import SourceDialog
from metl_gui.ui.showing import show_about
from metl_gui.workbench.profile_kinds import Kind

if TYPE_CHECKING:
    from metl_gui.ui.window import Window

_RUN = PAGES.index("Run")


class TopicChoosing:
    """Shows the dialogs of topics over one window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        window.run_page.setup.places.topics_wanted.connect(self._choose)

    def choose_source(self, servers: str = "") -> None:
        """Ask for topics to read.

        Args:
            servers: an address without topics that is offered first.
        """
        window, places = self._window, self._window.run_page.setup.places
        window.show_page(_RUN)
        also = (servers,) if servers else (places.sink.text(),)
        now = places.topic_source
        if servers:
            now = type(now)(servers, now.start)
        dialog = SourceDialog(window.jobs, lambda: window.project.value, now, also, window)
        dialog.chosen.connect(places.take_source)
        self._show(dialog)

    def choose_sink(self) -> None:
        """Ask for topics to write."""
        window, places = self._window, self._window.run_page.setup.places
        window.show_page(_RUN)
        entities = sorted(entity.name for entity in window.project.value.cdm.schemas())
        dialog = SinkDialog(window.jobs, entities, places.topic_sink, (places.source.text(),), window)
        dialog.chosen.connect(places.take_sink)
        self._show(dialog)

    def _choose(self, which: str) -> None:
        if which == "source":
            self.choose_source()
        else:
            self.choose_sink()

    def _show(self, dialog: SourceDialog | SinkDialog) -> None:
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(self._window.project, dialog)

    def _show_profiles(self) -> None:
        self._window.configuring.show_profiles(kind=Kind.KAFKA)
