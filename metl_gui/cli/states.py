"""The commands about the states of a project: ``history``, ``undo``, ``redo``, ``show`` and ``publish``.

``metl history --of`` prints who set what, in which state and why. ``publish`` makes a state the one production uses.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metl_gui.cli.commands import DONE, Commands, add_project, positive, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of
from metl_gui.errors import EditError

if TYPE_CHECKING:
    from metl_gui.core.differences.document_difference import Difference
    from metl_gui.core.matrix.blocks import BlockKey
    from metl_gui.core.matrix.document import Document
    from metl_gui.core.trees.nodes import Attribute
    from metl_gui.workbench.history.blame import Blame, BlameEvent
    from metl_gui.workbench.links.link import LinkPlace
    from metl_gui.workbench.links.places import ShownPlace
    from metl_gui.workbench.publishing.publication import PublishResult
    from metl_gui.workbench.session import Workbench


def register(commands: Commands) -> None:
    """Add ``history``, ``undo``, ``redo`` and ``show``."""
    history = commands.add(
        "history",
        run_history,
        "list the states of a project, or what was done to one thing",
        "The newest first. With --of a BLOCK (schema@version:entity@version) it tells for each element which state set "
        "it, who did and why, and what was done to the block; with --of BLOCK FROM=TO all about that element, through "
        "the versions it was taken over from; with --of SCHEMA.ATTRIBUTE (or ENTITY.ATTRIBUTE) all about that one.",
    )
    add_project(history)
    history.add_argument("--of", nargs="+", metavar=("WHAT", "FROM=TO"), help="only what was done to this")
    history.add_argument("--limit", type=positive, metavar="N", help="the newest N only")
    history.add_argument(
        "--compact",
        action="store_true",
        help="merge the log between the states that were named, published, exported or run; the newest edits stay",
    )
    undo = commands.add("undo", run_undo, "take back the newest edit, as a new state")
    add_project(undo)
    undo.add_argument("--state", type=positive, metavar="N", help="take back what made this state instead")
    add_project(commands.add("redo", run_redo, "bring the newest undone edit again, as a new state"))
    show = commands.add(
        "show",
        run_show,
        "summarise a state in numbers, or show what stands at a place",
        "A link, metl://..., as the window copies it, may stand for PROJECT: what stands there in its state, how it is "
        "mapped, and who decided what and when. The project of a link is the one that --project names, one in this "
        "folder, or one that was opened in the window. With --of the place is named as for metl history, and its link "
        "is printed. Nothing is run or changed.",
    )
    show.add_argument("project", metavar="PROJECT", help="the project file, NAME.metl, or a link")
    show.add_argument("--state", type=int, metavar="N", help="this state instead of the current one")
    show.add_argument("--of", nargs="+", metavar=("WHAT", "FROM=TO"), help="what stands at this place, and its link")
    show.add_argument("--project", dest="file", metavar="PROJECT", help="the project file that a link leads into")


def run_history(arguments: argparse.Namespace, out: Output) -> int:
    """List the states of a project, or compact its log."""
    if arguments.compact:
        if arguments.of is not None or arguments.limit is not None:
            wrong_usage(arguments, "--compact takes the whole log, so neither --of nor --limit")
        return _compact(arguments, out)
    from metl_gui.workbench.history.states import history
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.of is not None:
            out.result(*history_of(workbench, arguments.of))
            return DONE
        found = history(workbench, arguments.limit)
    lines = []
    for entry in found.states:
        marks = f" [{entry.named}]" if entry.named else ""
        marks += " published" if entry.published else ""
        marks += " exported" if entry.exported else ""
        marks += f" run {number_of(len(entry.runs), 'time')}" if entry.runs else ""
        marks += f" ({entry.states:,} states merged)" if entry.states > 1 else ""
        lines.append(f"{entry.state:>6}  {entry.when}  {entry.who}  {entry.title}{marks}")
    lines.append(f"State {found.state}. Undo: {found.undo or 'nothing'}. Redo: {found.redo or 'nothing'}.")
    out.result(found.as_json(), lines)
    return DONE


def _compact(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.history.states import compact
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench, out.watching() as watch:
        done = compact(workbench, watch)
    sizes = f"{done.before_bytes:,} bytes before, {done.after_bytes:,} now"
    out.result(done.as_json(), [f"{done.merged:,} entries of the log merged, {done.left:,} left; {sizes}"])
    return DONE


def run_undo(arguments: argparse.Namespace, out: Output) -> int:
    """Undo the newest edit."""
    return _step(arguments, out, back=True)


def run_redo(arguments: argparse.Namespace, out: Output) -> int:
    """Bring the newest undone edit again."""
    return _step(arguments, out, back=False)


def _step(arguments: argparse.Namespace, out: Output, *, back: bool) -> int:
    from metl_gui.workbench.history import states as history
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench:
        if back and arguments.state is not None:
            done = history.undo_state(workbench, arguments.state)
        else:
            done = history.undo(workbench) if back else history.redo(workbench)
    out.result(done.as_json(), [f"{done.title}; {done.needs_review} need review; state {done.state}"])
    return DONE


def run_show(arguments: argparse.Namespace, out: Output) -> int:
    """Summarise one state, or show what stands at a place of it."""
    from metl_gui.workbench.history.states import show
    from metl_gui.workbench.links.link import is_link
    from metl_gui.workbench.session import Workbench

    if is_link(arguments.project) or arguments.of is not None:
        return _show_place(arguments, out)
    if arguments.file is not None:
        wrong_usage(arguments, "--project goes with a link")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        summary = show(workbench, arguments.state)
    waiting = f"{summary.needs_review:,} need{'s' if summary.needs_review == 1 else ''}"
    out.result(
        summary.as_json(),
        [
            f"State {summary.state}: {summary.title or 'the empty project'}",
            f"  {number_of(summary.schemas, 'schema')} in {number_of(summary.versions, 'version')}",
            f"  {number_of(summary.entities, 'entity', 'entities')} in {number_of(summary.entity_versions, 'version')}",
            f"  {number_of(summary.elements, 'element')} in {number_of(summary.blocks, 'block')}, {waiting} review",
            f"  {summary.hash}",
        ],
    )
    return DONE


def _show_place(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.links.known_projects import find_project, projects_in, remember_project
    from metl_gui.workbench.links.link import is_link, read_link
    from metl_gui.workbench.links.places import link_to, look_at_place
    from metl_gui.workbench.session import Workbench

    link, named = None, Path(arguments.file) if arguments.file is not None else None
    if is_link(arguments.project):
        if arguments.of is not None or arguments.state is not None:
            wrong_usage(arguments, "a link names its place and state, so neither --of nor --state")
        link = read_link(arguments.project)
        path = find_project(link.project, named, projects_in(Path()))
    else:
        path = Path(arguments.project)
    with Workbench.open(path, for_editing=False) as workbench:
        if link is None:
            document = workbench.at_state(arguments.state)
            link = link_to(workbench.project_id, document, place_of(document, arguments.of))
        elif named is not None:
            remember_project(link.project, named)
        shown = look_at_place(workbench, link)
    out.result(shown.as_json(), list(_place_lines(shown)))
    return DONE


def place_of(document: Document, of: Sequence[str]) -> LinkPlace:
    """Return the place that ``--of`` names: a block, an element of one or an attribute.

    Raises:
        EditError: there is no such thing.
    """
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.addresses import cuts_at_equals, find_block, find_leaf
    from metl_gui.workbench.links.link import LinkPlace, PlaceKind

    if len(of) == 1 and not _is_block(document, of[0]):
        side, version, attribute = find_leaf(document, of[0])
        kind = PlaceKind.SCHEMA if side is Side.EXTRACTION else PlaceKind.ENTITY
        return LinkPlace(kind, (version.schema_id, version.id, attribute.id))
    key = find_block(document, of[0])
    if len(of) == 1:
        return LinkPlace(PlaceKind.BLOCK, key)
    cuts = cuts_at_equals(of[1])
    if not cuts or len(of) > 2:
        raise EditError(f"{' '.join(of[1:])!r} names no element.", hint="Write one element as FROM=TO.")
    p, q = _ends(document, key, cuts)
    return LinkPlace(PlaceKind.CELL, (key[0], p.id, key[1], q.id))


def _place_lines(shown: ShownPlace) -> Iterator[str]:
    yield f"{shown.kind.value} {shown.title}" if shown.kind.value != "state" else shown.title
    yield f"  {shown.link}"
    yield f"  {shown.project}, state {shown.state}"
    decided = f" by {shown.who}, {shown.when}" if shown.who and shown.when else ""
    if shown.is_mapped is not None:
        yield f"  {'mapped' if shown.is_mapped else 'not mapped'}; block {shown.status or 'empty'}{decided}"
    elif shown.when:
        yield f"  {shown.when}  {shown.who or ''}".rstrip()
    yield from (f"  {fact}" for fact in shown.facts)
    yield from _blame_lines(shown.elements)
    if shown.elements and shown.events:
        yield ""
    yield from _event_lines(shown.events)
    yield from (f"  used in run {each.run}: {each.position}" for each in shown.messages)


Answer = tuple[dict[str, Any], list[str]]
"""The JSON document and the lines."""


def history_of(workbench: Workbench, of: Sequence[str]) -> Answer:
    """Answer ``--of BLOCK``, ``--of BLOCK FROM=TO`` or ``--of SCHEMA.ATTRIBUTE``.

    Raises:
        EditError: there is no such thing.
    """
    from metl_gui.workbench.addresses import cuts_at_equals, find_block, find_leaf
    from metl_gui.workbench.history import blame

    state = workbench.document.state
    if len(of) == 1 and not _is_block(workbench.document, of[0]):
        side, version, attribute = find_leaf(workbench.document, of[0])
        events = blame.attribute_history(workbench, side, version.schema_id, attribute.lineage)
        return _told(state, events)
    key = find_block(workbench.document, of[0])
    if len(of) == 1:
        block = workbench.document.matrix.block(*key)
        found = blame.blame(workbench, key) if block is not None else ()
        events = blame.block_history(workbench, key)
        lines = [*_blame_lines(found), *([""] if found else []), *_event_lines(events)]
        elements = [each.as_json() for each in found]
        return _document(state, events, elements), lines
    cuts = cuts_at_equals(of[1])
    if not cuts or len(of) > 2:
        raise EditError(f"{' '.join(of[1:])!r} names no element.", hint="Write one element as FROM=TO.")
    return _told(state, blame.element_history(workbench, key, _lineages(workbench.document, key, cuts)))


def _is_block(document: Document, text: str) -> bool:
    """Tell a block from an attribute; names may hold any sign, so what is there decides first."""
    from metl_gui.workbench.addresses import find_block, find_leaf

    if ":" not in text:
        return False
    for find, outcome in ((find_block, True), (find_leaf, False)):
        try:
            find(document, text)
        except EditError:
            continue
        return outcome
    return "@" in text


def _lineages(document: Document, key: BlockKey, cuts: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Find an element of a block by the paths of its ends, one that it has lost too."""
    block = document.matrix.block(*key)
    for loss in block.losses if block is not None else ():
        if (loss.from_path, loss.to_path) in cuts:
            return loss.lineages
    p, q = _ends(document, key, cuts)
    return q.lineage, p.lineage


def _ends(document: Document, key: BlockKey, cuts: Sequence[tuple[str, str]]) -> tuple[Attribute, Attribute]:
    """Find the ends of an element by their paths, which may hold the equals sign themselves."""
    from metl_gui.workbench.addresses import find_attribute

    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    known = (cut for cut in cuts if version.at_path(cut[0]) is not None and entity_version.at_path(cut[1]) is not None)
    source, target = next(known, cuts[0])
    p = find_attribute(version, document.extraction.schema(version.schema_id).name, source)
    q = find_attribute(entity_version, document.cdm.schema(entity_version.schema_id).name, target)
    return p, q


def _told(state: int, events: Sequence[BlameEvent]) -> Answer:
    lines = list(_event_lines(events)) or ["The log tells nothing of it."]
    return _document(state, events, []), lines


def _document(state: int, events: Sequence[BlameEvent], elements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"state": state, "elements": elements, "events": [event.as_json() for event in events]}


def _blame_lines(found: Sequence[Blame]) -> Iterator[str]:
    for each in found:
        name = f"{each.element.from_path} -> {each.element.to_path}"
        if each.origin is None:
            yield f"     ?  {name}: set before the log begins"
            continue
        by = f", carried along by {', '.join(str(event.state) for event in each.carried)}" if each.carried else ""
        yield f"{each.origin.state:>6}  {each.origin.when}  {each.origin.who}  {name}: {each.origin.title}{by}"
        if each.origin.comment:
            yield f"        comment: {each.origin.comment}"


def _event_lines(events: Sequence[BlameEvent]) -> Iterator[str]:
    for event in events:
        where = f" in {event.block}" if event.block is not None else ""
        merged = f", one of {event.states} states up to here" if event.states > 1 else ""
        yield f"{event.state:>6}  {event.when}  {event.who}  {event.what}{where}{merged}: {event.title}"
        for words in (event.reason, f"comment: {event.comment}" if event.comment else ""):
            if words:
                yield f"        {words}"


_SHOWN, _LINES = 10, 60


def register_publish(commands: Commands) -> None:
    """Add ``publish``."""
    parser = commands.add(
        "publish",
        run_publish,
        "make a state the one that production runs and exports use",
        "The checks come first: an error refuses it, warnings and notes are told. Publishing an older state takes "
        "production back to it.",
    )
    add_project(parser)
    parser.add_argument("--state", type=int, metavar="N", help="this state instead of the current one")
    parser.add_argument(
        "--announce",
        default="",
        metavar="KAFKA",
        help="tell the fast lanes on these servers too that see no project file, as kafka://host:port or kafka://@NAME",
    )
    parser.add_argument("--name", default="", metavar="TEXT", help="a name for the state, as the history shows it")


def run_publish(arguments: argparse.Namespace, out: Output) -> int:
    """Publish a state and say what that changes in production."""
    from metl_gui.core.runs.kafka import is_kafka
    from metl_gui.workbench.lanes.control import announce_live, following
    from metl_gui.workbench.publishing.publication import publish
    from metl_gui.workbench.session import Workbench

    if arguments.announce and not is_kafka(arguments.announce):
        wrong_usage(arguments, "--announce takes kafka://host:port or kafka://@NAME")
    with Workbench.open(Path(arguments.project)) as workbench:
        done = publish(workbench, arguments.state, arguments.name)
        lanes = following(workbench)
        is_announced = announce_live(workbench, arguments.announce) if arguments.announce else None
    lines = [*_lines(done), *_lane_lines(arguments.project, done, lanes, is_announced)]
    out.result(done.as_json() | {"lanes": list(lanes), "announced": is_announced}, lines)
    return DONE


def _lane_lines(project: str, done: PublishResult, lanes: tuple[str, ...], is_announced: bool | None) -> Iterator[str]:
    path = shlex.quote(project)
    if lanes and done.is_new:
        named = f"{len(lanes)} fast lane{'s' * (len(lanes) != 1)}"
        yield f"  {named} will take it up; wait for it: metl lane wait {path} --state {done.state}"
    elif lanes:
        yield f"  lanes that were taken back from it go forward by: metl lane roll-back {path} --state {done.state}"
    if is_announced is not None:
        yield "  announced to all lanes there" if is_announced else "  not taken up there: lanes know something newer"


def _lines(done: PublishResult) -> Iterator[str]:
    named = f" [{done.name}]" if done.name else ""
    if not done.is_new:
        yield f"State {done.state}{named} is live already."
        return
    told = [problem for problem in done.problems if problem.severity.value != "note"]
    for problem in told[:_SHOWN]:
        yield f"{problem.severity.value} {problem.code} {problem.place}: {problem.message}"
    if len(told) > _SHOWN:
        yield f"and {len(told) - _SHOWN} more: see metl check"
    if done.difference is not None:
        yield from _difference_lines(done.difference, done.was_live)
    before = f"; before it state {done.was_live} was" if done.was_live is not None else ""
    yield f"State {done.state}{named} is live{before}."
    yield f"  {number_of(done.blocks, 'block')} used"
    if done.held:
        held = number_of(done.held, "block")
        yield f"  {held} held: their messages wait until somebody has decided (metl review --list)"
    if done.unconfirmed:
        them = "it" if done.unconfirmed == 1 else "them"
        yield f"  {number_of(done.unconfirmed, 'block')} left out: nobody has confirmed {them}"


def _difference_lines(difference: Difference, was_live: int | None) -> Iterator[str]:
    from metl_gui.workbench.history.difference_text import difference_lines, difference_summary

    lines = difference_lines(difference)
    yield from islice(lines, _LINES)
    more = sum(1 for _ in lines)
    if more:
        yield f"and {more:,} lines more: see metl diff PROJECT@{was_live} PROJECT"
    yield difference_summary(difference)
