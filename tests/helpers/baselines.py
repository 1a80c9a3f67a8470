"""What the measuring tools found of a version, kept beside the documentation of the architecture.

``docs/architecture/baselines.json`` holds one entry for each name that a measurement was recorded under: the version,
and what each tool found. A later restructuring is compared with it.
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.own_package import ROOT, OwnPackage

FILE = ROOT / "docs" / "architecture" / "baselines.json"


def record(
    name: str, tool: str, results: Mapping[str, object], package: OwnPackage | None = None, file: Path = FILE
) -> None:
    """Keep what a tool found.

    Args:
        name: of the measurement, as ``0.1.1``.
        tool: that measured.
        results: by what was measured; they take the place of what the tool found of the same before.
        package: what was measured; this project's own where it is not named.
        file: where it is kept.
    """
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    entry = known.setdefault(name, {})
    measured = package or OwnPackage.of()
    measured_on = {
        "version": measured.version,
        "commit": _commit(measured.folder.parent),
        "python": platform.python_version(),
    }
    entry.setdefault(tool, {}).update({key: {**measured_on, "found": value} for key, value in results.items()})
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _commit(root: Path) -> str:
    """Name the commit that is checked out, empty where there is none."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
