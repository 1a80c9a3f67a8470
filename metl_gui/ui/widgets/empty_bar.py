"""A list without rows has nothing to scroll: no bar is drawn below its columns."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractItemView


class BarOfRows(QObject):
    """Offers the horizontal bar of a view only while there are rows; the view has its model already."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        model = view.model()
        for changed in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            changed.connect(self._follow)
        self._follow()

    def _follow(self, *_what: object) -> None:
        policies = Qt.ScrollBarPolicy
        has_rows = self._view.model().rowCount() > 0
        self._view.setHorizontalScrollBarPolicy(policies.ScrollBarAsNeeded if has_rows else policies.ScrollBarAlwaysOff)
