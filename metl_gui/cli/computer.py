"""The command about this computer: ``doctor``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, Commands
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.doctor import Check, Examination


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
        "--live", action="store_true", help="look for what metl demo --live needs too: PostgreSQL, Maven, jars, space"
    )
    doctor.add_argument(
        "--fix", action="store_true", help="install what is missing where that is allowed (apt-get, as root)"
    )


def run_doctor(arguments: argparse.Namespace, out: Output) -> int:
    """Examine this computer, mend it if asked, and say what is left to do."""
    examination = _examined_live(arguments.fix, out) if arguments.live else _examined(arguments.fix, out)
    lines = [_line(check) for check in examination.checks]
    lines += [f"{check.name}: {check.hint}" for check in examination.missing]
    lines += [f"  {command}" for command in examination.commands]
    lines.append("Everything needed is here." if examination.ok else "Something needed is missing.")
    out.result(examination.as_json(), lines)
    return DONE if examination.ok else AT_FAULT


def _examined(has_to_mend: bool, out: Output) -> Examination:
    from metl_gui.workbench.doctor import examine, make_machine_code, mend

    examination = examine()
    if has_to_mend and not examination.ok:
        examination = mend(examination, out.note)
    return examine() if has_to_mend and make_machine_code(out.note) else examination


def _examined_live(has_to_mend: bool, out: Output) -> Examination:
    from metl_gui.workbench.components.requirements import examine_live, mend_live
    from metl_gui.workbench.doctor import make_machine_code

    examination = examine_live()
    if has_to_mend and examination.missing:
        with out.watching() as watch:
            examination = mend_live(examination, out.note, watch)
    return examine_live() if has_to_mend and make_machine_code(out.note) else examination


def _line(check: Check) -> str:
    found = "ok     " if check.ok else "MISSING" if check.is_needed else "not yet"
    return f"{found}  {check.name}: {check.found}"
