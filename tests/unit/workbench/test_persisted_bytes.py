"""What the workbench writes down is what it was, and is read as it was; and so is what commands print for programs.

Orders of production runs outlive an upgrade, profiles and samples belong to the user, exports lie in Git, and scripts
read what commands print with ``--json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from metl_gui import own_files
from metl_gui.core.differences.tree_difference import TreeKind
from metl_gui.core.edits import settings as setting_edits
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.sides import ConflictKind
from metl_gui.core.progress import UNWATCHED
from metl_gui.core.project import project_data
from metl_gui.core.project.source_formats import Format
from metl_gui.core.review import query
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.addresses import Api
from metl_gui.registry.matrix_export import parse_export
from metl_gui.registry.postgres_types import MODE_SETTINGS, Modes, modes_of
from metl_gui.workbench import atomic_files, user_folders
from metl_gui.workbench import settings as project_settings
from metl_gui.workbench.demo import sample
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.matrix import dusb_text, json_text, laid_out
from metl_gui.workbench.importing import source_watch
from metl_gui.workbench.profiles import kinds, saved_profiles
from metl_gui.workbench.profiles.saved_profiles import Profile, find_profile, save_profile
from metl_gui.workbench.runs import history, production, unfinished_runs
from metl_gui.workbench.runs.history import RunStatus
from metl_gui.workbench.runs.production import ProductionOrder, read_order
from metl_gui.workbench.samples.cache import KeptSample, SampleCache, decode_samples, encode_samples
from metl_gui.workbench.samples.preview import Preview
from metl_gui.workbench.session import EditOrigin
from metl_gui.workbench.user_folders import ProcessFacts, read_facts, write_facts
from tests.helpers.persisted import files_below, filled, lay_out, rows
from tests.helpers.world import World
from tests.unit.workbench.persisted import DOCUMENTS, EVENTS, FILES

_PROJECT = "01234567-89ab-cdef-0123-456789abcdef"
_PROFILE = Profile(
    name="team",
    target="spark://h:7077",
    settings=(("spark.executor.memory", "2g"),),
    secrets=(("spark.authenticate.secret", "env:TEAM"),),
    folder="/shared",
)

_WORDS: Mapping[str, type[StrEnum]] = {
    "kind of a profile": kinds.ProfileKind,
    "API of a registry": Api,
    "format of a source": Format,
    "order of a review list": query.ReviewOrder,
    "grouping of a review list": query.Grouping,
    "status of a run": RunStatus,
    "severity of a problem": Severity,
    "conflict of a merge": ConflictKind,
    "change of a tree": TreeKind,
    "thing beside the states": project_data.ItemKind,
}

_NAMES: Mapping[str, Callable[[], object]] = {
    "files of a production run": lambda: [
        production.ORDER, production.PLAN, production.LOG, user_folders.PROCESS, user_folders.STOP,
    ],
    "a run that has begun": lambda: unfinished_runs._BEGUN,
    "runs that are in their project": lambda: history._COLLECTED,
    "an untouched copy of a sample": lambda: sample._MARK,
    "what says that a folder is an export": lambda: [atomic_files.MANIFEST, atomic_files._FORMAT],
    "folders below that of the user": lambda: [
        user_folders.run_folder(_PROJECT, "run-1").relative_to(own_files.cache_folder()).as_posix(),
        user_folders.kept_samples_folder(_PROJECT).relative_to(own_files.cache_folder()).as_posix(),
        user_folders.samples_folder().relative_to(own_files.data_folder()).as_posix(),
    ],
    "what the folders of the user and entries of the keyring are called by": lambda: own_files.APPLICATION,
    "a secret in the keyring": lambda: saved_profiles._entry("team", "token"),
    "a folder that was closed": lambda: user_folders._CLOSED,
    "where secrets are": lambda: [saved_profiles.KEYRING, saved_profiles.VARIABLE],
    "formats of exports": lambda: list(EXPORTS),
    "settings of a project": lambda: {name: list(values) for name, values in project_settings.KNOWN.items()},
    "settings of a schema": lambda: list(setting_edits.SCHEMA_SETTINGS),
    "settings of an entity": lambda: list(setting_edits.ENTITY_SETTINGS),
    "values of settings": lambda: {name: list(values) for name, values in setting_edits.CHOICES.items()},
    "settings of a connector in a profile": lambda: list(MODE_SETTINGS),
    "doors": lambda: [door.value for door in EditOrigin],
    "words of commands and what they print": lambda: {
        name: [member.value for member in kind] for name, kind in _WORDS.items()
    },
    "fates of a preview": lambda: [replace(filled(Preview), fate=fate).as_json()["fate"] for fate in RecordOutcome],
}  # fmt: skip


def document() -> Document:
    """Make a document of which every member of an export has something to tell."""
    world = World()
    world.schema("fx.payments", "1", "id:int64", "amount", "legacy")
    world.entity("payment", "1", "key:int64", "value", "old")
    world.map("fx.payments@1:payment@1", key="id", value="amount", old="legacy")
    world.do(SetSettings(Side.EXTRACTION, 1, (("key", "id"), ("replica_identity", "full"))))
    world.schema("fx.payments", "2", "id:int64", "sum=amount", "note")
    return world.document


@pytest.mark.parametrize("name", FILES)
def test_a_value_has_the_bytes_that_it_had_before(name: str) -> None:
    assert msgspec.json.encode(filled(FILES[name])).decode() == rows("workbench")[name]


@pytest.mark.parametrize("name", FILES)
def test_bytes_of_before_are_read_as_the_value_that_they_were(name: str) -> None:
    assert msgspec.json.decode(rows("workbench")[name], type=FILES[name]) == filled(FILES[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_command_prints_the_document_that_it_printed_before(name: str) -> None:
    kind, as_json = DOCUMENTS[name]
    assert json.dumps(as_json(filled(kind))) == rows("documents")[name]


@pytest.mark.parametrize(("file", "table"), [("workbench", FILES), ("documents", DOCUMENTS)])
def test_every_row_of_a_case_file_is_held_against_a_value(file: str, table: Mapping[str, Any]) -> None:
    assert list(rows(file)) == list(table)


def test_every_event_of_a_watch_has_a_row() -> None:
    assert set(EVENTS.values()) == set(get_args(source_watch.WatchEvent))


@pytest.mark.parametrize("name", _NAMES)
def test_a_name_of_a_file_or_a_setting_is_what_it_was_before(name: str) -> None:
    assert _NAMES[name]() == rows("workbench_names")[name]


def test_the_modes_of_a_connector_are_read_from_the_settings_that_a_profile_had_before() -> None:
    settings = rows("workbench_names")["settings of a connector in a profile"]
    values = ("double", "connect", "hex", "map", "string")
    assert modes_of(dict(zip(settings, values, strict=True))) == Modes(*values)


def test_a_production_run_is_told_what_it_was_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = filled(ProcessFacts)
    monkeypatch.setattr(production, "_spawn", lambda folder, _environment: write_facts(folder, facts))
    monkeypatch.chdir(tmp_path)
    order = filled(ProductionOrder)
    spec = msgspec.structs.replace(order.spec.as_kept, folder="run")
    production._started(msgspec.structs.replace(order, kept=spec), b"{}", UNWATCHED)
    found = files_below(tmp_path / "run")
    said = json.loads(found.pop("process.json"))
    assert found == {name: text for name, text in rows("workbench_folders")["a run"].items() if name != "process.json"}
    said["holder"]["heartbeat_ms"] = facts.holder.heartbeat_ms  # the moment in which it was written
    assert said == json.loads(rows("workbench")["the process of a run"]) | {"beats": facts.beats + 1}


def test_a_production_run_of_before_is_found(tmp_path: Path) -> None:
    lay_out(tmp_path, rows("workbench_folders")["a run"])
    order = filled(ProductionOrder)
    spec = msgspec.structs.replace(order.spec.as_kept, folder="run")
    assert read_order(tmp_path) == msgspec.structs.replace(order, kept=spec)
    assert read_facts(tmp_path) == filled(ProcessFacts)


def test_profiles_are_kept_as_before_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "now"))
    save_profile(_PROFILE)
    assert files_below(tmp_path / "now") == rows("workbench_folders")["settings of a user"]
    lay_out(tmp_path / "before", rows("workbench_folders")["settings of a user"])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "before"))
    assert find_profile("team") == _PROFILE


def test_samples_are_kept_as_before_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = msgspec.structs.replace(filled(KeptSample), raw_base64=None)
    assert SampleCache(_PROJECT).write(7, [kept])
    assert files_below(tmp_path) == rows("workbench_folders")["samples of a project"]
    text = encode_samples([kept])
    assert decode_samples(text, are_kept_long=True) == (kept,)


@pytest.mark.parametrize(("name", "text_of"), [("the whole matrix", json_text), ("the compact set", dusb_text)])
def test_an_export_is_what_it_was_before_and_is_read_again(name: str, text_of: Callable[[Document], str]) -> None:
    text = rows("exports")[name] + "\n"
    assert text_of(document()) == text
    assert laid_out(parse_export(text.encode()).content()) == text


def test_the_hash_of_a_state_is_what_it_was_before() -> None:
    assert state_hash(document()) == rows("exports")["the hash"]
