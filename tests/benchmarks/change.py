"""What schema changes cost people and the computer: real histories version by version, and the time of one update.

The real histories are imported one version after the other, and the mapping of each version is compared with a naive
copy by names. The time of an update is that of ``Workbench.do``: worked out, committed to the file and current. It is
taken by the clock, of which the target is, and by the processor beside it, which other programs and the disk leave
alone; both as medians over many updates, each of another schema.
"""

from __future__ import annotations

import csv
import gc
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.workbench.session import Workbench
from tests.benchmarks.harness import Case, figure, quartiles
from tests.benchmarks.project_files import write_project
from tests.benchmarks.replayed_histories import DATASETS, LostPath, Replay, replay
from tests.benchmarks.sizes import DESIGN, STRETCH, Size, build
from tests.helpers.shared import ROOT

GOLD = Path(__file__).with_name("gold_renames.csv")
_UPDATE_MS = 5
_LAST = 9
"""Updates of a long history that its time is the median of."""

_UPDATES = 10
"""Updates of each round; the first ones are compared with the naive copy and not timed."""


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Replay the real histories, then time updates in long histories and in large projects."""
    if (ROOT / "real-schemas").is_dir():
        yield from _real_histories()
    else:
        yield figure("real schema histories", 0, unit="%", note="../shared is not there, so nothing can be measured")
    yield from _long_histories((10, 100) if quick else (10, 100, 1000))
    sizes = (DESIGN,) if quick else (DESIGN, STRETCH)
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "large.metl"
            write_project(file, build(size))
            yield from _large_project(size, file, rounds)


def _real_histories() -> Iterator[Case]:
    for dataset in DATASETS:
        with tempfile.TemporaryDirectory() as folder:
            found = replay(dataset, Path(folder) / "replayed.metl")
        yield from _cases_of(dataset, found)
        yield from _proposals(dataset, found.lost)


def _cases_of(dataset: str, found: Replay) -> Iterator[Case]:
    note = f"{found.versions} versions, mapped as the naive copy by names says"
    yield figure(f"{dataset}: elements lost without an item", len(found.silent), unit="elements", target=0, note=note)
    most = found.shrunk + found.retyped + 1
    note = f"{found.shrunk} blocks lost an element, {found.retyped} more have an incompatible type change"
    yield figure(f"{dataset}: items asked", found.asked, unit="items", target=most, note=note)
    times = [each * 1000 for each in found.seconds]
    low, high = quartiles(times)
    median = statistics.median(times)
    yield Case(f"{dataset}: import of one version", median, None, "ms", None, None, low, high, note="one at a time")


def _proposals(dataset: str, lost: list[LostPath]) -> Iterator[Case]:
    case = f"{dataset}: renames with the right first proposal"
    if not GOLD.exists():
        yield figure(case, 0, unit="%", note=f"{GOLD.name} is not there, so nothing can be judged")
        return
    with GOLD.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == dataset]
    truth = {(row["schema"], row["version"], row["lost"]): row["renamed_to"] for row in rows}
    unknown = [each for each in lost if (each.schema, each.version, each.path) not in truth]
    outcomes = Counter(_outcome(each, truth) for each in lost if each not in unknown)
    renamed = outcomes["right"] + outcomes["wrong"] + outcomes["missed"]
    note = (
        f"{renamed} renames of {len(lost)} lost attributes: {outcomes['wrong']} wrong, {outcomes['missed']} without a"
        f" proposal; {outcomes['alarm']} proposals where nothing was renamed, {outcomes['quiet']} times rightly none;"
        f" {len(unknown)} not labelled"
    )
    yield figure(case, 100 * outcomes["right"] / max(renamed, 1), unit="%", note=note)


def _outcome(one: LostPath, truth: dict[tuple[str, str, str], str]) -> str:
    wanted = truth[one.schema, one.version, one.path]
    if not wanted:
        return "alarm" if one.proposed else "quiet"
    return "right" if one.proposed == wanted else "wrong" if one.proposed else "missed"


def _long_histories(lengths: tuple[int, ...]) -> Iterator[Case]:
    """Add versions to one schema, each of which has one attribute more and one less than the one before."""
    with tempfile.TemporaryDirectory() as folder, _opened(Workbench.create(Path(folder) / "long.metl")) as workbench:
        common = [AttributeDeclaration(f"attribute_{at}", "string") for at in range(9)]
        first = (*common, AttributeDeclaration("version_1", "string"))
        for side, name in ((Side.EXTRACTION, "service.table"), (Side.CDM, "entity")):
            workbench.do(AddVersion(side, VersionDeclaration(name, first, "1")))
        version, target = workbench.document.extraction.newest(1), workbench.document.cdm.newest(1)
        assert version is not None
        assert target is not None
        pairs = zip(target.attributes, version.attributes, strict=True)
        workbench.do(SetElements((version.id, target.id), tuple(Element(q.id, p.id) for q, p in pairs)))
        times: dict[int, tuple[float, float]] = {}
        for number in range(2, lengths[-1] + 1):
            new = (*common, AttributeDeclaration(f"version_{number}", "string"))
            edit = AddVersion(Side.EXTRACTION, VersionDeclaration("service.table", new, str(number)))
            times[number] = _timed(partial(workbench.do, edit))
        for length in lengths:
            last = [times[number] for number in range(max(length - _LAST + 1, 2), length + 1)]
            note = f"the last {len(last)} of them"
            yield _update_case(f"update of a schema with {length:,} versions", last, None, note)


def _large_project(size: Size, file: Path, rounds: int) -> Iterator[Case]:
    """Add a version to some schemas; half of what they had last is kept, so that every update also asks."""
    with _opened(Workbench.open(file)) as workbench:
        schemas = random.Random(5).sample(workbench.document.extraction.schemas(), (rounds + 1) * _UPDATES)
        edits = [_next_version(workbench, schema) for schema in schemas]
        for schema, edit in zip(schemas[:_UPDATES], edits[:_UPDATES], strict=True):
            workbench.do(edit)
            _require_naive(workbench, schema)
        times = [_timed(partial(workbench.do, edit)) for edit in edits[_UPDATES:]]
        carried = [_carried(workbench, entity) for entity in workbench.document.cdm.schemas()[:rounds]]
    note = f"{len(times)} of them, {size.ones:,} elements; committed to the file"
    yield _update_case(f"update of one schema in a project of {size.name}", times, _UPDATE_MS, note)
    whole, each = (statistics.median(column) for column in zip(*carried, strict=True))
    note = f"{each:.3f} ms for each of the blocks that are carried to its new version, by the processor"
    yield figure(f"update of one entity in a project of {size.name}", whole, unit="ms", note=note)


def _update_case(case: str, times: list[tuple[float, float]], target: float | None, note: str) -> Case:
    """Put pairs of seconds by the clock and by the processor into milliseconds."""
    clock, processor = ([each * 1000 for each in column] for column in zip(*times, strict=True))
    said = f"{note}; {statistics.median(processor):.1f} ms of the processor"
    return Case(case, statistics.median(clock), None, "ms", target, None, *quartiles(clock), note=said)


def _carried(workbench: Workbench, entity: Schema) -> tuple[float, float]:
    """Add a version without the first attribute; milliseconds of the clock, and of the processor for each block."""
    newest = workbench.document.cdm.newest(entity.id)
    assert newest is not None
    count = len(workbench.document.matrix.row_keys(newest.id))
    kept = tuple(AttributeDeclaration(a.path, a.type) for a in newest.attributes[1:])
    edit = AddVersion(Side.CDM, VersionDeclaration(entity.name, kept))
    clock, processor = _timed(partial(workbench.do, edit))
    return clock * 1000, processor * 1000 / count


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processor: the disk and other programs are in the first only."""
    gc.collect()
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def _next_version(workbench: Workbench, schema: Schema) -> AddVersion:
    newest = workbench.document.extraction.newest(schema.id)
    assert newest is not None
    kept = [AttributeDeclaration(a.path, a.type) for a in newest.attributes[::2]]
    new = AttributeDeclaration("brand_new", "string")
    return AddVersion(Side.EXTRACTION, VersionDeclaration(schema.name, (*kept, new)))


def _require_naive(workbench: Workbench, schema: Schema) -> None:
    """Compare the newest version with the one before, name by name."""
    document = workbench.document
    *_, before, after = document.extraction.versions(schema.id)
    for old in document.matrix.column_set(before.id):
        new = document.matrix.block(after.id, old.entity_version)
        assert new is not None
        was, now = ({a.id: a.path for a in version.attributes} for version in (before, after))
        kept = {(q, was[p]) for q, p in old.elements if was[p] in now.values()}
        assert {(q, now[p]) for q, p in new.elements} == kept
        assert len(new.open_losses) == len(old.elements) - len(kept)


@contextmanager
def _opened(workbench: Workbench) -> Iterator[Workbench]:
    """Keep the collector off what was opened, as the program does."""
    with workbench:
        gc.collect()
        gc.freeze()
        try:
            yield workbench
        finally:
            gc.unfreeze()
