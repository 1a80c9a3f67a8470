"""The command about this computer: ``doctor``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, Commands
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.doctor import Check


def register(commands: Commands) -> None:
    """Add ``doctor``."""
    doctor = commands.add(
        "doctor",
        run_doctor,
        "say what is missing on this computer and the command that mends it",
        "Checks Python, Java, Spark, Qt with the system libraries it opens, and fonts. "
        "Ends with 1 while something is missing.",
    )
    doctor.add_argument(
        "--fix", action="store_true", help="install what is missing where that is allowed (apt-get, as root)"
    )


def run_doctor(arguments: argparse.Namespace, out: Output) -> int:
    """Examine this computer, mend it if asked, and say what is left to do."""
    from metl_gui.workbench.doctor import examine, make_machine_code, mend

    examination = examine()
    if arguments.fix and not examination.ok:
        examination = mend(examination, out.note)
    if arguments.fix and make_machine_code(out.note):
        examination = examine()
    lines = [_line(check) for check in examination.checks]
    lines += [f"{check.name}: {check.hint}" for check in examination.missing]
    lines += [f"  {command}" for command in examination.commands]
    lines.append("Everything needed is here." if examination.ok else "Something needed is missing.")
    out.result(examination.as_json(), lines)
    return DONE if examination.ok else AT_FAULT


def _line(check: Check) -> str:
    return f"{'ok     ' if check.ok else 'MISSING'}  {check.name}: {check.found}"
