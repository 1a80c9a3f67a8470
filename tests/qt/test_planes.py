"""The plane of a large project while a job arranges it: edits that come meanwhile, and what is asked for next."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.map import planes as module
from metl_gui.ui.map.planes import PlaneArranger
from metl_gui.ui.matrix.layout.content import Arrangement, PlaneContent, SortOrder
from metl_gui.ui.matrix.layout.sort_and_filter import arranged
from metl_gui.ui.project.document import DocumentChange
from tests.qt.held_jobs import HeldJobs
from tests.qt.random_documents import some_document
from tests.unit.ui.random_edits import some_edit


@pytest.fixture
def jobs(dressed: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldJobs]:
    monkeypatch.setattr(module, "_AT_ONCE", 0)
    monkeypatch.setattr(module, "_PLAIN_AT_ONCE", 0)
    held = HeldJobs()
    yield held
    held.stop()
    held.deleteLater()
    dressed.processEvents()


def follow(planes: PlaneArranger, document: Document, edit: Edit) -> Document:
    transition = perform(document, edit)
    planes.follow(DocumentChange(document, transition.after, tuple(change.key for change in transition.change.blocks)))
    return transition.after


def shown(content: PlaneContent | None) -> list[tuple[int, int, int]]:
    assert content is not None
    return list(content.elements_within(range(len(content.columns.runs)), range(len(content.rows.runs))))


def test_what_is_edited_while_a_job_arranges_stands_on_the_plane_when_it_is_done(jobs: HeldJobs) -> None:
    document, rng = some_document(3), random.Random(3)
    planes = PlaneArranger(jobs)
    planes.open(document)
    planes.order(SortOrder.NAME)
    for _ in range(6):
        document = follow(planes, document, some_edit(document, rng))
    jobs.release()
    assert planes.shown is not None
    assert planes.shown.arrangement.order is SortOrder.NAME
    assert shown(planes.shown) == shown(arranged(document, Arrangement(SortOrder.NAME)))


def test_a_version_that_goes_while_a_job_arranges_is_not_on_the_plane_when_it_is_done(jobs: HeldJobs) -> None:
    document, rng = some_document(4), random.Random(4)
    planes = PlaneArranger(jobs)
    planes.open(document)
    planes.show_relevant(is_relevant_only=True)
    gone = next(iter(document.extraction.all_versions()))
    document = follow(planes, document, RemoveVersion(Side.EXTRACTION, gone.id))
    document = follow(planes, document, some_edit(document, rng))
    jobs.release()
    assert planes.shown is not None
    assert planes.shown.columns.version_item(gone.id) is None
    assert shown(planes.whole) == shown(arranged(document, Arrangement()))


def test_a_project_that_is_opened_while_a_job_arranges_another_one_stays_on_the_plane(jobs: HeldJobs) -> None:
    planes = PlaneArranger(jobs)
    planes.open(some_document(1))
    planes.order(SortOrder.NAME)
    other = some_document(2)
    planes.open(other)
    jobs.release()
    assert planes.whole is not None
    assert planes.whole.document is other
