"""Another process makes machine code, once, and goes on where one was killed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from metl_gui.engine import all_machine_code
from metl_gui.engine.kernel import machine_code
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.mapping import kernel as kernel_module
from metl_gui.engine.mapping.kernel import Kernel
from tests.helpers.plans import map_all
from tests.unit.engine.test_compiled import ROW, assert_same, envelope, plan


@pytest.fixture
def _fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("METL_KERNEL_CACHE", str(tmp_path))
    build.folder.cache_clear()
    yield
    build.folder.cache_clear()


@pytest.fixture
def _all_but_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder that holds what the compiler made for these tests, if it has, but not yet the words that it is ready."""
    found = tmp_path / build.digest()
    found.mkdir(mode=0o700)
    for path in build.kept_files():
        if path.suffix in (".nbi", ".nbc"):
            shutil.copy2(path, found)
    monkeypatch.setenv("METL_KERNEL_CACHE", str(tmp_path))
    build.folder.cache_clear()
    yield
    build.folder.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("_all_but_ready")
def test_a_kernel_goes_over_to_machine_code_once_another_process_has_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine_code, "LOOK_SECONDS", -1.0)
    monkeypatch.setattr(kernel_module, "WORTH_RECORDS", 3)
    kernel = Kernel(plan(), patience=0)
    raws = [envelope(ROW)] * 4
    process = build.build_in_background()
    assert process is not None
    assert build.build_in_background() is None
    first = map_all(kernel, raws)
    assert first.hits == 0
    assert process.wait() == 0
    assert all_machine_code.is_made()
    assert build.build_in_background() is None
    map_all(kernel, raws)
    second = map_all(kernel, raws)
    assert second.hits == 4
    assert_same(second, first)


@pytest.mark.usefixtures("_fresh_folder")
def test_a_lock_that_a_killed_process_left_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAKER", "metl_gui.no.such")
    monkeypatch.setattr(build, "digest", lambda: "d")
    first = build.build_in_background()
    assert first is not None
    assert build.build_in_background() is None
    first.wait()
    second = build.build_in_background()
    assert second is not None
    second.wait()


@pytest.mark.usefixtures("_fresh_folder")
def test_what_a_process_that_was_killed_left_unmade_is_made_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAKER", "metl_gui.no.such")
    found = build.folder()
    assert found is not None
    (found / "ready").touch()
    process = build.build_in_background()
    assert process is not None
    process.wait()
    build.unlock()
    build.note_tried()
    assert build.build_in_background() is None


@pytest.mark.usefixtures("_fresh_folder")
def test_files_that_the_compiler_is_still_writing_are_not_taken_along() -> None:
    found = build.folder()
    assert found is not None
    for name in ("ready", "building", "memory.nbc", "memory.nbc.tmp.7f3a"):
        (found / name).touch()
    assert [path.name for path in build.kept_files()] == ["memory.nbc", "ready"]
