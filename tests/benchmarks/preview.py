"""Benchmark ``preview``: from an edit to the preview that is shown and painted, and steps between samples.

The panel follows a document of the sizes that the program must carry; each edit sets or clears one element of the block
whose message is shown. It is first checked that every edit changed what the preview says, and that it says what a test
run writes.
Target of a preview: 20 ms (issue: instant preview).
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document, NextIds
from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.workbench.samples.cache import KeptSample, SampleCache
from metl_gui.workbench.samples.preview import Previews, preview
from metl_gui.workbench.session import Workbench
from tests.benchmarks.harness import Case
from tests.benchmarks.sizes import ATTRIBUTES, DESIGN, STRETCH, Size, build

_TARGET_MS = 20.0
_SCHEMA_VERSIONS = 1_000
_SAMPLES = 20
_FIELD = "v"


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield edits at each size, a schema of many versions, and steps between samples."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for size in (DESIGN,) if quick else (DESIGN, STRETCH):
            with _Bench(size, Path(folder)) as bench:
                gc.collect()
                yield _case(f"edit to preview, {size.name}", bench.edits(rounds * 6), f"{size.ones:,} ones")
                yield _case(f"next sample, {size.name}", bench.steps(rounds * 6), "painted")
        yield _case("edit to preview, a schema of 1,000 versions", _many_versions(rounds), "without a window")


def _case(name: str, times: list[float], note: str) -> Case:
    low, middle, high = statistics.quantiles(times, n=4)
    p95 = statistics.quantiles(times, n=20)[-1]
    return Case(name, middle, None, "ms", _TARGET_MS, None, low, high, f"p95 {p95:.1f} ms; {note}")


def _record(topic: str, changed: str = "") -> bytes:
    row = {f"attribute_{at}": f"value {at}{changed}" for at in range(ATTRIBUTES)} | {_FIELD: "1"}
    return json.dumps({"topic": topic, "value": {"before": None, "after": row, "op": "c", "ts_ms": 1}}).encode()


def _naming_versions(document: Document) -> Document:
    """Let rows of the first schema name their version: all versions have the same attributes, so nothing else tells."""
    schema = document.extraction.schemas()[0]
    return perform(
        document, SetSettings(Side.EXTRACTION, schema.id, (("version_field", _FIELD),)), EditContext("bench", 1)
    ).after


class _Bench:
    """A preview panel over a project of a size, with samples of its first schema."""

    def __init__(self, size: Size, folder: Path) -> None:
        from PySide6.QtWidgets import QApplication

        from metl_gui.ui.preview.panel import PreviewPanel
        from metl_gui.ui.project.document import OpenProject
        from metl_gui.ui.project.selection import Selected, Selection, place_of_version
        from metl_gui.ui.theming import theme as themes

        found = QApplication.instance()
        self._app = found if isinstance(found, QApplication) else QApplication([])
        themes.apply(self._app, themes.load("light"))
        self._workbench = Workbench.create(folder / f"{size.schemas}.metl", "bench")
        self.document = self._workbench._document = _naming_versions(build(size))
        schema = self.document.extraction.schemas()[0]
        self._name = schema.name
        version = schema.version_ids[0]
        raws = [_record(schema.name, f"-{at}") for at in range(_SAMPLES)]
        now_ms = time.time_ns() // 1_000_000
        kept = [KeptSample.of(raw, when_ms=now_ms, op="c", version="1", place=f"x@{at}") for at, raw in enumerate(raws)]
        SampleCache(self._workbench.project_id).write(schema.id, kept)
        self.key = self.document.matrix.column_keys(version)[0]
        self.project, self.selection = OpenProject(), Selection()
        self.panel = PreviewPanel(self.project, self.selection)
        self.panel.resize(420, 320)
        self.panel.show()
        self.project.open(self._workbench)
        block = self.document.matrix.block(*self.key)
        if block is None:
            raise LookupError("the first schema feeds nothing")
        self.element = block.elements[0]
        source = place_of_version(self.document, Side.EXTRACTION, version, self.element.p)
        self.selection.choose(Selected(source, place_of_version(self.document, Side.CDM, self.key[1], self.element.q)))
        self._app.processEvents()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.project.close()
        self.panel.close()
        self.panel.deleteLater()
        self._app.processEvents()

    def edits(self, count: int) -> list[float]:
        """Time edits: the document is changed before, as that is no part of the preview."""
        from metl_gui.ui.project.document import DocumentChange

        times = []
        for turn in range(count):
            edit = _edit(self.key, self.element, turn)
            before, shown = self.project.value, self.panel.text.laid.text
            after = perform(before, edit, EditContext("bench", turn + 1)).after
            began = time.perf_counter()
            self.project.value = after
            self.project.changed.emit(DocumentChange(before, after, (self.key,)))
            self.panel.text.repaint()
            times.append(1000 * (time.perf_counter() - began))
            sample = self.panel.sample
            if shown == self.panel.text.laid.text or sample is None:
                raise AssertionError("the edit did not change the preview")
            if turn == 0 and preview(after, sample.raw, sample.place) != self.panel.preview:
                raise AssertionError("the preview differs from one that is made anew")
        return times

    def steps(self, count: int) -> list[float]:
        """Time steps from sample to sample."""
        return [_timed(self._step) for _ in range(count)]

    def _step(self) -> None:
        self.panel.step(1)
        self.panel.text.repaint()


def _edit(key: BlockKey, element: Element, turn: int) -> SetElements:
    """Clear an element and set it again, in turn."""
    return SetElements(key, ones=(element,)) if turn % 2 else SetElements(key, zeros=(element,))


def _many_versions(rounds: int) -> list[float]:
    """Time previews after edits of a schema that has a thousand versions of ten attributes."""
    document = _naming_versions(_one_schema(_SCHEMA_VERSIONS))
    schema = document.extraction.schemas()[0]
    key = document.matrix.column_keys(schema.version_ids[0])[0]
    raw, previews, times = _record(schema.name), Previews(), []
    previews.take(document)
    previews.of(raw)
    for turn in range(rounds * 4):
        document = perform(document, _edit(key, Element(1, 1), turn), EditContext("bench", turn + 1)).after
        previews.take(document)
        times.append(_timed(lambda: previews.of(raw)))
    return times


def _one_schema(count: int) -> Document:
    """Build a schema of many versions that all feed the one version of an entity."""
    paths = [f"attribute_{at}" for at in range(ATTRIBUTES)]
    attributes = [
        tuple(Attribute(v * ATTRIBUTES + at + 1, path, "string", at + 1) for at, path in enumerate(paths))
        for v in range(count)
    ]
    versions = [Version(v + 1, 1, (str(v + 1),), found, f"{v:032x}") for v, found in enumerate(attributes)]
    target = Version(1, 1, ("1",), attributes[0], "0" * 32)
    blocks = [
        Block(
            version.id,
            1,
            tuple(Element(q.id, p.id) for q, p in zip(target.attributes, version.attributes, strict=True)),
            Status.CONFIRMED,
        )
        for version in versions
    ]
    extraction = Tree.of([Schema(1, "service0.table1", tuple(v.id for v in versions))], versions)
    cdm = Tree.of([Schema(1, "entity0.table1", (1,))], [target])
    ids = NextIds(2, count + 1, count * ATTRIBUTES + 1, ATTRIBUTES + 1)
    return Document(1, extraction, cdm, Dpm.of(blocks), ids, NextIds(2, 2, ATTRIBUTES + 1, ATTRIBUTES + 1))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)
