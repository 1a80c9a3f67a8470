from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.documents import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the built wheel in it; the libraries come from the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("metl_gui-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def run_from_the_root(installed: Path, tmp_path: Path, *command: str) -> tuple[int, str, str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(installed),
        "PYTHONSAFEPATH": "1",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, *command], cwd="/", env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout, done.stderr


def metl(installed: Path, tmp_path: Path, *arguments: str) -> tuple[int, Any]:
    code, said, beside = run_from_the_root(installed, tmp_path, str(installed / "bin" / "metl"), *arguments, "--json")
    assert said, beside
    return code, json.loads(said)


def test_the_wheel_carries_code_resources_and_samples(installed: Path, tmp_path: Path) -> None:
    script = "import metl_gui.packaged as p; print(p.__file__, p.resources(), p.sample_projects() / 'fx', sep='\\n')"
    _, said, beside = run_from_the_root(installed, tmp_path, "-c", script)
    places = [Path(line) for line in said.splitlines()]
    assert len(places) == 3, beside
    assert all(place.is_relative_to(installed / "metl_gui") and place.exists() for place in places)
    assert (places[2] / "mapping.csv").is_file()
    assert list((places[1] / "themes").iterdir())


def test_an_installed_doctor_finds_what_the_tests_run_on(installed: Path, tmp_path: Path) -> None:
    _, document = metl(installed, tmp_path, "doctor")
    found = {check["name"]: check["ok"] for check in document["checks"]}
    assert found["Python"]
    assert found["Spark"]
    assert found["Qt for Python"]


def test_an_installed_demo_runs_from_the_root_folder(installed: Path, tmp_path: Path) -> None:
    code, document = metl(installed, tmp_path, "demo", "--no-window")
    assert code == 0
    run = document["run"]
    assert run["read"] == run["mapped"] + run["filtered"] + run["set_aside"] + run["skipped"] > 5000
    assert document["import"]["added"]
    assert document["review"]["items"]
    assert Path(document["project"]).is_relative_to(tmp_path / "data")
    assert Path(document["screenshot"]).stat().st_size > 10_000
    assert not Path(document["project"]).is_relative_to(installed)
