"""Makes the files that the present version keeps, for the tests of the versions after it.

    python -m tests.compatibility FOLDER               all of them
    python -m tests.compatibility --exports VERSION    what today's program exports of the project of a version

Exports of a kept project change only with what the outside relies on. Then they are written anew, once the tests have
shown what the difference is.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.compatibility.answers import QUESTIONS, ask
from tests.compatibility.exports import FORMATS, export, files_of
from tests.compatibility.installed import FOLDER, Installed, install
from tests.compatibility.making import lanes, packing, project, runs
from tests.compatibility.making.program import Program


def main() -> None:
    """Make what is asked for."""
    # A shell lets programs in its background ignore Ctrl+C, and what they start too; runs are cancelled by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="a new folder")
    wanted.add_argument("--exports", metavar="VERSION", help="write the exports of this version anew")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kept-") as temporary:
        if asked.exports:
            _export(_installed(FOLDER / asked.exports, Path(temporary)))
        else:
            _make(asked.folder.absolute(), Path(temporary))


def _make(target: Path, temporary: Path) -> None:
    target.mkdir(parents=True)
    root = temporary / "made"
    root.mkdir()
    program, ids = Program(root), {}
    project.begin(program)
    ids["first"] = runs.first(program)
    project.change(program)
    ids |= runs.rest(program)
    program.metl("export", program.project, "--format", "json", "-o", root / "cdm" / "mapping.json")
    project.leave(program)
    cleaner = packing.Cleaner(root)
    (target / "runs.json").write_text(json.dumps(ids, indent=1) + "\n", "utf-8")
    packing.write_packed(target / "project.sql.xz", cleaner.cleaned(project.as_sql(program.project), "the project"))
    packing.pack_files(cleaner, root, target / "files.tar.xz")
    _arrange_window(program, cleaner, target)
    _answer(_installed(target, temporary / "asked"))
    _export(_installed(target, temporary / "exported"))
    lanes.make(program, target / "topics")


def _arrange_window(program: Program, cleaner: packing.Cleaner, target: Path) -> None:
    settings = program.root / "window.ini"
    command = ("tests.compatibility.making.window", program.project, settings, target / "window.json")
    subprocess.run([sys.executable, "-m", *map(str, command)], cwd=program.root, env=program.environment, check=True)
    (target / "window.ini").write_text(cleaner.cleaned(settings.read_text("utf-8"), "the settings"), "utf-8")


def _answer(installed: Installed) -> None:
    ids = installed.json("runs.json")
    (installed.kept / "answers").mkdir()
    for name in QUESTIONS:
        answer = ask(installed, name)
        for run in answer.get("runs", ()):
            if run["run_id"] == ids["switched-off"]:
                del run["when_ms"]  # of whoever looks first
        text = installed.taken_out(json.dumps(answer, indent=1)) + "\n"
        (installed.kept / "answers" / f"{name}.json").write_text(text, "utf-8")


def _export(installed: Installed) -> None:
    folder = installed.root / "exports"
    folder.mkdir()
    for name in FORMATS:
        export(installed, name, folder)
    files = [file for name in FORMATS for file in files_of(folder, name)]
    content = {f"exports/{file}": (folder / file).read_bytes() for file in files}
    packing.write_archive(installed.kept / "exports.tar.xz", content)


def _installed(kept: Path, root: Path) -> Installed:
    """Lay files out where the commands of this process find them."""
    root.mkdir(exist_ok=True)
    installed = install(kept, root)
    os.environ.update(installed.environment)
    return installed


if __name__ == "__main__":
    main()
