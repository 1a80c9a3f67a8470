"""Where machine code is loaded from: what lies there runs, so nobody else may ever have had a hand in it."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from metl_gui.engine.kernel.compiled import build
from metl_gui.own_files import is_only_ours

_NOWHERE = "/dev/null/nowhere"
_NOBODY = 65534
_DOUBLE = """
from numba import njit
from metl_gui.engine.kernel.compiled.jit_cache import keep

def double(number):
    return 2 * number

print(keep(njit(double))(21))
"""
"""A program that keeps the machine code of one function, and loads it when it is there."""


class _Planted:
    """Runs when numba reads what it keeps."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


@pytest.fixture(autouse=True)
def _looks_anew() -> Iterator[None]:
    build.folder.cache_clear()
    yield
    build.folder.cache_clear()


@pytest.fixture
def other_user() -> int:
    """The number of somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root may act as somebody else")
    return _NOBODY


@pytest.fixture
def shared() -> Iterator[Path]:
    """A temporary folder for everybody, that everybody can reach."""
    place = Path(tempfile.mkdtemp(prefix="metl-shared-"))
    place.chmod(0o1777)
    yield place
    shutil.rmtree(place)


def folder_with(monkeypatch: pytest.MonkeyPatch, temporary: Path, cache: Path | str = _NOWHERE) -> Path | None:
    monkeypatch.delenv("METL_KERNEL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return build.folder()


def doubled(folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", _DOUBLE],
        env={**os.environ, "METL_KERNEL_CACHE": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def plant_in(folder: Path, mark: Path) -> None:
    """Put something of somebody else's where machine code is kept."""
    for index in folder.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(_Planted(mark)))


def test_machine_code_in_a_folder_that_others_can_swap_is_not_run(tmp_path: Path) -> None:
    kept, mark = tmp_path / "kept", tmp_path / "mark"
    assert doubled(kept) == "42"
    assert list(kept.rglob("*.nbi")), "nothing was kept, so nothing could have been planted"
    plant_in(kept, mark)
    kept.chmod(0o777)
    assert doubled(kept) == "42"
    assert not mark.exists()


def test_another_user_cannot_put_code_where_machine_code_is_loaded_from(
    other_user: int, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = shared / f"metl-kernel-{os.getuid()}"
    subprocess.run(["mkdir", taken, f"{taken}-first"], user=other_user, check=True)
    found = folder_with(monkeypatch, shared)
    assert found is not None
    swap = f"mv {found} {found}-away && mkdir {found} && touch {found}/ready"
    assert subprocess.run(["sh", "-c", swap], user=other_user, check=False, capture_output=True).returncode != 0
    assert not (found / "ready").exists()


@pytest.mark.parametrize("name", ["METL_KERNEL_CACHE", "XDG_CACHE_HOME"])
def test_a_named_folder_of_another_user_is_not_used(
    name: str, other_user: int, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = shared / "theirs"
    theirs.mkdir()
    os.chown(theirs, other_user, -1)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.delenv("METL_KERNEL_CACHE", raising=False)
    monkeypatch.setenv(name, str(theirs))
    found = build.folder()
    assert found is None or not found.is_relative_to(theirs)


def test_a_link_of_another_user_leads_nowhere(
    other_user: int, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = shared / "cache"
    link.symlink_to(tmp_path)
    os.chown(link, other_user, -1, follow_symlinks=False)
    found = folder_with(monkeypatch, shared, link)
    assert found is not None
    assert found.is_relative_to(shared)
    assert not found.is_relative_to(link)


def test_a_link_of_our_own_is_followed_to_what_it_leads_to(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    assert is_only_ours(tmp_path / "link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "kept").mkdir(mode=0o700)
    (tmp_path / "by-way").symlink_to(tmp_path / "open" / "kept")
    assert not is_only_ours(tmp_path / "by-way")
    (tmp_path / "around").symlink_to("around")
    assert not is_only_ours(tmp_path / "around")


@pytest.mark.parametrize(
    ("name", "members", "whose", "is_ours"),
    [
        ("us", [], "us", True),
        ("us", ["us"], "us", True),
        ("us", ["us", "them"], "us", False),
        ("us", [], "them", False),
        ("users", [], "us", False),
        ("us", None, "us", False),
    ],
)
def test_a_folder_that_a_group_may_change_is_ours_where_it_is_named_after_us_and_nobody_else_is_in_it(
    name: str, members: list[str] | None, whose: str, is_ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def members_of(number: int) -> SimpleNamespace:
        if members is None:
            raise KeyError(number)
        return SimpleNamespace(gr_name=name, gr_mem=members)

    group = tmp_path.stat().st_gid
    monkeypatch.setattr("grp.getgrgid", members_of)
    monkeypatch.setattr("pwd.getpwuid", lambda _number: SimpleNamespace(pw_name="us"))
    monkeypatch.setattr("pwd.getpwall", lambda: [SimpleNamespace(pw_name=whose, pw_gid=group)])
    tmp_path.chmod(0o775)
    (tmp_path / "kept").mkdir(mode=0o700)
    assert is_only_ours(tmp_path / "kept") is is_ours


def test_where_the_cache_is_open_to_others_processes_share_a_folder_in_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "tmp"
    for place, mode in ((cache, 0o777), (temporary, 0o1777)):
        place.mkdir()
        place.chmod(mode)
    first = folder_with(monkeypatch, temporary, cache)
    assert first is not None
    assert first.is_relative_to(temporary)
    assert [path.stat().st_mode & 0o777 for path in (first, first.parent)] == [0o700, 0o700]
    build.folder.cache_clear()
    assert build.folder() == first


def test_nothing_is_kept_where_even_the_temporary_folder_lets_others_take_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o777)
    assert folder_with(monkeypatch, temporary) is None


def test_a_named_folder_that_will_not_do_is_told_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("METL_KERNEL_CACHE", str(tmp_path))
    assert build.folder() is None
    assert str(tmp_path) in build.why_not()
    assert "METL_KERNEL_CACHE" in build.why_not()


def test_an_edit_of_a_module_in_a_package_inside_makes_another_build(tmp_path: Path) -> None:
    source = Path(build.__file__).parent
    package = tmp_path / "compiled"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "nested").mkdir()
    nested = package / "nested" / "jitted.py"
    nested.write_text("LIMIT = 1\n")
    before = dict(build.sources_of(package))
    nested.write_text("LIMIT = 2\n")
    after = dict(build.sources_of(package))
    assert {name for name in before | after if before.get(name) != after.get(name)} == {"nested/jitted.py"}


def test_the_digest_is_made_of_every_source_and_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "one.py").write_text("A = 1\n")
    monkeypatch.setattr("importlib.resources.files", lambda _package: tmp_path)
    first = build.digest.__wrapped__()
    (tmp_path / "inner" / "one.py").rename(tmp_path / "inner" / "two.py")
    second = build.digest.__wrapped__()
    (tmp_path / "inner" / "two.py").write_text("A = 2\n")
    third = build.digest.__wrapped__()
    assert len({first, second, third}) == 3
