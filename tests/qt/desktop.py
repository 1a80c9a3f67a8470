"""A desktop of one's own: a screen that nobody sees, who gives windows the keyboard on it, and a session bus.

What begins there finds the accessibility bus as on any desktop: the session bus starts it when it is asked for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.helpers.display import SERVER, virtual_display

PACKAGES = {
    SERVER: "xvfb",
    "jwm": "jwm",
    "dbus-daemon": "dbus-daemon",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
    "/usr/libexec/at-spi2-registryd": "at-spi2-core",
}
"""What starts it, and the Debian packages that bring it."""

_SCREEN = "1600x1000x24"
_FOLDERS = ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HOME")


@contextmanager
def desktop(folder: Path) -> Iterator[dict[str, str]]:
    """Start a desktop, and return the environment of what is started on it; skip the test where it cannot be.

    Args:
        folder: for what everything there keeps.
    """
    missing = sorted({package for name, package in PACKAGES.items() if shutil.which(name) is None})
    if missing:
        pytest.skip(f"a screen without a display needs: apt-get install {' '.join(missing)}")
    environment = {**os.environ, **{name: str(folder / name.lower()) for name in _FOLDERS}}
    for name in _FOLDERS:
        Path(environment[name]).mkdir(mode=0o700, exist_ok=True)
    environment |= {"QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    with virtual_display(_SCREEN) as environment["DISPLAY"], _windows(folder, environment):
        address = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:dir={folder}"]
        quiet, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(address, stdout=pipe, stderr=quiet, text=True, env=environment) as bus:
            assert bus.stdout is not None
            environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
            with _ending(bus):
                yield environment


@contextmanager
def _windows(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Have the keyboard given to a window that opens, and back to the one before it when it closes."""
    settings = folder / "jwmrc"
    settings.write_text("<JWM/>", "utf-8")
    quiet = subprocess.DEVNULL
    manager = subprocess.Popen(["jwm", "-f", settings], stdout=quiet, stderr=quiet, env=environment)
    with manager, _ending(manager):
        yield


@contextmanager
def _ending(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
