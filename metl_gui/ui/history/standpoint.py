"""Where one stands on the plane while the states go by: the same place in each, whatever a state in between lacked."""

from __future__ import annotations

from PySide6.QtCore import QObject

from metl_gui.ui.document import OpenProject
from metl_gui.ui.history.looking import Looking
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.places import PlanePlace, camera_of
from metl_gui.ui.matrix.view import MatrixView


class Standpoint(QObject):
    """Keeps the place from which somebody began to look back until they move themselves.

    Args:
        matrix: the view that stays where it is.
        looking: tells when it leaves a state and when it has arrived.
    """

    def __init__(
        self, project: OpenProject, matrix: MatrixView, looking: Looking, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._matrix = project, matrix
        self._place: PlanePlace | None = None
        self._camera: Camera | None = None
        looking.leaving.connect(self._leave)
        looking.shown.connect(self._arrive)
        project.opened.connect(self._forget)

    def _leave(self) -> None:
        if self._place is None or self._camera != self._matrix.camera:
            self._place = self._matrix.place()

    def _arrive(self) -> None:
        content = self._matrix.content
        if self._place is not None and content is not None and len(content.columns.runs) and len(content.rows.runs):
            self._matrix.look(camera_of(content, self._matrix.frame, self._place))
        self._camera = self._matrix.camera
        if self._project.looks_back is None:
            self._forget()

    def _forget(self, _workbench: object = None) -> None:
        self._place = None
