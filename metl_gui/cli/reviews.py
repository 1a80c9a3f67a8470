"""The command about what waits for a person: ``review``.

Version tasks are a part of it, versions that messages showed and nobody has imported, and so are schemas whose time
zone a typed sink misses, and what tables of the warehouse make of attributes that came or went.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, FOUND, Commands, add_project, positive, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.cli.schemas import import_lines
from metl_gui.core.counted import number_of

if TYPE_CHECKING:
    from metl_gui.core.dimensional.loads.rebuild_question import RebuildQuestion
    from metl_gui.core.dimensional.models.asked_attributes import LostAttribute, NewAttributes
    from metl_gui.core.matrix.document import Document
    from metl_gui.core.review.missing_time_zones import MissingTimeZone
    from metl_gui.workbench.importing.version_tasks import TaskEntry
    from metl_gui.workbench.review.answer_sheet import AnswerSheetResult
    from metl_gui.workbench.review.assignments import ReviewListQuery
    from metl_gui.workbench.review.decisions import Decision, ReviewEntry, ReviewList
    from metl_gui.workbench.session import Workbench


_SHOWN = 12
DECISIONS = ("add_version", "dismiss_version")


def add_decisions(decision: argparse._MutuallyExclusiveGroup) -> None:
    """Add the decisions about version tasks."""
    decision.add_argument("--add-version", type=positive, metavar="ID", help="import a version that messages showed")
    decision.add_argument("--dismiss-version", type=positive, metavar="ID", help="take it off the list")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said with ``--add-version``."""
    parser.add_argument("--continues", metavar="SCHEMA", help="with --add-version: it is a version of this schema")
    parser.add_argument("--label", metavar="TEXT", help="with --add-version: what the version is called")


def is_meant(arguments: argparse.Namespace) -> bool:
    """Return whether a version task is decided, and refuse options that need one."""
    if arguments.add_version is None and (arguments.continues or arguments.label):
        wrong_usage(arguments, "--continues and --label belong to --add-version ID")
    return arguments.add_version is not None or arguments.dismiss_version is not None


def decide(arguments: argparse.Namespace, out: Output) -> int:
    """Import the version of a task, or take the task off the list."""
    from metl_gui.workbench.importing.version_tasks import accept_task, dismiss_task, task_of, waiting_stores
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench:
        if arguments.dismiss_version is not None:
            task = task_of(workbench, arguments.dismiss_version)
            dismiss_task(workbench, task.id)
            out.result({"dismissed": task.id}, [f"The version of {task.schema} is not asked about any more."])
            return DONE
        task = task_of(workbench, arguments.add_version)
        continues, label = arguments.continues or "", arguments.label or ""
        done = accept_task(workbench, task.id, continues=continues, label=label)
        stores = waiting_stores(task)
    lines = list(import_lines(done, Path(arguments.project)))
    lines += [f"Map what waits: metl replay {_quoted(arguments.project)} --errors {_quoted(store)}" for store in stores]
    out.result({**done.as_json(), "errors": list(stores)}, lines)
    return DONE


def task_lines(tasks: tuple[TaskEntry, ...]) -> Iterator[str]:
    """Describe in lines which versions messages showed."""
    for entry in tasks:
        task = entry.task
        what = "a schema" if entry.is_new_schema else "a version of it"
        waiting = number_of(task.records, "record waits", "records wait")
        yield f"{task.schema}  {what} that nobody has imported, {waiting}"
        paths = [attribute.path for attribute in task.declaration.attributes]
        yield f"  has {_named(paths)}"
        if entry.new_attributes:
            yield f"  new: {_named(entry.new_attributes)}"
        if entry.gone_attributes:
            yield f"  gone: {_named(entry.gone_attributes)}"
        continued = f" --continues {_quoted(entry.continues.name)}" if entry.continues is not None else ""
        if entry.continues is not None:
            yield f"  perhaps it continues {entry.continues.name} ({entry.continues.score:.2f})"
        yield f"  import it: metl review PROJECT --add-version {task.id}{continued}"


def zone_lines(missing: tuple[MissingTimeZone, ...]) -> Iterator[str]:
    """Describe in lines which schemas state no time zone where a typed sink misses it."""
    from metl_gui.core.project.time_zones import NO_ZONE, TIME_ZONE

    for one in missing:
        times = number_of(one.local_times, "local time")
        yield f"{one.schema}  states no time zone, {times} cannot become instants"
        for mapped in one.attributes[:_SHOWN]:
            yield f"  {mapped.path} -> {mapped.entity}: {mapped.target}"
        if len(one.attributes) > _SHOWN:
            yield f"  and {len(one.attributes) - _SHOWN} more"
        command = f"metl set PROJECT --schema {_quoted(one.schema)} {TIME_ZONE}"
        yield f"  state it: {command}=NAME, or {command}={NO_ZONE} where they hold in no one zone"


def new_attribute_lines(document: Document, found: tuple[NewAttributes, ...]) -> Iterator[str]:
    """Describe in lines which new attributes no table takes."""
    for one in found:
        yield f"{one.words}: {_named(one.paths)}"
        paths = " ".join(_quoted(path) for path in one.paths)
        for table in one.tables:
            yield f"  add: metl warehouse add-columns PROJECT {_quoted(table)} {paths} --model {_quoted(one.model)}"
        yield f"  not wanted: {_settling(document, one.entity, one.paths)}"


def lost_attribute_lines(document: Document, found: tuple[LostAttribute, ...]) -> Iterator[str]:
    """Describe in lines which attributes that tables use nothing feeds."""
    for one in found:
        yield one.words
        yield f"  stays, null for what follows: {_named([f'{use.table}.{use.name}' for use in one.uses])}"
        yield f"  keep it so: {_settling(document, one.entity, (one.path,))}"
        for use in one.columns:
            drop = f"metl warehouse drop-columns PROJECT {_quoted(use.table)} {_quoted(use.name)}"
            yield f"  take it out: {drop} --model {_quoted(one.model)}"


def rebuild_lines(found: tuple[RebuildQuestion, ...]) -> Iterator[str]:
    """Describe in lines which targets have to be rebuilt."""
    for one in found:
        yield one.words
        mode = "" if one.mode == "test" else f" --mode {one.mode}"
        rebuild = f"metl warehouse rebuild PROJECT --target {_quoted(one.target)} --model {_quoted(one.model)}{mode}"
        yield f"  rebuild it ({one.cost.words}): {rebuild}"


def _settling(document: Document, entity: str, paths: tuple[str, ...]) -> str:
    from metl_gui.core.project.warehouse_settled import SETTLED, settled_with

    found = document.cdm.named(entity)
    value = settled_with(found, paths) if found is not None else ""
    return f"metl set PROJECT --entity {_quoted(entity)} {_quoted(f'{SETTLED}={value}')}"


def _named(paths: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def _quoted(text: str) -> str:
    return shlex.quote(str(text))


_UNCONFIRMED = "unconfirmed"
_LISTED_ROWS = 40
"""So many rows of an answer sheet are written out one by one."""

_DECISIONS = (
    "confirm",
    "confirm_all",
    "rename",
    "not_renamed",
    "map",
    "accept_loss",
    "retire",
    "later",
    "assign",
    "sheet",
    "answers",
    *DECISIONS,
)
_WITH_PARTS = ("rename", "not_renamed", "map", "accept_loss")
_FILTERS = ("schema", "entity", "verdict", "older_than", "assigned", "text")


def register(commands: Commands) -> None:
    """Add ``review``."""
    parser = commands.add(
        "review",
        run_review,
        "list what needs review, or decide it",
        "A BLOCK is written schema@version:entity@version. A decision also settles the later versions of its chain. "
        "--schema, --entity, --verdict, --older-than, --assigned and --text limit --list, --confirm-all and --sheet.",
    )
    add_project(parser)
    _add_decisions(parser)
    add_options(parser)
    parser.add_argument("--comment", default="", metavar="TEXT", help="kept with the decision")
    parser.add_argument("--to", metavar="NAME", help="who is to decide, with --assign; an empty name for nobody")
    parser.add_argument("--dry-run", action="store_true", help="with --answers: say what it would do, do nothing")
    which = parser.add_argument_group("which items")
    which.add_argument("--schema", default="", metavar="TEXT", help="schemas with this in their name")
    which.add_argument("--entity", default="", metavar="TEXT", help="entities with this in their name")
    which.add_argument("--verdict", default="", choices=("same", "smaller", "emptied"), help="one verdict")
    which.add_argument("--older-than", type=positive, metavar="DAYS", help="waiting for more than so many days")
    which.add_argument("--assigned", default="", metavar="NAME", help="assigned to somebody, or to nobody")
    which.add_argument("--text", default="", metavar="TEXT", help="with this in names, lost attributes or comment")
    parser.add_argument(
        "--target", action="append", default=[], metavar="T", help="with --list: ask a warehouse too; may be repeated"
    )
    which.add_argument("--sort", choices=("schema", "age", "weight"), default="schema", help="their order")


def _add_decisions(parser: argparse.ArgumentParser) -> None:
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--list", action="store_true", help="show what waits (so it does without a decision)")
    decision.add_argument("--confirm", nargs="+", metavar="BLOCK", help="accept blocks as they stand")
    decision.add_argument(
        "--confirm-all",
        metavar="VERDICT",
        help="accept all of a verdict: same, smaller, emptied, any; or unconfirmed: all that nobody has confirmed yet",
    )
    decision.add_argument(
        "--rename",
        nargs="+",
        metavar=("BLOCK", "LOST=NEW"),
        help="say that a lost attribute or struct has a new name",
    )
    decision.add_argument(
        "--not-renamed", nargs="+", metavar=("BLOCK", "LOST=NEW"), help="refuse a proposed name; it is not made again"
    )
    decision.add_argument(
        "--map", nargs="+", metavar=("BLOCK", "FROM=TO"), help="map another attribute in place of a lost one"
    )
    decision.add_argument(
        "--accept-loss", nargs="+", metavar=("BLOCK", "ATTRIBUTE"), help="accept the loss of some elements"
    )
    decision.add_argument("--retire", nargs="+", metavar="BLOCK", help="say that the schema feeds this entity no more")
    decision.add_argument("--later", nargs="+", metavar="BLOCK", help="put them at the end of the list")
    decision.add_argument("--assign", nargs="+", metavar="BLOCK", help="say who is to decide; needs --to NAME")
    decision.add_argument("--sheet", metavar="OUT.xlsx", help="write what waits to a workbook that can be sent out")
    decision.add_argument("--answers", metavar="IN.xlsx", help="read such a workbook back, one undo step")
    add_decisions(decision)


def run_review(arguments: argparse.Namespace, out: Output) -> int:
    """List what needs review, or decide it."""
    from metl_gui.workbench.session import Workbench

    _check_usage(arguments)
    path = Path(arguments.project)
    if is_meant(arguments):
        return decide(arguments, out)
    if not any(getattr(arguments, name) is not None for name in _DECISIONS):
        return _list(arguments, out, path)
    if arguments.sheet is not None:
        return _write_sheet(arguments, out, path)
    if arguments.answers is not None:
        return _take_answers(arguments, out, path)
    with Workbench.open(path) as workbench:
        if arguments.assign is not None:
            return _assign(arguments, out, workbench)
        if arguments.confirm_all == _UNCONFIRMED:
            return _confirm_unconfirmed(arguments, out, workbench)
        done = _decide(arguments, workbench)
    what = done.title or "There was nothing left to decide"
    out.result(done.as_json(), [f"{what}; {done.left} still need review; state {done.state}"])
    return DONE


def _confirm_unconfirmed(arguments: argparse.Namespace, out: Output, workbench: Workbench) -> int:
    from metl_gui.workbench.review.decisions import confirm_unconfirmed

    done = confirm_unconfirmed(workbench, arguments.comment)
    left = f"; {done.own:,} of your own wait for somebody else" if done.own else ""
    out.result(done.as_json(), [f"{done.title or 'There was nothing to confirm'}{left}; state {done.state}"])
    return DONE


def _check_usage(arguments: argparse.Namespace) -> None:
    for name in _WITH_PARTS:
        given = getattr(arguments, name)
        if given is not None and len(given) == 1:
            wrong_usage(arguments, f"--{name.replace('_', '-')} needs a BLOCK and what is to be decided in it")
    if (arguments.assign is not None) != (arguments.to is not None):
        wrong_usage(arguments, "--assign BLOCK... and --to NAME belong together")
    if arguments.dry_run and arguments.answers is None:
        wrong_usage(arguments, "--dry-run belongs to --answers")
    if arguments.target and (is_meant(arguments) or any(getattr(arguments, name) is not None for name in _DECISIONS)):
        wrong_usage(arguments, "--target belongs to --list")
    is_limited = any(getattr(arguments, name) for name in _FILTERS) or arguments.sort != "schema"
    decides = [name for name in _DECISIONS if getattr(arguments, name) is not None]
    if is_limited and arguments.confirm_all == _UNCONFIRMED:
        wrong_usage(arguments, "--confirm-all unconfirmed takes no filter")
    if is_limited and decides and decides[0] not in ("confirm_all", "sheet"):
        wrong_usage(arguments, f"--{decides[0].replace('_', '-')} names its blocks and takes no filter")


def _wanted(arguments: argparse.Namespace, workbench: Workbench) -> ReviewListQuery:
    from metl_gui.core.review.query import ReviewOrder, query_of
    from metl_gui.workbench.review.assignments import wanted_in

    names = (arguments.schema, arguments.entity, arguments.verdict, arguments.older_than, arguments.assigned)
    return wanted_in(workbench, query_of(*names, arguments.text), ReviewOrder(arguments.sort))


def _list(arguments: argparse.Namespace, out: Output, path: Path) -> int:
    from metl_gui.workbench.importing.version_tasks import entries
    from metl_gui.workbench.review.decisions import review_list
    from metl_gui.workbench.runs.typed_sinks import zones_to_state
    from metl_gui.workbench.samples.project_samples import ProjectSamples
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.attribute_questions import attribute_questions

    with Workbench.open(path, for_editing=False) as workbench:
        now, shelf = workbench.document, ProjectSamples(workbench)
        wanted, refused = _wanted(arguments, workbench), workbench.kept.refused_renames.all()
        waiting = review_list(now, refused, wanted, lambda id_: shelf.for_renames(now, now, id_))
        tasks, zones, asked = entries(workbench), zones_to_state(workbench), attribute_questions(now)
        rebuilds = _rebuilds(arguments, workbench)
    document = {
        **waiting.as_json(),
        "version_tasks": [task.as_json() for task in tasks],
        "missing_time_zones": [one.as_json() for one in zones],
        "warehouse": {**asked.as_json(), "rebuilds": [one.as_json() for one in rebuilds]},
    }
    of_tables = (*new_attribute_lines(now, asked.new), *lost_attribute_lines(now, asked.lost), *rebuild_lines(rebuilds))
    out.result(document, [*task_lines(tasks), *zone_lines(zones), *of_tables, *review_lines(waiting)])
    return DONE


def _rebuilds(arguments: argparse.Namespace, workbench: Workbench) -> tuple[RebuildQuestion, ...]:
    if not arguments.target:
        return ()
    from metl_gui.workbench.loads.rebuild_questions import rebuild_question

    found = (rebuild_question(workbench, target) for target in arguments.target)
    return tuple(one for one in found if one is not None)


def _assign(arguments: argparse.Namespace, out: Output, workbench: Workbench) -> int:
    from metl_gui.workbench.review.assignments import assign

    count = assign(workbench, arguments.assign, arguments.to)
    whose = f"assigned to {arguments.to}" if arguments.to.strip() else "assigned to nobody"
    document = {"state": workbench.document.state, "assigned": count, "assigned_to": " ".join(arguments.to.split())}
    out.result(document, [f"{count} {'item is' if count == 1 else 'items are'} {whose}"])
    return DONE


def _write_sheet(arguments: argparse.Namespace, out: Output, path: Path) -> int:
    from metl_gui.workbench.review.answer_sheet import write_sheet
    from metl_gui.workbench.session import Workbench

    with Workbench.open(path, for_editing=False) as workbench, out.watching() as watch:
        made = write_sheet(workbench, Path(arguments.sheet), _wanted(arguments, workbench), watch)
    left_out = f"; {made.left_out} that lost nothing are not in it" if made.left_out else ""
    out.result(made.as_json(), [f"{made.path}: {made.rows} lost elements of {made.items} items{left_out}"])
    return DONE


def _take_answers(arguments: argparse.Namespace, out: Output, path: Path) -> int:
    """Take an answer sheet; rows that are not clear end with exit code 3."""
    from metl_gui.workbench.review.answer_sheet import read_answers, take_answers
    from metl_gui.workbench.session import Workbench

    sheet = Path(arguments.answers)
    with Workbench.open(path, for_editing=not arguments.dry_run) as workbench, out.watching() as watch:
        if arguments.dry_run:
            taken = read_answers(workbench, sheet, watch)
        else:
            taken = take_answers(workbench, sheet, watch=watch)
    document = {**taken.as_json(), "dry_run": arguments.dry_run}
    out.result(document, list(_taken_lines(taken, arguments.dry_run)))
    return FOUND if taken.unclear else DONE


def _taken_lines(taken: AnswerSheetResult, is_dry: bool) -> Iterator[str]:
    for rows, words in ((taken.answered, ""), (taken.ignored, "ignored: "), (taken.unclear, "not clear: ")):
        for row in rows[:_LISTED_ROWS]:
            yield f"row {row.number}: {words}{row.words}"
        if len(rows) > _LISTED_ROWS:
            yield f"and {len(rows) - _LISTED_ROWS} more {words.rstrip(': ') or 'answers'}"
    done = "would be taken" if is_dry else "taken"
    counts = f"{len(taken.answered)} answers {done}, {len(taken.ignored)} ignored, {len(taken.unclear)} not clear"
    yield f"{counts}, {taken.empty} rows empty; {taken.left} need review; state {taken.state}"


def _decide(arguments: argparse.Namespace, workbench: Workbench) -> Decision:
    from metl_gui.workbench.review import decisions

    comment = arguments.comment
    if arguments.confirm is not None:
        return decisions.confirm(workbench, arguments.confirm, comment)
    if arguments.confirm_all is not None:
        wanted = _wanted(arguments, workbench)
        return decisions.confirm_all(workbench, arguments.confirm_all, comment, wanted=wanted)
    if arguments.rename is not None:
        return decisions.rename(workbench, arguments.rename[0], arguments.rename[1:], comment)
    if arguments.not_renamed is not None:
        return decisions.refuse_renames(workbench, arguments.not_renamed[0], arguments.not_renamed[1:])
    if arguments.map is not None:
        return decisions.map_instead(workbench, arguments.map[0], arguments.map[1:], comment)
    if arguments.accept_loss is not None:
        return decisions.accept_losses(workbench, arguments.accept_loss[0], arguments.accept_loss[1:], comment)
    if arguments.retire is not None:
        return decisions.retire(workbench, arguments.retire, comment)
    return decisions.postpone(workbench, arguments.later, comment)


def review_lines(waiting: ReviewList) -> Iterator[str]:
    """Describe in lines what needs review."""
    for item in waiting.items:
        yield from _entry_lines(item)
    count = len(waiting.items)
    yield f"State {waiting.state}: {count} {'needs' if count == 1 else 'need'} review."


def _entry_lines(item: ReviewEntry) -> Iterator[str]:
    later = ", put off" if item.postponed else ""
    came_from = f", from {item.came_from}" if item.came_from else ""
    whose = f", for {item.assigned_to}" if item.assigned_to else ""
    yield f"{item.block}  {item.verdict}{later}{whose}{came_from}"
    yield f"  keeps {number_of(len(item.kept), 'element')}"
    for lost in item.lost:
        yield f"  lost {lost.element.from_path} -> {lost.element.to_path}: {lost.reason}"
    for proposal in item.proposals:
        yield f"  perhaps {proposal.lost}={proposal.candidate} ({proposal.score:.2f}, {proposal.reason})"
    for group in item.together:
        yield f"  perhaps together: {group.reason}"
    for block, ends in item.there_again:
        yield f"  there again in {block}: {ends.from_path} -> {ends.to_path}"
    for change in item.type_changes:
        weight = "compatible" if change.is_compatible else "not compatible"
        yield f"  {change.path} was {change.before}, is {change.after} ({weight})"
    if item.new_attributes:
        yield f"  new: {', '.join(item.new_attributes)}"
    if item.also:
        yield f"  also decides {', '.join(str(block) for block in item.also)}"
    if item.comment:
        yield f"  comment: {item.comment}"
