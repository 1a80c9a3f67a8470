"""The commands about the matrix: ``map``, ``search``, ``check``, and ``suggest`` about what may be mapped."""

from __future__ import annotations

import argparse
import contextlib
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, FOUND, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of
from metl_gui.errors import UserError

if TYPE_CHECKING:
    from metl_gui.core.search.problems import Problem
    from metl_gui.workbench.importing.dry_run import SourceDryRun
    from metl_gui.workbench.mapping.search import Answers, VersionProgression
    from metl_gui.workbench.mapping.suggestions import Suggestions
    from metl_gui.workbench.mapping.table import MapMode, MapResult
    from metl_gui.workbench.publishing.checks import CheckResult


_CHANGES = {"other": "not the same ones"}


def register(commands: Commands) -> None:
    """Add ``map``, ``search`` and ``check``."""
    _register_map(commands)
    search = commands.add("search", run_search, "ask what feeds an entity, what a schema feeds, how that changed")
    add_project(search)
    question = search.add_mutually_exclusive_group(required=True)
    question.add_argument("--reverse", metavar="ENTITY[.ATTRIBUTE]", help="what feeds it, in every version")
    question.add_argument("--forward", metavar="SCHEMA[.ATTRIBUTE]", help="what it feeds")
    question.add_argument("--versions", metavar="SCHEMA", help="how its mapping changed from version to version")
    check = commands.add(
        "check",
        run_check,
        "find what is wrong or doubtful in a project or an export",
        "PROJECT may be an export too (metl export --format json or dusb): then it is checked that nobody changed it. "
        "Ends with 3 at an error or a warning; notes alone do not count. With --against nothing is written either: it "
        "says what schemas that are not live yet would do to the mapping and to the tables of its warehouse, and ends "
        "with 3 if a confirmed block or a table would lose something, with 1 when every source was refused.",
    )
    add_project(check)
    check.add_argument("--against", nargs="+", metavar="SOURCE", help="try these schemas: files, folders or patterns")
    check.add_argument(
        "--tree", choices=["extraction", "cdm"], default="extraction", help="where they belong (extraction)"
    )
    check.add_argument("--format", default="auto", help="how to read them, as import does")
    check.add_argument(
        "--same-as", metavar="PROJECT", type=Path, help="an export must show what this project published"
    )
    check.add_argument(
        "--fail-on", choices=["error", "warning"], default="warning", help="the least that ends with 3 (warning)"
    )


def _register_map(commands: Commands) -> None:
    parser = commands.add(
        "map",
        run_map,
        "set the elements that a CSV file or a workbook lists",
        "The header is schema,schema_version,attribute,entity,entity_version,cdm_attribute; status,comment may follow. "
        "A workbook has them in its sheet Mapping, as metl export --format xlsx writes it. "
        "Every conflict is listed with its line, and nothing is written while there is one. "
        "schema_version may name several versions: * for all, FROM..TO, FROM.. and ..TO. These are set where both ends "
        "are free, and what is left is listed.",
    )
    add_project(parser)
    parser.add_argument(
        "--csv",
        "--xlsx",
        required=True,
        metavar="FILE",
        help="the mapping table, a CSV or a workbook; - reads the input",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--replace", action="store_true", help="make the named blocks equal to the table")
    mode.add_argument("--unset", action="store_true", help="clear the listed elements instead of setting them")
    parser.add_argument(
        "--take-proposal", action="store_true", help="keep the largest 1:1 part of a block that is not 1:1"
    )
    parser.add_argument(
        "--all-versions",
        action="store_true",
        help="let every line hold for all versions of its schema that have the attribute",
    )
    parser.add_argument(
        "--column",
        action="append",
        type=named_column,
        default=[],
        metavar="NAME=TITLE",
        help="for a table of another shape, once for each: which of its columns is schema, attribute, entity and "
        "cdm_attribute, and, where it has them, schema_version and entity_version",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")


def named_column(text: str) -> tuple[str, str]:
    """Read which column of a table of another shape is what."""
    from metl_gui.core.project.table_columns import TableColumns

    name, _, title = text.partition("=")
    known = [each for each, _ in TableColumns().as_pairs]
    if name not in known or not title.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=TITLE with a NAME of {', '.join(known)}")
    return name, title.strip()


def run_map(arguments: argparse.Namespace, out: Output) -> int:
    """Bring a mapping table into the matrix."""
    from metl_gui.core.project.table_columns import TableColumns
    from metl_gui.workbench.mapping.table import ColumnTable, import_mapping
    from metl_gui.workbench.session import Workbench

    if arguments.all_versions and arguments.replace:
        wrong_usage(arguments, "--all-versions adds or clears elements; it cannot --replace blocks")
    project, is_editing = Path(arguments.project), not arguments.dry_run
    with (
        _table_file(arguments.csv) as path,
        Workbench.open(project, for_editing=is_editing) as workbench,
        out.watching() as watch,
    ):
        done = import_mapping(
            workbench,
            ColumnTable(path, TableColumns(**dict(arguments.column))) if arguments.column else path,
            _mode(arguments),
            take_proposal=arguments.take_proposal,
            all_versions=arguments.all_versions,
            dry_run=arguments.dry_run,
            watch=watch,
        )
    out.result(done.as_json(), _map_lines(done))
    if done.conflicts:
        count = number_of(len(done.conflicts), "place")
        way_out = ", or take the largest 1:1 part of each block with --take-proposal" if done.has_clashes else ""
        out.note(
            f"error: {arguments.csv} cannot be followed in {count}; nothing was written.\n"
            f"hint: Mend the lines that are named{way_out}."
        )
        return AT_FAULT
    return DONE


@contextlib.contextmanager
def _table_file(said: str) -> Iterator[Path]:
    """Give the file of a table, one with what stands in the standard input where that is meant."""
    if said != "-":
        yield Path(said)
        return
    with tempfile.TemporaryDirectory(prefix="metl-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


def _mode(arguments: argparse.Namespace) -> MapMode:
    from metl_gui.workbench.mapping.table import MapMode

    if arguments.replace:
        return MapMode.REPLACE
    return MapMode.UNSET if arguments.unset else MapMode.ADD


def _map_lines(done: MapResult) -> list[str]:
    lines = [f"line {conflict.line}: {conflict.reason}" for conflict in done.conflicts]
    lines += [f"left out, line {each.line}: {each.reason}" for each in done.dropped]
    lines += [f"left, line {each.words}" for each in done.left]
    if not done.conflicts:
        verb = "would change" if done.is_dry_run else "changed"
        known = f"{done.unchanged:,} {'was' if done.unchanged == 1 else 'were'} so already"
        lines.append(f"{number_of(done.set, 'element')} {verb}, {known}; state {done.state}")
    return lines


def run_search(arguments: argparse.Namespace, out: Output) -> int:
    """Answer one question to the matrix."""
    from metl_gui.workbench.mapping import search as searching
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        document = workbench.document
    if arguments.versions is not None:
        progression = searching.versions(document, arguments.versions)
        out.result(progression.as_json(), _progression_lines(progression))
    elif arguments.reverse is not None:
        answers = searching.reverse(document, arguments.reverse)
        out.result(answers.as_json(), _answer_lines(answers))
    else:
        answers = searching.forward(document, arguments.forward)
        out.result(answers.as_json(), _answer_lines(answers))
    return DONE


def _answer_lines(answers: Answers) -> list[str]:
    lines = [
        f"{each.block}  {each.element.from_path} -> {each.element.to_path}  ({each.status})" for each in answers.results
    ]
    return lines or ["Nothing is mapped there."]


def _progression_lines(progression: VersionProgression) -> list[str]:
    lines = [
        f"version {step.version} -> {step.entity}@{step.entity_version}: {number_of(step.elements, 'element')}, "
        f"{_CHANGES.get(step.change, step.change)}"
        for step in progression.versions
    ]
    return [progression.schema, *(f"  {line}" for line in lines or ["Nothing is mapped there."])]


_TREES = {"extraction": "Schemas", "cdm": "Entities"}


def run_check(arguments: argparse.Namespace, out: Output) -> int:
    """Run every check of the domain on the project or export."""
    if arguments.against is not None:
        return _try(arguments, out)
    found = _checked(arguments)
    lines = [problem_line(problem) for problem in found.problems]
    counts = ", ".join(number_of(count, severity) for severity, count in found.counts.items() if count)
    state = f"State {found.state}: " if found.state else ""
    lines += [f"{_TREES[side]}: {progress.words()}." for side, progress in found.progress.items()]
    out.result(found.as_json(), [*lines, f"{state}{counts or 'no problems'}."])
    return FOUND if _is_failing(found.problems, arguments) else DONE


def _checked(arguments: argparse.Namespace) -> CheckResult:
    from metl_gui.workbench.comparison.diff import is_project
    from metl_gui.workbench.exports.files import check_export
    from metl_gui.workbench.publishing.checks import check_project
    from metl_gui.workbench.session import Workbench

    path = Path(arguments.project)
    if not is_project(path):
        return check_export(path, arguments.same_as)
    if arguments.same_as is not None:
        wrong_usage(arguments, f"--same-as is for exports, and {path.name} is a project")
    with Workbench.open(path, for_editing=False) as workbench:
        return check_project(workbench)


def _is_failing(problems: Sequence[Problem], arguments: argparse.Namespace) -> bool:
    passing = {"note"} if arguments.fail_on == "warning" else {"note", "warning"}
    return any(problem.severity.value not in passing for problem in problems)


def problem_line(problem: Problem) -> str:
    """Write a problem as one line."""
    hint = f" {problem.hint}" if problem.hint else ""
    return f"{problem.severity.value} {problem.code} {problem.place}: {problem.message}{hint}"


def _try(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.core.project.source_formats import parse_format
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.comparison.diff import newest_document
    from metl_gui.workbench.importing.dry_run import try_sources

    try:
        parse_format(arguments.format)
    except UserError as error:
        wrong_usage(arguments, str(error))
    document, refused = newest_document(Path(arguments.project))
    with out.watching() as watch:
        found = try_sources(document, Side(arguments.tree), arguments.against, arguments.format, refused, watch)
    out.result(found.as_json(), list(trial_lines(found)))
    if found.is_all_refused:
        out.note("error: Nothing was tried: every source was refused.\nhint: The reasons stand beside the sources.")
        return AT_FAULT
    return FOUND if _is_failing(found.problems, arguments) else DONE


def trial_lines(found: SourceDryRun) -> Iterator[str]:
    """Describe in lines what schemas that are not live yet would do."""
    for version in found.added:
        yield f"new      {version.name} version {version.version}, {number_of(version.attributes, 'attribute')}"
    for refusal in found.refused:
        yield f"refused  {refusal.source}: {refusal.reason}"
    for problem in found.problems:
        yield problem_line(problem)
    known = f", {len(found.unchanged)} known already" if found.unchanged else ""
    lost = len(found.sources_lost)
    sources = (
        f", {number_of(lost, 'attribute')} would lose {'its' if lost == 1 else 'their'} last source" if lost else ""
    )
    parts = len(found.warehouse)
    sources += f", {number_of(parts, 'part')} of warehouse tables would change" if parts else ""
    blocks = len(found.blocks)
    would = f"{number_of(blocks, 'block')} would need a decision" if blocks else "nothing would be lost"
    yield f"{len(found.added)} new{known}: {would}{sources}. Nothing was written."


_LEAST_SHOWN = 0.05
"""Less likely ones are in the JSON document only."""


def register_suggest(commands: Commands) -> None:
    """Add ``suggest``."""
    parser = commands.add(
        "suggest",
        run_suggest,
        "propose elements for what is unmapped, with scores and reasons",
        "Sets nothing unless told to by --accept-best. Without an entity, the entities that a schema is most alike are "
        "looked at; without a schema, the newest version of each.",
    )
    add_project(parser)
    parser.add_argument("--schema", metavar="S", help="for this schema only")
    parser.add_argument("--entity", metavar="E", help="for this entity only")
    parser.add_argument("--version", metavar="V", help="for this version of the schema instead of the newest")
    parser.add_argument("--min-score", type=score, metavar="N", default=0.0, help="list only those scored N or more")
    parser.add_argument(
        "--accept-best",
        type=score,
        metavar="N",
        help="set those of the best 1:1 sets scored N or more (0 to 1), unconfirmed, as one undo step",
    )
    parser.add_argument(
        "--all-versions",
        action="store_true",
        help="with --accept-best: set them in the other versions of their schemas too, where both ends are free",
    )


def score(text: str) -> float:
    """Read a score: more than 0, at most 1."""
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if math.isnan(number) or not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a score: more than 0, at most 1, 0.9 for example")
    return number


def run_suggest(arguments: argparse.Namespace, out: Output) -> int:
    """Propose elements, and set the best where that was asked for."""
    from metl_gui.core.edits.version_scope import VersionScope
    from metl_gui.workbench.mapping.acceptance import accept_best
    from metl_gui.workbench.mapping.suggestions import SuggestionQuery, suggest
    from metl_gui.workbench.samples.project_samples import ProjectSamples
    from metl_gui.workbench.session import Workbench

    if arguments.version is not None and arguments.schema is None:
        wrong_usage(arguments, "--version needs the --schema that it is a version of")
    if arguments.all_versions and arguments.accept_best is None:
        wrong_usage(arguments, "--all-versions needs --accept-best")
    asked = SuggestionQuery(arguments.schema, arguments.entity, arguments.version, arguments.min_score)
    least: float | None = arguments.accept_best
    with Workbench.open(Path(arguments.project), for_editing=least is not None) as workbench, out.watching() as watch:
        document, shelf = workbench.document, ProjectSamples(workbench)
        refused = workbench.kept.refused_suggestions.all()
        found = suggest(document, asked, refused, watch, lambda key: shelf.alike(document, document, key))
        if least is not None:
            scope = VersionScope.ALL if arguments.all_versions else VersionScope.THIS
            found = accept_best(workbench, found, least, scope=scope)
    out.result(found.as_json(), list(_lines(found, least)))
    return DONE


def _lines(found: Suggestions, least: float | None) -> Iterator[str]:
    for block, suggestions in groupby(found.suggestions, key=lambda each: each.block):
        yield str(block)
        for each in (each for each in suggestions if each.is_best or each.score >= _LEAST_SHOWN):
            mark = "*" if each.is_best else " "
            yield f"  {each.score:.2f} {mark} {each.names.from_path} -> {each.names.to_path}  ({each.reason})"
    if not found.suggestions:
        yield "Nothing that is unmapped looks alike."
    if least is not None:
        was = f"; {number_of(found.unconfirmed, 'block')} not confirmed any more" if found.unconfirmed else ""
        yield f"{number_of(found.set, 'element')} set, unconfirmed{was}; state {found.state}"
    elif found.suggestions:
        yield "* is in the best 1:1 set of its block. Nothing was set; --accept-best 0.9 sets those scored 0.9 or more."
