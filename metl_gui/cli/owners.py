"""The commands for owners of schemas and entities: ``entity``, ``link``, ``unlink`` and ``comment``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, common_options, positive, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.model.edit_effects import EditOutcome
    from metl_gui.workbench.model.entities import EntityContent

_PREVIEW = "only say which blocks would change"
_FORM = "PATH:TYPE[!]"
_KEY = "attributes that tell rows apart, in order; warehouses go by them"


def register(commands: Commands) -> None:
    """Add ``entity``, ``link``, ``unlink`` and ``comment``."""
    _register_entity(commands)
    address = "SCHEMA.ATTRIBUTE or ENTITY.ATTRIBUTE, with @VERSION behind where needed"
    link = commands.add(
        "link",
        run_link,
        "say that two attributes of one schema or entity are the same",
        "What was lost between them comes back in every version, as far as its ends are free. Where a version has "
        "both, they stay two attributes and only the elements come back.",
    )
    add_project(link)
    link.add_argument("one", metavar="A", help=address)
    link.add_argument("other", metavar="B", help="the attribute that A is")
    unlink = commands.add(
        "unlink",
        run_unlink,
        "say that an attribute is not the one that an earlier version has",
        "Elements that an update carried from there on are lost elements then and wait for review; what was mapped by "
        "hand stays.",
    )
    add_project(unlink)
    unlink.add_argument("one", metavar="A", help=address)
    unlink.add_argument(
        "other", metavar="B", nargs="?", help="the attribute that A is not, by default the one of the version before"
    )
    for parser in (link, unlink):
        parser.add_argument("--tree", choices=["extraction", "cdm"], help="where to look, for a name in both trees")
        parser.add_argument("--dry-run", action="store_true", help=_PREVIEW)
    comment = commands.add(
        "comment",
        run_comment,
        "read and write comments on schemas, entities, attributes, blocks and elements",
        "Comments on attributes and elements hold for all versions. They are no part of a state, so undo does not take "
        "them back; --remove does.",
    )
    add_project(comment)
    comment.add_argument(
        "place",
        metavar="PLACE",
        nargs="?",
        help="SCHEMA, ENTITY, SCHEMA.ATTRIBUTE, schema@version:entity@version, or SCHEMA.ATTRIBUTE:ENTITY.ATTRIBUTE",
    )
    comment.add_argument("text", metavar="TEXT", nargs="?", help="what to say; without it the comments are listed")
    comment.add_argument("--remove", type=positive, metavar="NUMBER", help="remove the comment of this number")


def _register_entity(commands: Commands) -> None:
    entity = commands.add(
        "entity",
        run_entity_show,
        "change the canonical model: add entities, make new versions of them",
        "Every change but that of documentation and key makes a new version and carries the mapping to it; what it "
        "loses waits for review. A type is a plain one (string, integer, number, boolean ...), a format of text "
        "(date-time, date, time, duration, uuid), or both as TYPE/LOGICAL; ! behind it means required.",
    )
    add_project(entity)
    actions = entity.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = actions.add_parser("show", help="list the attributes of an entity, or of all", allow_abbrev=False)
    show.add_argument("entity", metavar="ENTITY", nargs="?", help="by any of its names; all without it")
    show.set_defaults(run=run_entity_show)
    add = actions.add_parser(
        "add", help="add an entity; to one that is there, attributes as its next version", allow_abbrev=False
    )
    add.add_argument("entity", metavar="ENTITY", help="the name of a new one, or one that is there")
    add.add_argument("--attribute", action="extend", nargs="+", default=[], metavar=_FORM, help="amount:number!")
    add.add_argument("--key", nargs="+", metavar="PATH", help=_KEY)
    add.set_defaults(run=run_entity_add)
    change = actions.add_parser("change", help="make the next version of an entity", allow_abbrev=False)
    change.add_argument("entity", metavar="ENTITY", help="by any of its names")
    for option, form, words in (
        ("--add", _FORM, "add attributes"),
        ("--remove", "PATH", "remove attributes"),
        ("--rename", "OLD=NEW", "give attributes another path; their mapping stays"),
        ("--type", _FORM, "change types"),
        ("--required", "PATH", "make attributes required"),
        ("--optional", "PATH", "make attributes optional"),
        ("--doc", "PATH=TEXT", "write documentation, which needs no new version"),
    ):
        change.add_argument(option, action="extend", nargs="+", default=[], metavar=form, help=words)
    change.add_argument("--key", nargs="*", metavar="PATH", help=f"{_KEY}; needs no new version, none takes it away")
    change.set_defaults(run=run_entity_change)
    rename = actions.add_parser(
        "rename", help="give an entity another name; the old one finds it, too", allow_abbrev=False
    )
    rename.add_argument("entity", metavar="ENTITY", help="by any of its names")
    rename.add_argument("name", metavar="NAME", help="what it is called from now on")
    rename.set_defaults(run=run_entity_rename)
    for parser in (add, change):
        parser.add_argument("--label", metavar="V", help="the new version's label, the next number by default")
    for parser in (add, change, rename):
        parser.add_argument("--dry-run", action="store_true", help=_PREVIEW)
    for parser in (show, add, change, rename):
        common_options(parser, json=argparse.SUPPRESS, debug=argparse.SUPPRESS)
        parser.set_defaults(parser=parser)


def run_entity_show(arguments: argparse.Namespace, out: Output) -> int:
    """List what entities hold."""
    from metl_gui.workbench.model.entities import content, contents
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        document = workbench.document
    found = contents(document) if arguments.entity is None else (content(document, arguments.entity),)
    lines = [line for each in found for line in _entity_lines(each)] or ["The canonical model is empty."]
    out.result({"state": document.state, "entities": [each.as_json() for each in found]}, lines)
    return DONE


def run_entity_add(arguments: argparse.Namespace, out: Output) -> int:
    """Add an entity, or attributes to one."""
    from metl_gui.workbench.model.entities import add_entity
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = add_entity(
            workbench, arguments.entity, arguments.attribute, arguments.label, arguments.dry_run, key=arguments.key
        )
    return _told(done, out)


def run_entity_change(arguments: argparse.Namespace, out: Output) -> int:
    """Make the next version of an entity."""
    from metl_gui.workbench.model.entities import EntityChanges, change_entity
    from metl_gui.workbench.session import Workbench

    changes = EntityChanges(
        arguments.add,
        arguments.remove,
        arguments.rename,
        arguments.type,
        arguments.required,
        arguments.optional,
        arguments.doc,
        arguments.key,
    )
    if changes == EntityChanges([], [], [], [], [], [], []):
        options = "--add, --remove, --rename, --type, --required, --optional, --doc, --key"
        wrong_usage(arguments, f"say what is to change: {options}")
    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = change_entity(workbench, arguments.entity, changes, arguments.label, arguments.dry_run)
    return _told(done, out)


def run_entity_rename(arguments: argparse.Namespace, out: Output) -> int:
    """Give an entity another name."""
    from metl_gui.workbench.model.entities import rename_entity
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = rename_entity(workbench, arguments.entity, arguments.name, arguments.dry_run)
    return _told(done, out)


def run_link(arguments: argparse.Namespace, out: Output) -> int:
    """Join two lineages."""
    from metl_gui.workbench.model.lineages import link
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = link(workbench, arguments.one, arguments.other, _side(arguments), arguments.dry_run)
    return _told(done, out)


def run_unlink(arguments: argparse.Namespace, out: Output) -> int:
    """Split a lineage."""
    from metl_gui.workbench.model.lineages import unlink
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = unlink(workbench, arguments.one, arguments.other, _side(arguments), arguments.dry_run)
    return _told(done, out)


def run_comment(arguments: argparse.Namespace, out: Output) -> int:
    """List, write or remove comments."""
    from metl_gui.workbench.model import comments
    from metl_gui.workbench.session import Workbench

    if arguments.remove is not None and arguments.place is not None:
        wrong_usage(arguments, "--remove takes the number of a comment and no place")
    writes = arguments.remove is not None or arguments.text is not None
    with Workbench.open(Path(arguments.project), for_editing=writes) as workbench:
        if arguments.remove is not None:
            comments.remove(workbench, arguments.remove)
        elif arguments.text is not None:
            comments.add_comment(workbench, arguments.place, arguments.text)
        found = comments.listed(workbench, arguments.place)
    lines = [
        line
        for each in found
        for line in (f"{each.id:>4}  {each.place or 'gone'}  {each.who}, {each.when}", *_indented(each.text))
    ]
    out.result({"comments": [each.as_json() for each in found]}, lines or ["There are no comments."])
    return DONE


def _told(done: EditOutcome, out: Output) -> int:
    lines = [*done.lines(), f"{done.needs_review} need review; state {done.state}"]
    out.result(done.as_json(), lines)
    return DONE


def _side(arguments: argparse.Namespace) -> Side | None:
    from metl_gui.core.trees.nodes import Side

    return Side(arguments.tree) if arguments.tree else None


def _entity_lines(found: EntityContent) -> list[str]:
    lines = [f"{found.name} version {found.version}"]
    for attribute in found.attributes:
        need = " required" if attribute.required else ""
        need += " key" if attribute.path in found.key else ""
        masked = " masked" if attribute.masked else ""
        words = f"  {' '.join(attribute.documentation.split())}" if attribute.documentation else ""
        lines.append(f"  {attribute.path}: {attribute.type}{need}{masked}{words}")
    return lines


def _indented(text: str) -> list[str]:
    return [f"      {line}" for line in text.splitlines()]
