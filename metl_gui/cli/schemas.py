"""The commands about the trees: ``new``, ``import``, ``resume``, ``remove``, ``set``, and ``watch``.

``watch`` is about registries that announce versions.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, CANCELLED, DONE, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of
from metl_gui.errors import UserError

if TYPE_CHECKING:
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.importing.schema_import import ImportResult
    from metl_gui.workbench.importing.source_watch import WatchEvent


_MOST_RENAMED = 5
"""So many renamed attributes of one version are named by ``metl import``."""


def register(commands: Commands) -> None:
    """Add ``new``, ``import``, ``resume``, ``remove`` and ``set``."""
    add_project(commands.add("new", run_new, "make an empty project file"))
    _register_import(commands)
    resume = commands.add("resume", run_resume, "go on with an import that was killed or stopped")
    add_project(resume)
    resume.add_argument("--forget", action="store_true", help="let what it had still to add go; what it added stays")
    remove = commands.add("remove", run_remove, "remove a version with its blocks")
    add_project(remove)
    _add_node(remove)
    remove.add_argument("--version", required=True, metavar="V", help="the version's label")
    settings = commands.add(
        "set",
        run_set,
        "change the settings of a schema, an entity or the project",
        "Schemas have key (attributes with commas between), replica_identity (default or full), version_field (a path"
        " in the message), placeholder (the text that stands for a value which the source left out), time_zone (of "
        "its local times, such as Europe/Berlin, or none: they hold in no one zone), ask (losses, always or new "
        "attributes too), meanwhile (hold or map what is left) and mask (attributes with commas between, whose "
        "values nobody who looks at messages sees, in any version); entities have policy (newest or parallel) and "
        "mask. Without --schema and --entity it is the project: second_person_confirms (yes or no: what a person "
        "sets stays unconfirmed until somebody else "
        "confirms it). An empty VALUE puts the default back.",
    )
    add_project(settings)
    _add_node(settings, is_required=False)
    settings.add_argument("assignments", nargs="+", metavar="NAME=VALUE")


def _register_import(commands: Commands) -> None:
    parser = commands.add(
        "import",
        run_import,
        "add schemas and versions from files, registries or databases",
        "A SOURCE is a file, a folder or a pattern; the address of a schema registry (https://host/apis/registry/v3, "
        "or the bare host of one with Confluent's API) or of a PostgreSQL database (postgresql://user@host/database); "
        "or a profile, @NAME. Each new version inherits the mapping of the one before; what then needs review is said. "
        "Ends with 1 when every source was refused. What an import that was killed or stopped had still to add is kept "
        "with the project: metl resume goes on with it.",
    )
    add_project(parser)
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a file, a folder, a pattern, an address, topics: kafka://host:port/topic, or @PROFILE",
    )
    parser.add_argument("--tree", required=True, choices=["extraction", "cdm"], help="where the schemas belong")
    parser.add_argument(
        "--format",
        default="auto",
        help="auto (looks into each file, the default), json-schema, connect-json, connect-schema, avro, or sql in a "
        "dialect: sql-postgresql, sql-mysql, sql-sqlserver, sql-oracle",
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="of a registry only the subjects, of a database only the tables that fit (* and ?); may come again",
    )
    wanted.add_argument(
        "--id",
        metavar="N[,M]",
        help="of a registry only the versions that messages call by these ids (7, content:7, global:7, or a GUID)",
    )
    parser.add_argument(
        "--prefix",
        default="",
        metavar="NAME",
        help="what the topics of tables begin with (Debezium's topic.prefix), for databases and files of SQL",
    )


def _add_node(parser: argparse.ArgumentParser, is_required: bool = True) -> None:
    node = parser.add_mutually_exclusive_group(required=is_required)
    node.add_argument("--schema", metavar="S", help="an extraction schema, by name or alias")
    node.add_argument("--entity", metavar="E", help="a business entity")


def _node(arguments: argparse.Namespace) -> tuple[Side, str]:
    from metl_gui.core.trees.nodes import Side

    if arguments.schema is not None:
        return Side.EXTRACTION, arguments.schema
    return Side.CDM, arguments.entity


def run_new(arguments: argparse.Namespace, out: Output) -> int:
    """Make an empty project file."""
    from metl_gui.workbench.session import Workbench

    with Workbench.create(Path(arguments.project)) as workbench:
        path, state = workbench.path, workbench.document.state
    out.result({"project": str(path), "state": state}, [f"{path} is a new, empty project."])
    return DONE


def run_import(arguments: argparse.Namespace, out: Output) -> int:
    """Import schemas and versions."""
    from metl_gui.core.project.source_formats import parse_format
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.importing.remote_sources import ImportFilter, is_remote, parse_ids
    from metl_gui.workbench.importing.schema_import import import_sources
    from metl_gui.workbench.session import Workbench

    try:
        parse_format(arguments.format)
        ids = parse_ids(arguments.id) if arguments.id is not None else ()
    except UserError as error:
        wrong_usage(arguments, str(error))
    if ids and not all(is_remote(source) for source in arguments.sources):
        wrong_usage(arguments, "--id is about registries: name one by its address or as @PROFILE, and no files")
    if arguments.only and not any(is_remote(source) for source in arguments.sources):
        wrong_usage(arguments, "--only is about registries and databases; of files, name only those that you want")
    with Workbench.open(Path(arguments.project)) as workbench, out.watching() as watch:
        choice = ImportFilter(tuple(arguments.only), arguments.prefix, ids)
        side = Side(arguments.tree)
        done = import_sources(workbench, side, arguments.sources, arguments.format, watch=watch, choice=choice)
    return _told(done, arguments, out)


def run_resume(arguments: argparse.Namespace, out: Output) -> int:
    """Resume imports that were interrupted, or forget them."""
    from metl_gui.workbench.importing.schema_import import forget, resume
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench, out.watching() as watch:
        if not arguments.forget:
            return _told(resume(workbench, watch), arguments, out)
        count, state = forget(workbench), workbench.document.state
    line = f"{number_of(count, 'version')} will not be added; state {state}"
    out.result({"state": state, "forgotten": count}, [line])
    return DONE


def _told(done: ImportResult, arguments: argparse.Namespace, out: Output) -> int:
    out.result(done.as_json(), list(import_lines(done, Path(arguments.project))))
    if done.is_all_refused:
        out.note("error: Nothing was imported: every source was refused.\nhint: The reasons stand beside the sources.")
        return AT_FAULT
    return DONE


def import_lines(done: ImportResult, project: Path) -> Iterator[str]:
    """Describe in lines what an import did."""
    for version in done.added:
        yield f"added    {version.name} version {version.version}, {number_of(version.attributes, 'attribute')}"
        yield from (f"           {each.before} is {each.after} now" for each in version.renamed[:_MOST_RENAMED])
        if len(version.renamed) > _MOST_RENAMED:
            yield f"           and {len(version.renamed) - _MOST_RENAMED} more were renamed"
    for refusal in done.refused:
        yield f"refused  {refusal.source}: {refusal.reason}"
    yield f"{len(done.added)} added, {len(done.unchanged)} unchanged, {len(done.refused)} refused; state {done.state}"
    if done.writer_schemas:
        yield f"{done.writer_schemas} registry ids known: binary messages that name one of them are read by its schema."
    made = [f"{count} {verdict}" for verdict, count in done.blocks.items() if count and verdict != "first"]
    if made:
        yield f"New blocks: {', '.join(made)}."
    if done.needs_review:
        yield _need_review(done.needs_review, project)


def _need_review(count: int, project: Path) -> str:
    return f"{count} need{'s' if count == 1 else ''} review: metl review {shlex.quote(str(project))} --list"


def run_remove(arguments: argparse.Namespace, out: Output) -> int:
    """Remove a version of a schema or an entity."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.settings import remove_version

    side, name = _node(arguments)
    with Workbench.open(Path(arguments.project)) as workbench:
        done = remove_version(workbench, side, name, arguments.version)
    gone = f"{number_of(done.blocks, 'block')} and {number_of(done.elements, 'element')}"
    lines = [f"{done.title}: {gone} went with it; state {done.state}"]
    if done.needs_review:
        lines.append(_need_review(done.needs_review, Path(arguments.project)))
    out.result(done.as_json(), lines)
    return DONE


def run_set(arguments: argparse.Namespace, out: Output) -> int:
    """Change settings and show those that are not at their defaults."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.settings import set_settings

    if arguments.schema is None and arguments.entity is None:
        return _set_project(arguments, out)
    side, name = _node(arguments)
    with Workbench.open(Path(arguments.project)) as workbench:
        done = set_settings(workbench, name, arguments.assignments, side)
    shown = [f"  {setting}={value}" for setting, value in done.settings.items()] or ["  all at their defaults"]
    gone = ["These blocks went, as only the newest version keeps any:", *(f"  {name}" for name in done.removed)]
    out.result(done.as_json(), [f"{done.name}, state {done.state}:", *shown, *(gone if done.removed else ())])
    return DONE


def _set_project(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.settings import set_project_settings

    with Workbench.open(Path(arguments.project)) as workbench:
        done = set_project_settings(workbench, arguments.assignments)
    out.result(done.as_json(), [f"{setting}={value}" for setting, value in done.settings.items()])
    return DONE


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)")
_LEAST_SECONDS, _MOST_SECONDS = 1, 24 * 3600
_KEPT_EVENTS = 1000


def register_watch(commands: Commands) -> None:
    """Add ``watch``."""
    parser = commands.add(
        "watch",
        run_watch,
        "watch a registry or a database and bring new versions into the project at once",
        "Each new version inherits the mapping of the one before, as with metl import; what happens is told as it "
        "happens. A registry that goes away is asked again, less and less often, until it is back. The project is "
        "held only while something is added: while somebody else edits it, new versions wait. Ctrl-C ends it. With "
        "--once it looks once, and ends with 1 when there was no answer or everything was refused.",
    )
    add_project(parser)
    parser.add_argument("source", metavar="PROFILE", help="@NAME of a profile, or an address as metl import takes it")
    parser.add_argument("--tree", default="extraction", choices=["extraction", "cdm"], help="where the schemas belong")
    parser.add_argument(
        "--every",
        default=10.0,
        type=_every,
        metavar="TIME",
        help="how often to look: 10s (the default), 5m ...",
    )
    parser.add_argument("--once", action="store_true", help="look once and end")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="only these subjects or tables; may come again"
    )
    parser.add_argument("--prefix", default="", metavar="NAME", help="what topics of a database's tables begin with")


def run_watch(arguments: argparse.Namespace, out: Output) -> int:
    """Inspect a registry once, or again and again."""
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.importing.remote_sources import ImportFilter, check_source
    from metl_gui.workbench.importing.source_watch import Watcher, event_json, event_lines, into_file
    from metl_gui.workbench.session import Workbench

    path = Path(arguments.project)
    check_source(arguments.source)
    with Workbench.open(path, for_editing=False):
        pass  # a project that is not there is told before anything is asked
    events: deque[WatchEvent] = deque(maxlen=_KEPT_EVENTS)

    def tell(event: WatchEvent) -> None:
        events.append(event)
        out.note("\n".join(event_lines(event)))

    choice = ImportFilter(tuple(arguments.only), arguments.prefix)
    watcher = Watcher(arguments.source, into_file(path, Side(arguments.tree)), tell, arguments.every, choice)
    with out.watching() as watch:
        if arguments.once:
            watcher.look(watch)
        else:
            out.note(f"Watching {arguments.source} for {path.name}; Ctrl-C ends it.")
            watcher.follow(watch)
    line = f"Looked {number_of(watcher.looks, 'time')}, added {number_of(watcher.added, 'version')}."
    out.result({"looks": watcher.looks, "added": watcher.added, "events": [event_json(one) for one in events]}, [line])
    if out.was_interrupted:
        return CANCELLED
    return DONE if watcher.is_well else AT_FAULT


def _every(text: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write it like 10s, 5m or 1h")
    number = float(found[1]) * _UNITS[found[2]]
    if not _LEAST_SECONDS <= number <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text} is not between {_LEAST_SECONDS}s and {_MOST_SECONDS // 3600}h")
    return number
