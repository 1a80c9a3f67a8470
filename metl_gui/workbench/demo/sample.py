"""A project made of a sample folder, as the sample projects of the program are laid out, and the main job on it.

``cdm/`` holds the canonical model, ``schemas/`` the extraction schemas, ``settings.csv`` their settings (where there is
one), ``mapping.csv`` the mapping, ``warehouse.yaml`` dimensions and facts (where there is one), ``waiting/`` schema
versions that nobody has imported yet and ``cdc/`` messages to map.

The main job: add the version that waits, show what needs review, map its messages. The window's part (opening it, the
screenshot) is done by the caller. Source: docs/reference/commands.md, "metl demo".
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import ProjectError
from metl_gui.own_files import make_folder, open_file, write_file
from metl_gui.packaged import sample_projects
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_schema
from metl_gui.workbench.importing.schema_import import ImportResult, import_sources
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import ReviewList, review_list
from metl_gui.workbench.runs.mapping_run import EventSink, RunRequest, RunResult, run_mapping
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import samples_folder

FX = "fx"
_LEFT_OUT = ("__pycache__", "making", "make.py")
_MARK = ".untouched"


class SampleFolder(Value):
    """A folder laid out as a sample."""

    path: Path

    @property
    def project(self) -> Path:
        """The project file."""
        return self.path / f"{_base_name(self.path)}.metl"

    @property
    def canonical_model(self) -> Path:
        """The schemas of the CDM."""
        return self.path / "cdm"

    @property
    def schemas(self) -> Path:
        """The extraction schemas that the project knows."""
        return self.path / "schemas"

    @property
    def settings(self) -> Path:
        """The settings of extraction schemas: lines of schema, setting, value."""
        return self.path / "settings.csv"

    @property
    def mapping(self) -> Path:
        """The mapping table."""
        return self.path / "mapping.csv"

    @property
    def warehouse(self) -> Path:
        """The warehouse model."""
        return self.path / "warehouse.yaml"

    @property
    def waiting(self) -> Path:
        """Schema versions that nobody has imported yet."""
        return self.path / "waiting"

    @property
    def messages(self) -> Path:
        """The captured messages."""
        return self.path / "cdc"


def fresh_copy(name: str = FX, watch: Watch = UNWATCHED) -> SampleFolder:
    """Copy a sample project into the user's data folder, with its project file built.

    A copy that was only looked at, or only run by the demo, is replaced; one that somebody has edited, put files into
    or has open stays, and the new one gets a number.

    Raises:
        ProjectError: the folder cannot be written.
        SetupError: the installation lacks the sample.
        RunCancelled: it was cancelled; then no copy is left.
    """
    watch.step(f"Copying the sample {name}")
    target = SampleFolder(_free_place(name))
    try:
        shutil.rmtree(target.path, ignore_errors=True)
        _copy(sample_projects() / name, target.path)
        if not target.project.exists():
            build_project(target, watch).close()
        mark_untouched(target)
    except BaseException as error:
        shutil.rmtree(target.path, ignore_errors=True)
        if isinstance(error, OSError):
            raise _uncopied(target.path, error) from error
        raise
    return target


def fresh_folder(name: str) -> SampleFolder:
    """Make an empty folder for a project in the user's data folder, in the place of one that nobody has touched.

    Raises:
        ProjectError: the folder cannot be made.
    """
    target = SampleFolder(_free_place(name))
    try:
        shutil.rmtree(target.path, ignore_errors=True)
        make_folder(target.path)
    except OSError as error:
        raise _uncopied(target.path, error) from error
    return target


def build_project(folder: SampleFolder, watch: Watch = UNWATCHED) -> Workbench:
    """Build the project of a sample folder out of its files, publish its mapping and leave it open.

    Raises:
        ProjectError: the project cannot be written, or a file of the sample is not what it should be.
    """
    workbench = Workbench.create(folder.project)
    try:
        _complete(import_sources(workbench, Side.CDM, [folder.canonical_model], watch=watch))
        _complete(import_sources(workbench, Side.EXTRACTION, [folder.schemas], watch=watch))
        _set(workbench, folder.settings)
        mapped = import_mapping(workbench, folder.mapping, watch=watch)
        if mapped.conflicts:
            first = mapped.conflicts[0]
            raise ProjectError("The mapping of the sample does not fit.", f"Line {first.line}: {first.reason}")
        if folder.warehouse.exists():
            # Here, as it reads YAML and SQL, for which the window would wait.
            from metl_gui.workbench.warehouse.models import import_model

            import_model(workbench, folder.warehouse)
        publish(workbench, name="The sample's mapping")
    except BaseException:
        workbench.close()
        raise
    return workbench


def add_waiting(workbench: Workbench, folder: SampleFolder, watch: Watch = UNWATCHED) -> ImportResult:
    """Import the schema versions that wait."""
    return import_sources(workbench, Side.EXTRACTION, [folder.waiting], watch=watch)


def mark_untouched(folder: SampleFolder) -> None:
    """Remember what a copy holds now, so that the next demo may replace it while nobody changes anything in it."""
    write_file(folder.path / _MARK, _content(folder).encode())


def _copy(source: Path, target: Path) -> None:
    """Copy the files alone: an installation's folders may be read only, the copy's must not be."""
    make_folder(target)
    for path in sorted(source.iterdir()):
        if path.name.startswith(".") or path.name in _LEFT_OUT:
            continue
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            with path.open("rb") as read, open_file(target / path.name, "wb") as written:
                shutil.copyfileobj(read, written)


def _uncopied(path: Path, error: OSError) -> ProjectError:
    reason = error.strerror or str(error)
    return ProjectError(
        f"The sample cannot be copied to {path}.", f"{reason}.", "Free some space there, or mend its permissions."
    )


def _complete(result: ImportResult) -> None:
    if result.refused:
        first = result.refused[0]
        raise ProjectError("A file of the sample was refused.", f"{first.source}: {first.reason}")


def _set(workbench: Workbench, path: Path) -> None:
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="") as file:
        wanted = [(row["schema"], (row["setting"], row["value"])) for row in csv.DictReader(file)]
    edits = (
        SetSettings(Side.EXTRACTION, find_schema(workbench.document, Side.EXTRACTION, name).id, (setting,))
        for name, setting in wanted
    )
    workbench.do(CompositeEdit("Set what the sample states of its schemas", tuple(edits)))


def _free_place(name: str) -> Path:
    number = 1
    while True:
        place = samples_folder() / (name if number == 1 else f"{name}-{number}")
        if not place.exists() or _is_untouched(SampleFolder(place)):
            return place
        number += 1


def _is_untouched(folder: SampleFolder) -> bool:
    """Whether a copy holds nothing that a person did: it is as the demo left it, and nobody has it open."""
    mark = folder.path / _MARK
    try:
        return mark.read_text(encoding="utf-8") == _content(folder)
    except (OSError, UnicodeDecodeError, ProjectError):
        return False


def _content(folder: SampleFolder) -> str:
    """Describe what a copy holds: the state of its project, which nobody else edits, and its other files.

    Raises:
        ProjectError: the project cannot be opened for editing.
    """
    with Workbench.open(folder.project) as workbench:
        state = workbench.document.state
    paths = (p for p in sorted(folder.path.rglob("*")) if p.is_file() and p.name != _MARK and p != folder.project)
    files = {p.relative_to(folder.path).as_posix(): [p.stat().st_size, p.stat().st_mtime_ns] for p in paths}
    return json.dumps({"state": state, "files": files}, indent=1)


def _base_name(path: Path) -> str:
    """Name the project as the sample is called, whatever number its copy has."""
    name, _, number = path.name.rpartition("-")
    return name if name and number.isdecimal() else path.name


class DemoResult(Value):
    """What the demo did.

    Args:
        project: the copy that it worked on.
        imported: the version that waited.
        review: what needs review since.
        run: the test run.
        warehouse: the file that its messages were loaded into.
        load: what that did.
        screenshot: picture of the window on the project, ``None`` when there is none.
    """

    project: Path
    imported: ImportResult
    review: ReviewList
    run: RunResult
    warehouse: Path
    load: LoadReport
    screenshot: Path | None = None

    def with_screenshot(self, path: Path) -> DemoResult:
        """Return the same with a picture."""
        return replace(self, screenshot=path)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl demo``."""
        return {
            "project": str(self.project),
            "import": self.imported.as_json(),
            "review": self.review.as_json(),
            "run": self.run.as_json(),
            "warehouse": self.load.as_json(),
            "warehouse_file": str(self.warehouse),
            "screenshot": str(self.screenshot) if self.screenshot else None,
        }


class PreparedDemo(Value):
    """The sample with the waiting version added: what a window opens before it starts the run."""

    folder: SampleFolder
    imported: ImportResult
    review: ReviewList

    @property
    def request(self) -> RunRequest:
        """The test run of the demo."""
        return RunRequest(SourceSpec(address=str(self.folder.messages)))


def prepare_demo(watch: Watch = UNWATCHED) -> PreparedDemo:
    """Make a fresh copy of the sample, add the version that waits, and close the project again.

    Raises:
        ProjectError: the user's data folder cannot be written.
    """
    folder = fresh_copy(FX, watch)
    with Workbench.open(folder.project) as workbench:
        imported = add_waiting(workbench, folder, watch)
        review = review_list(workbench.document)
    mark_untouched(folder)
    return PreparedDemo(folder, imported, review)


def run_demo(on_event: EventSink | None = None, watch: Watch = UNWATCHED) -> DemoResult:
    """Do the main job on a fresh copy of the sample, without a window.

    Spark starts while the project is prepared.

    Raises:
        SetupError: Java or Spark is missing.
        RunCancelled: it was cancelled.
    """
    with SparkProcess() as spark:
        prepared = prepare_demo(watch)
        with Workbench.open(prepared.folder.project, for_editing=False) as workbench:
            run = run_mapping(workbench, prepared.request, spark, on_event, watch)
            warehouse = prepared.folder.project.with_suffix(".duckdb")
            load = _loaded(workbench, run, warehouse, spark, watch)
    return DemoResult(prepared.folder.project, prepared.imported, prepared.review, run, warehouse, load)


def _loaded(workbench: Workbench, run: RunResult, warehouse: Path, spark: SparkProcess, watch: Watch) -> LoadReport:
    """Load the messages of a run into a file, by the warehouse model of the sample."""
    # Here, as it reads SQL and opens DuckDB, for which the window would wait.
    from metl_gui.workbench.loads.warehouse_loads import load_warehouse

    request = RunRequest(SourceSpec(address=run.report.outputs, holds="messages"))
    return load_warehouse(workbench, request, f"duckdb:{warehouse}", spark=spark, watch=watch).load
