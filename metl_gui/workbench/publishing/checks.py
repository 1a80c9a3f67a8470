"""The checks of a project: everything wrong or doubtful at once, nothing raised.

Source: docs/reference/commands.md, "metl check"; docs/reference/json.md, "Problems".
"""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import msgspec
from msgspec import MsgspecError
from msgspec.structs import replace

from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.checks import check
from metl_gui.core.search.gaps import Seen
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.search.todo import MappingProgress, progress_of
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.importing.schema_import import remainders, words
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.masked_messages import source_of
from metl_gui.workbench.samples.run_records import first_results, first_set_aside
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder

_log = logging.getLogger(__name__)
_RUNS, _RECORDS = 3, 200


class CheckResult(JsonResult):
    """The problems of a project: errors first, then by place.

    Args:
        state: its number.
        problems: all of them.
        progress: how far each tree is, where that is known.
    """

    state: int
    problems: tuple[Problem, ...]
    progress: dict[Side, MappingProgress] = msgspec.field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many problems there are of each severity."""
        found = Counter(problem.severity for problem in self.problems)
        return {severity.value: found[severity] for severity in Severity}


def check_project(workbench: Workbench) -> CheckResult:
    """Run every check on the current state, and prove that the project file reads back as what is shown.

    Cost: linear in the document; the file is read once more.
    """
    found = check_document(workbench.document, seen_in_runs(workbench))
    found = replace(found, problems=(*_unfinished(workbench), *found.problems, *model_problems(workbench.document)))
    stored = workbench.read_again()
    if stored.state != found.state or state_hash(stored) == state_hash(workbench.document):
        return found
    problem = Problem(
        Severity.ERROR,
        "project.differs-from-file",
        workbench.path.name,
        "The file holds another content of this state than what is open.",
        "Close the project and open it again; report this.",
    )
    return replace(found, problems=(problem, *found.problems))


def model_problems(document: Document) -> tuple[Problem, ...]:
    """Check the warehouse models of a state, where it has any."""
    if not document.models:
        return ()
    from metl_gui.workbench.warehouse.models import check_models  # reads SQL, and few projects have a model

    return check_models(document).problems


def _unfinished(workbench: Workbench) -> list[Problem]:
    hint = "Go on with it: metl resume PROJECT (or with --forget let it go)."
    return [
        Problem(Severity.WARNING, "project.import-unfinished", left.declarations[0].name, words(left), hint)
        for left in remainders(workbench)
    ]


def check_document(document: Document, seen: Seen = frozenset()) -> CheckResult:
    """Run every check of the domain on one state, with what runs have met as far as that is known."""
    return CheckResult(document.state, check(document, seen), {side: progress_of(document, side) for side in Side})


def seen_in_runs(workbench: Workbench) -> Seen:
    """Return the schema versions whose messages the newest runs have met, as far as they kept records to look at."""
    seen: set[tuple[str, str]] = set()
    for run in workbench.kept.runs.newest(_RUNS):
        samples = run_folder(workbench.project_id, run.run_id) / "samples"
        errors = Path(run.report.get("errors") or samples)
        try:
            sent = [each.message for record in first_results(samples, _RECORDS) for each in record.outgoing[:1]]
            seen.update(pair for message in sent if (pair := source_of(message)) is not None)
            aside = first_set_aside(errors, _RECORDS)
            seen.update((record.schema, record.version) for record in aside if record.schema and record.version)
        except (OSError, MsgspecError) as error:
            _log.debug("what the run %s kept cannot be read: %s", run.run_id, error)
    return seen
