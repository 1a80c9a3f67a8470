"""The commands about sample messages: ``samples`` and ``preview``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, positive
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of

if TYPE_CHECKING:
    from metl_gui.workbench.links.message_reasons import MessageReasons
    from metl_gui.workbench.samples.kept_samples import KeptSamples, SchemaSamples
    from metl_gui.workbench.samples.preview import PreviewedSource
    from metl_gui.workbench.session import Workbench

_LIMIT = 10
_CHUNK_BYTES = 1 << 16


def register(commands: Commands) -> None:
    """Add ``samples`` and ``preview``."""
    _register_samples(commands)
    _register_preview(commands)


def _register_samples(commands: Commands) -> None:
    parser = commands.add(
        "samples",
        run_samples,
        "list, keep or forget the sample messages of a project",
        "Samples lie in your cache for 30 days and never in the project file, unless a schema is included: then "
        "whoever is given the file can read its samples, masked values excepted. Test runs keep some messages too.",
    )
    add_project(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--keep", metavar="SOURCE", help="keep messages of a file, a folder, a pattern or topics")
    what.add_argument("--forget", action="store_true", help="remove all samples of the project from your cache")
    what.add_argument("--include", metavar="SCHEMA", help="put the samples of a schema into the project file too")
    what.add_argument("--exclude", metavar="SCHEMA", help="take them out of it again")


def _register_preview(commands: Commands) -> None:
    parser = commands.add(
        "preview",
        run_preview,
        "show what becomes of a few messages, without Spark",
        "Maps with every block as it stands, as a test run does. Masked values are hidden.",
    )
    add_project(parser)
    parser.add_argument(
        "--source",
        required=True,
        metavar="S",
        help="a file, a folder, a pattern, or topics: kafka://host:port/topic; - reads the input",
    )
    parser.add_argument(
        "--limit", type=positive, default=_LIMIT, metavar="N", help=f"look at N messages (default: {_LIMIT})"
    )


def register_why(commands: Commands) -> None:
    """Add ``why``."""
    parser = commands.add(
        "why",
        run_why,
        "tell which cell and which decision each attribute of a message comes from",
        "Takes messages as a run or a preview wrote them, and lines of an error store; each is traced in the state "
        "that made it, and what was set aside to where it is mended. Prints links for metl show and the window, and no "
        "value. Nothing is run.",
    )
    add_project(parser)
    parser.add_argument("messages", metavar="MESSAGES", help="a file with one message a line; - reads the input")
    parser.add_argument("--limit", type=positive, default=1, metavar="N", help="look at N messages (default: 1)")


def run_why(arguments: argparse.Namespace, out: Output) -> int:
    """Trace messages to cells and decisions."""
    from metl_gui.workbench.links.message_reasons import reasons_of_file, reasons_of_path
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.messages == "-":
            found = reasons_of_file(workbench, sys.stdin.buffer, arguments.limit)
        else:
            found = reasons_of_path(workbench, Path(arguments.messages), arguments.limit)
        state = workbench.document.state
    lines = [line for each in found for line in _reason_lines(each)]
    out.result({"state": state, "messages": [each.as_json() for each in found]}, lines or ["There is no message."])
    return DONE


def _reason_lines(found: MessageReasons) -> Iterator[str]:
    from metl_gui.workbench.links.set_aside import reason_title

    aside = f"set aside, {reason_title(found.reason)} ({found.reason})"
    head = aside if found.reason else str(found.block or "a message")
    yield f"{head}  {found.position}  state {found.state}"
    if found.words:
        yield f"  {found.words}"
    for value in found.values:
        by = value.decision
        told = f"{by.who}, {by.when}, state {by.state}: {by.title}" if by is not None else "set before the log begins"
        yield f"  {value.element.from_path} -> {value.path}: {told}"
        yield f"    {value.link}"
    shown = {value.link for value in found.values}
    yield from (f"  {link}" for link in found.links if link not in shown)


def run_samples(arguments: argparse.Namespace, out: Output) -> int:
    """Do what is asked with the samples, then list them."""
    from metl_gui.workbench.samples.kept_samples import sample_overview
    from metl_gui.workbench.session import Workbench

    changes_project = bool(arguments.include or arguments.exclude)
    with Workbench.open(Path(arguments.project), for_editing=changes_project) as workbench:
        document, lines = _change(arguments, out, workbench)
        schemas = sample_overview(workbench)
    document["schemas"] = [each.as_json() for each in schemas]
    out.result(document, [*lines, *_overview(schemas)])
    return DONE


def _change(arguments: argparse.Namespace, out: Output, workbench: Workbench) -> tuple[dict[str, object], list[str]]:
    from metl_gui.workbench.samples.kept_samples import exclude_samples, forget_samples, include_samples, keep_samples

    if arguments.keep is not None:
        with out.watching() as watch:
            kept = keep_samples(workbench, arguments.keep, watch)
        return {"kept": kept.as_json()}, list(_kept(kept))
    if arguments.forget:
        count = forget_samples(workbench)
        return {"forgotten": count}, [f"The samples of {number_of(count, 'schema')} are forgotten."]
    if arguments.include is not None:
        count = include_samples(workbench, arguments.include)
        words = (
            f"The project file holds {number_of(count, 'sample')} of {arguments.include} now; --exclude takes them out."
        )
        return {"included": count}, [words]
    if arguments.exclude is not None:
        was_there = exclude_samples(workbench, arguments.exclude)
        words = "holds no samples of it any more" if was_there else "held no samples of it"
        return {"excluded": was_there}, [f"{arguments.exclude}: the project file {words}."]
    return {}, []


def _kept(kept: KeptSamples) -> Iterator[str]:
    of_schemas = number_of(len(kept.schemas), "schema")
    yield f"{number_of(kept.kept, 'sample')} kept of {number_of(kept.read, 'message')}, of {of_schemas}."
    if kept.no_schema:
        yield f"  {kept.no_schema:,} belong to no schema of the project, or are no change of a row"
    if kept.too_large:
        yield f"  {kept.too_large:,} are too long for a sample"
    if kept.problem:
        yield f"  note: {kept.problem}"


def _overview(schemas: tuple[SchemaSamples, ...]) -> Iterator[str]:
    for each in schemas:
        yield f"{each.schema}{'  (included in the project)' if each.is_included else ''}"
        for version in each.versions:
            label = f"version {version.version}" if version.version else "of no version"
            counts = f"{number_of(version.samples, 'sample')}, {number_of(version.shapes, 'form')}"
            yield f"  {label}: {counts}, {' '.join(version.ops)}"
    if not schemas:
        yield "There are no samples. A test run brings some, or --keep SOURCE."


def run_preview(arguments: argparse.Namespace, out: Output) -> int:
    """Map a few messages and print what becomes of them."""
    from metl_gui.workbench.samples.preview import preview_source, preview_stream
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.source == "-":
            found = preview_stream(workbench, iter(lambda: sys.stdin.buffer.read(_CHUNK_BYTES), b""), arguments.limit)
        else:
            found = preview_source(workbench, arguments.source, arguments.limit)
    out.result(found.as_json(), list(_previewed(found)))
    return DONE


def _previewed(found: PreviewedSource) -> Iterator[str]:
    for each in found.previews:
        where = f"{each.schema} {each.version}".strip()
        yield " · ".join(part for part in (each.position, where, each.op_words, each.words) if part)
        for message in each.messages:
            yield f"  {message.line or 'not shown: it cannot be told which values are masked'}"
            yield from (f"    {note}" for note in message.notes)
    for position in found.cut:
        yield f"{position} · Would be set aside. It is larger than a record may be."
    counts = found.counts()
    words = ", ".join(f"{counts[name]:,} {name.replace('_', ' ')}" for name in list(counts)[1:])
    yield f"{number_of(counts['read'], 'message')} with state {found.state}: {words}"
