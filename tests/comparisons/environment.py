"""Environments of programs that we are compared with, apart from that of the project, in versions that are pinned."""

from __future__ import annotations

import argparse
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

import platformdirs


def environment(folder: Path, pinned: Sequence[str]) -> Path:
    """Return the programs of an environment, which is made where it is missing or has other versions.

    Args:
        folder: of the environment.
        pinned: what is installed in it; wheels alone, so that nothing is built.
    """
    programs, known = folder / "bin", folder / "pinned.txt"
    if not known.is_file() or known.read_text(encoding="utf-8") != "\n".join(pinned):
        venv.create(folder, with_pip=True, clear=True)
        install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
        subprocess.run([*install, *pinned], check=True)
        known.write_text("\n".join(pinned), encoding="utf-8")
    return programs


def environment_option(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the option that says where an environment is kept."""
    default = platformdirs.user_cache_path("metl") / "comparisons" / name
    parser.add_argument("--environment", type=Path, default=default, help="folder of the environment that is made")
