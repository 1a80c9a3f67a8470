"""Every struct has a row of bytes or is known to stay within one version, and every module that a text names is there.

A class that comes new fails here until somebody says where its bytes go. What outlives its process, or is read by a
program of another version, gets a row in the tables of its room (``tests.unit.engine.persisted`` and the like); what
does not is listed in ``INTERNAL`` and may be renamed as anybody likes.
"""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path

import pytest

from metl_gui.core.dimensional.loads import (
    mask_key,
    missing_members,
    read_progress,
    rebuild_cost,
    row_reasons,
    staged_parts,
)
from metl_gui.core.dimensional.models import masked_models
from metl_gui.core.dimensional.rows import epochs, forgotten, late_messages, members, messages, replays, row_states
from metl_gui.core.runs import kafka, run_spec, target
from metl_gui.core.runs import lanes as lane_values
from metl_gui.engine.kafka import inspection, offsets, topic_orders
from metl_gui.engine.lanes import load_control, offset_reset, order
from metl_gui.engine.lanes.coordination import member as membership
from metl_gui.engine.loading import staged_rows
from metl_gui.engine.runs import commands, progress
from metl_gui.engine.sources import files
from metl_gui.engine.sources import source as reading
from metl_gui.engine.spark import worker_check
from metl_gui.engine.staging import part_marks, read_places
from metl_gui.engine.streaming import file_states, planner, staged_batches
from metl_gui.engine.tasks import task
from metl_gui.registry import addresses as places
from metl_gui.ui.messages import pairs
from metl_gui.ui.project import block_lists
from metl_gui.warehouse import audit, forgotten_keys, key_messages, status
from metl_gui.warehouse import late_messages as late_questions
from metl_gui.warehouse.plans import access_plan, declared_tests, index_plan, statements
from metl_gui.warehouse.plans.dimensions import member_plan
from metl_gui.warehouse.plans.histories import arrivals, state_plan
from metl_gui.warehouse.plans.shapes import table_shapes
from metl_gui.workbench.runs import topics as shown_topics
from tests.helpers import documents, killing
from tests.helpers.killing import WORKER
from tests.helpers.persisted import choices_in, classes_in, rows
from tests.unit.engine import persisted as engine
from tests.unit.store import persisted as store
from tests.unit.workbench import persisted as workbench

ROOT = documents.ROOT
INTERNAL: dict[str, tuple[type, ...]] = {
    "between a program and the Spark process that it started": (
        commands.CancelRun,
        commands.StartRun,
        commands.StartSession,
        mask_key.MaskKey,
        replays.Coverage,
        replays.CoveredRange,
        run_spec.MappingSpec,
        run_spec.RunPolicy,
        run_spec.RunSpec,
        run_spec.SinkSpec,
        run_spec.SourceSpec,
        target.Target,
    ),
    "between the driver of a run and its tasks, which run the code that it ships": (
        task.TaskOrder,
        task.TaskOutcome,
        progress.TaskProgress,
        reading.ReadPlan,
        topic_orders.TopicOrder,
        topic_orders.TopicReading,
        topic_orders.WaitingRecords,
        planner.TopicSourceSpec,
        order.LaneOrder,
        worker_check.WorkerCheck,
    ),
    "between a load and the process that reads its table": (
        staged_rows.RowForm,
        staged_rows.StagingOrder,
        staged_rows.Staged,
        staged_rows.StagingFailed,
    ),
    "within one process": (
        block_lists.ListRow,
        files.FileListing,
        file_states.Piece,
        file_states.SeenFile,
        load_control.Example,
        offsets.ListedPartition,
        inspection.Newest,
        inspection.SeenMessage,
        run_spec.PlanState,
        membership.CoordinationSettings,
        places.DatabasePlace,
        places.RegistryPlace,
        kafka.KafkaAddress,
        offset_reset.LaneGroup,
        lane_values.PartitionReset,
        shown_topics.ShownMessage,
        shown_topics.TopicContents,
        shown_topics.TopicInfo,
        kafka.Start,
        kafka.TopicPlan,
        staged_batches.StagedBatchFile,
        part_marks.PartMark,
        staged_parts.StagedPart,
    ),
    "within one load of a warehouse": (
        read_places._Place,
        access_plan.Declared,
        access_plan.Grant,
        epochs.EpochStart,
        epochs.Fall,
        forgotten.ForgottenKey,
        forgotten.LastForgotten,
        forgotten_keys.Purge,
        arrivals.Batch,
        audit.Finding,
        declared_tests.Rule,
        late_messages.FactTimes,
        late_messages.LateEffect,
        late_messages.MemberVersions,
        late_messages.VersionRules,
        key_messages.KeyMessages,
        late_questions.KeyStudy,
        late_questions.ParentStarts,
        late_questions.LateAnswer,
        member_plan.MemberTables,
        members.FactState,
        members.MemberTimes,
        members.Ownership,
        members.Segment,
        members.MemberVersion,
        messages.Message,
        messages.Replay,
        read_progress.ReadProgress,
        row_reasons.ColumnReason,
        row_reasons.MessageOrigin,
        row_reasons.ReferringRow,
        row_reasons.RowReason,
        row_states.State,
        row_states._Life,
        state_plan.Contents,
        state_plan.StateTables,
        statements.Step,
        index_plan.Index,
        status.EpochEntry,
        status.LoadEntry,
        status.TargetStatus,
        missing_members.MissingMember,
        rebuild_cost.RebuildCost,
        table_shapes.DimensionShape,
        table_shapes.FactPeriodicShape,
        table_shapes.FactShape,
        table_shapes.HierarchyShape,
        table_shapes.JunkShape,
        table_shapes.KeyColumn,
        table_shapes.ListBridgeShape,
        table_shapes.MemberShape,
        table_shapes.PairBridgeShape,
        table_shapes.PeriodicShape,
        table_shapes.ReferenceShape,
        table_shapes.TableShapes,
        table_shapes.ComputedColumn,
        masked_models.TargetMasks,
    ),
}
"""Structs whose bytes, where they have any, are read by the same version of the program; no name of theirs counts."""

BASES = {
    "metl_gui.core.runs.events.Event",
    *(f"metl_gui.core.warehouse_model.{name}" for name in ("_Value", "_Table", "ColumnTest")),
}
"""What structs that have rows derive from; of which there are no values."""

VALUE = "metl_gui.values.Value"
"""What values derive from that are no files; one that is written all the same has a row of its own."""

READ_BY_THE_WINDOW = (pairs.MessageHead,)
"""What the window reads of messages; its row is ``the head of a message as the window reads it``."""

WRITTEN = [
    *(kind for kinds in engine.FILES.values() for kind in kinds.values()),
    *store.COLUMNS.values(),
    *workbench.FILES.values(),
    *READ_BY_THE_WINDOW,
]
"""Everything that has a row of bytes."""

NO_MODULES = {"metl_gui.no.such", "metl_gui.core.no_such_module", "metl_gui.engine.nobody", "metl_gui.__path__"}
"""What tests name that is not there, and what Python adds to a package."""


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


@cache
def bases() -> dict[str, frozenset[str]]:
    """Return what each class of the program derives from, all by their dotted names; nothing is imported."""
    found = {}
    for path in sorted((ROOT / "metl_gui").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        body = ast.parse(path.read_text(encoding="utf-8")).body
        classes = [node for node in body if isinstance(node, ast.ClassDef)]
        places = {node.name: f"{module}.{node.name}" for node in classes}
        for node in body:
            if isinstance(node, ast.ImportFrom):
                places |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        for node in classes:
            names = [ast.unparse(base) for base in node.bases]
            found[places[node.name]] = frozenset(places.get(name, name) for name in names)
    return found


def deriving_from(root: str) -> set[str]:
    """Return the classes of the program that derive from one, however far."""
    found: set[str] = set()
    while more := {name for name, above in bases().items() if above & {root, *found}} - found:
        found |= more
    return found


def test_every_struct_has_a_row_of_bytes_or_stays_within_one_version() -> None:
    structs = deriving_from("msgspec.Struct") - deriving_from(VALUE) - {VALUE} - BASES
    written = {name_of(cls) for cls in classes_in(*WRITTEN)}
    internal = {name_of(cls) for kinds in INTERNAL.values() for cls in kinds}
    assert len(structs) > 100
    assert structs - written - internal == set(), "where do their bytes go?"
    assert written & internal == set()


def test_every_result_of_a_command_has_a_row_of_what_it_prints() -> None:
    printed = {name_of(kind) for kind in workbench.RESULTS.values()}
    assert deriving_from("metl_gui.workbench.json_results.JsonResult") - printed == set()


@pytest.mark.parametrize("cls", READ_BY_THE_WINDOW)
def test_the_window_reads_of_a_message_what_it_read_before(cls: type) -> None:
    text = rows("messages_shown")["the head of a message as the window reads it"]
    head = pairs._HEAD.decode(text)
    assert isinstance(head, cls)
    assert (head.entity, head.version, head.state, head.op) == ("payment", "2", 17, "c")
    source = head.source
    assert (source.schema, source.version) == ("fx.public.payments", "3")
    assert source.origin is not None
    assert {name: bytes(value) for name, value in source.origin.items()} == {"lsn": b"7"}


def test_the_words_that_members_choose_from_are_what_they_were() -> None:
    enums = [cls for cls in classes_in(*WRITTEN) if issubclass(cls, Enum)]
    found = {*choices_in(*WRITTEN), *(tuple(sorted(member.value for member in cls)) for cls in enums)}
    assert sorted(map(list, found), key=lambda words: list(map(str, words))) == rows("words")["choices"]


def sources() -> Iterator[Path]:
    for folder in ("metl_gui", "tests"):
        yield from (ROOT / folder).rglob("*.py")


def strings(path: Path) -> Iterator[str]:
    """Yield every text in a module, its documentation too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def is_there(name: str) -> bool:
    """Whether a dotted name is code, or leads into a module; what patches a module looks for the rest itself."""
    parts = name.split(".")
    modules = (ROOT.joinpath(*parts[:count]).with_suffix(".py") for count in range(2, len(parts)))
    return documents.is_code(name) or any(module.is_file() for module in modules)


def test_every_module_that_a_text_of_the_code_names_is_there() -> None:
    """Where a process is started or looked for by the name of a module, a renamed one is not missed without a word."""
    named = {(name, path) for path in sources() for text in strings(path) for name in documents.dotted_names(text)}
    assert len(named) > 50
    missing = {(name, str(path.relative_to(ROOT))) for name, path in named if not is_there(name)}
    assert {(name, path) for name, path in missing if name not in NO_MODULES} == set(), "renamed?"


def test_the_programs_that_are_installed_are_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    programs = {**project["scripts"], **project["gui-scripts"]}
    assert programs == rows("words")["programs"]
    assert [place for place in programs.values() if not documents.is_code(place.replace(":", "."))] == []


@pytest.mark.parametrize("module", [*rows("words")["modules that are started"], WORKER])
def test_a_module_that_is_started_as_a_program_is_there(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


def test_a_process_is_not_looked_for_by_a_module_that_is_not_there() -> None:
    with pytest.raises(AssertionError, match=r"there is no module metl_gui\.engine\.nobody"):
        killing.module("metl_gui.engine.nobody")
