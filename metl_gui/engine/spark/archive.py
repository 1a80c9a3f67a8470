"""What travels to executors: one archive with the modules that a task needs, and their machine code.

Nothing of this program is installed there. The archive is named by its content, built once and kept in the user's
cache. What tasks need besides (pyarrow, msgspec, and numba for speed) is looked for by ``worker_check``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import metl_gui
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.spark import archive_entrance
from metl_gui.errors import SetupError
from metl_gui.own_files import atomic_file, cache_folder, is_only_ours, make_folder

PARTS = ("errors.py", "values.py", "own_files.py", "file_locks.py", "core", "formats", "engine")
"""What of the package travels; the rest of it neither runs nor is imported on an executor."""

_PACKAGE = "metl_gui"
_ZIP_TIME = (2020, 1, 1, 0, 0, 0)
_KEPT_SECONDS = archive_entrance.KEPT_DAYS * 24 * 3600


def shipped_archive(folder: Path | None = None, otherwise: Path | None = None) -> Path:
    """Return the archive of the program as it is installed now, built when it is not there.

    Cost: reads some 200 small files; a tenth of a second when it must be built.

    Args:
        folder: where archives are kept, by default the user's cache.
        otherwise: where this one is made when others could change what lies there: workers run it.

    Raises:
        SetupError: the folder cannot be written, or others can write to it.
    """
    kept = folder or cache_folder() / "shipped"
    files = dict(_files(Path(metl_gui.__file__).parent)) | dict(_machine_code())
    content = _content_of(files)
    path = kept / f"metl-{content}.zip"
    try:
        make_folder(kept)
        if not is_only_ours(kept):
            if otherwise is not None:
                return shipped_archive(otherwise)
            raise SetupError(
                "What travels to the workers cannot be kept.",
                f"Others can write to {kept}, or to a folder on the way to it.",
                "Take that right from them, or name another cache folder in XDG_CACHE_HOME.",
            )
        if not path.is_file():
            _build(path, files | {f"{_PACKAGE}/__init__.py": _entrance(content)})
        _forget_old(path)
    except OSError as error:
        raise SetupError(
            "What travels to the workers cannot be put together.",
            f"{kept}: {error.strerror}.",
            "Free space there or mend its permissions, or name another cache folder in XDG_CACHE_HOME.",
        ) from error
    return path


def write_kernel(path: Path) -> None:
    """Write the archive for a job that others submit: without machine code, so that it has the same bytes everywhere.

    Raises:
        OSError: the file cannot be written.
    """
    files = dict(_files(Path(metl_gui.__file__).parent))
    _build(path, files | {f"{_PACKAGE}/__init__.py": _entrance(_content_of(files))})
    path.chmod(0o644)  # workers of another user read it


def _content_of(files: Mapping[str, bytes]) -> str:
    """Return what names an archive: a hash of what is in it."""
    digest = hashlib.sha256()
    for name, text in files.items():
        digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()[:16]


def _files(package: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and text of each module that travels, sorted, so that the same program gives the same archive."""
    for part in PARTS:
        place = package / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            yield f"{_PACKAGE}/{path.relative_to(package).as_posix()}", path.read_bytes()


def _machine_code() -> Iterator[tuple[str, bytes]]:
    """Yield the machine code of this computer where it is ready: workers of the same kind need no compiler then."""
    for path in build.kept_files():
        yield f"{archive_entrance.KERNELS}/{path.parent.name}/{path.name}", path.read_bytes()


def _entrance(content: str) -> bytes:
    """Write the package's first module, as it is on executors."""
    text = Path(archive_entrance.__file__).read_text(encoding="utf-8")
    last = (
        f"\n\n__version__ = {metl_gui.__version__!r}\n"
        f"__path__ = enter(str(Path(__file__).parents[1]), {content!r}, list(__path__))\n"
    )
    return (text + last).encode()


def _build(path: Path, files: dict[str, bytes]) -> None:
    with atomic_file(path, mode=0o600) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(member, _ZIP_TIME), text, zipfile.ZIP_DEFLATED)


def _forget_old(path: Path) -> None:
    """Remove the archives of versions that have not been used for a month."""
    os.utime(path)
    for other in path.parent.glob("metl-*.zip"):
        with contextlib.suppress(FileNotFoundError):
            if other.stat().st_mtime < time.time() - _KEPT_SECONDS:
                other.unlink()
