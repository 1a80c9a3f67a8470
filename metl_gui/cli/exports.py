"""The command that writes the matrix for others: ``export``."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of
from metl_gui.errors import UserError

if TYPE_CHECKING:
    from metl_gui.workbench.exports.files import ExportResult

OPTIONS: dict[str, str] = {
    "dialect": "sql, dbt: the database that the queries are for, such as postgres, spark, snowflake or bigquery",
    "source": "sql, dbt: what the tables hold: rows, or debezium for its messages as JSON in one column",
    "tables": "sql, dbt: which part of a schema's name is its table: schema.table, table, topic or topic_",
    "profile": "dbt: the connection of ~/.dbt/profiles.yml that the project uses",
    "topic": "kafka-connect: the topic that a chain sends to; {entity} stands for the entity",
    "versions": "kafka-connect: the versions that a chain must be right for: all, or newest",
    "column": "sql, dbt: the column with the messages, for --source debezium",
    "base": "sssom: the address that ids begin with",
    "license": "sssom: the address of the licence",
    "safe_cells": "csv, sssom: for spreadsheets: no cell becomes a formula; metl map reads it back exactly",
    "sources": "openlineage: the namespace of the extraction schemas",
    "targets": "openlineage: the namespace of the entities",
    "jobs": "openlineage: the namespace of the jobs",
}
"""What single formats can be asked for, with help; a test holds that these are the options of the formats."""

_SWITCHES = ("safe_cells",)

STDOUT = "-"


def register(commands: Commands) -> None:
    """Add ``export``."""
    export = commands.add(
        "export",
        run_export,
        "write the published matrix for pipelines, spreadsheets and people",
        "Takes what was published last (metl publish) and its confirmed blocks. --list names the formats; each says "
        "after writing what it cannot say.",
    )
    export.add_argument("project", metavar="PROJECT", nargs="?", help="the project file, NAME.metl")
    export.add_argument("--list", action="store_true", help="list the formats, their options and what they cannot say")
    export.add_argument("--format", metavar="F", help="a format of --list, such as json, csv or spark")
    export.add_argument("-o", "--output", metavar="PATH", help="the file or folder to write; - for standard output")
    export.add_argument("--state", type=int, metavar="N", help="another published state")
    export.add_argument("--include-unconfirmed", action="store_true", help="carry unconfirmed blocks too")
    for name, text in OPTIONS.items():
        kind: dict[str, str] = {"action": "store_const", "const": "yes"} if name in _SWITCHES else {}
        export.add_argument(f"--{name.replace('_', '-')}", help=text, **kind)  # type: ignore[arg-type]


def run_export(arguments: argparse.Namespace, out: Output) -> int:
    """Write the matrix of one state to a file or folder."""
    from metl_gui.workbench.exports.files import export_published
    from metl_gui.workbench.exports.format_spec import Choices
    from metl_gui.workbench.exports.formats import find_export
    from metl_gui.workbench.session import Workbench

    if arguments.list:
        return _list(out)
    wanted = {"PROJECT": arguments.project, "--format": arguments.format, "-o/--output": arguments.output}
    missing = [name for name, value in wanted.items() if value is None]
    if missing:
        wrong_usage(arguments, f"the following arguments are required: {', '.join(missing)}")
    given = {name: getattr(arguments, name) for name in OPTIONS}
    options = {name: value for name, value in given.items() if value is not None}
    choices = Choices(arguments.include_unconfirmed, options)
    try:
        export = find_export(arguments.format)
        export.checked(choices)
    except UserError as error:
        wrong_usage(arguments, str(error))
    is_piped = arguments.output == STDOUT
    if is_piped and (export.is_folder or arguments.json):
        why = f"{export.name} is a folder" if export.is_folder else "--json prints a document there"
        wrong_usage(arguments, f"-o {STDOUT} writes to standard output, and {why}")
    with contextlib.ExitStack() as stack:
        workbench = stack.enter_context(Workbench.open(Path(arguments.project), for_editing=False))
        path = Path(arguments.output)
        if is_piped:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="metl-"))) / f"matrix{export.suffix}"
        with out.watching() as watch:
            done = export_published(workbench, export, path, arguments.state, choices, watch)
        if is_piped:
            out.send(stack.enter_context(path.open("rb")))
            out.note("\n".join(_lines(done, "standard output")))
            return DONE
    out.result(done.as_json(), _lines(done, str(done.path)))
    return DONE


def _lines(done: ExportResult, place: str) -> list[str]:
    held = f", {done.held} of them held until reviewed" if done.held else ""
    lines = [f"{place}: {number_of(done.blocks, 'block')} of state {done.state}{held}, {done.size_bytes:,} bytes"]
    if done.left_out:
        lines.append(f"{done.left_out} left out, as nobody has confirmed {'it' if done.left_out == 1 else 'them'}")
    return [*lines, *(f"not said  {sentence}" for sentence in done.says)]


_NAME_WIDTH = 14


def _list(out: Output) -> int:
    from metl_gui.workbench.exports.formats import EXPORTS

    kinds = {export.name: "folder" if export.is_folder else export.suffix for export in EXPORTS.values()}
    width = max(map(len, kinds.values())) + 2
    indent = " " * (_NAME_WIDTH + width)
    lines, document = [], []
    for export in EXPORTS.values():
        lines.append(f"{export.name:<{_NAME_WIDTH}}{kinds[export.name]:<{width}}{export.title}")
        options = []
        for option in export.options:
            values = f" ({', '.join(option.values)})" if option.values else ""
            choice = "" if option.is_switch else f"{values}, by default {option.default}"
            lines.append(f"{indent}{option.flag} {option.title}{choice}")
            options.append({name: getattr(option, name) for name in ("name", "title", "default", "values")})
        lines += [f"{indent}not said  {sentence}" for sentence in export.limits]
        document.append(
            {
                "format": export.name,
                "title": export.title,
                "suffix": export.suffix,
                "is_folder": export.is_folder,
                "options": options,
                "cannot_say": list(export.limits),
            }
        )
    out.result({"formats": document}, lines)
    return DONE
