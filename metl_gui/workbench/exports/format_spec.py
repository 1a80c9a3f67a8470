"""What a format of exports is: a name, a sentence, what it can be asked for, and the function that writes it.

The names that formats for databases use are made here too: of tables that are read, and of columns and models that are
made; equal names never meet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import Comment
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.errors import UserError, near_names
from metl_gui.values import Value

YES = "yes"
"""What an option says that is a switch and is on."""


class Option(Value):
    """One thing that a format can be asked for, always a text.

    Args:
        name: as it stands in ``Choices.options``; on the command line with dashes for the underscores.
        title: what it is, in plain words, for the command line's help and the label of a field.
        default: what holds when nobody says anything.
        values: all that may be said, where that is a closed list.
    """

    name: str
    title: str
    default: str
    values: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, and off unless somebody says so."""
        return self.values == (self.default, YES)


class ProjectMetadata(Value):
    """What a project keeps beside its states and single formats need; of a document without a project there is none.

    Args:
        project: name of the project's file, without its suffix.
        wire: writer schemas that messages may name.
        framing: how values name them, where their schema is not set to something else.
        when_ms: when the state was published, in milliseconds since 1970; the moment that formats name, if any.
        publication: number of the newest publication, 0 for none.
    """

    project: str = ""
    wire: tuple[WriterSchema, ...] = ()
    framing: str = "auto"
    when_ms: int = 0
    publication: int = 0


class Choices(Value):
    """What a person chose for one export.

    Args:
        include_unconfirmed: carry blocks that nobody has confirmed too.
        options: values of the format's own options by name; those that are not there hold their defaults.
        comments: what people said beside the states, for formats that people read.
        beside: facts of the project, which ``export_published`` puts here.
    """

    include_unconfirmed: bool = False
    options: Mapping[str, str] = msgspec.field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    beside: ProjectMetadata = ProjectMetadata()

    def of(self, option: Option) -> str:
        """Return the value that holds for an option."""
        return self.options.get(option.name, option.default)


Write = Callable[[Document, Choices, Path, Watch], tuple[str, ...]]
"""Writes a state into a file that is not there yet, or into an empty folder, and returns what it cannot say of *this*
state, one sentence each. The place is a temporary one beside the final one: it takes that once the function has
returned, so a format need not care about what was there, about being killed or about full disks (``OSError`` may pass).
"""


class Export(Value):
    """A format that the matrix can be exported in.

    Args:
        name: what people type.
        title: what it is and for whom, in a few plain words.
        suffix: of the file, with its dot; empty for a folder.
        write: see ``Write``.
        is_folder: whether it writes a folder of files instead of one file.
        limits: what it can never say, whatever the state, one sentence each.
        options: what it can be asked for.
        leavings: names that programs make in such a folder when it is used (``target``): they go when it is replaced.
    """

    name: str
    title: str
    suffix: str
    write: Write
    is_folder: bool = False
    limits: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    leavings: tuple[str, ...] = ()

    def checked(self, choices: Choices) -> Choices:
        """Return choices that this format can follow.

        Raises:
            UserError: it does not know an option, or a value is none of its values.
        """
        known = {option.name: option for option in self.options}
        for name, value in choices.options.items():
            option = known.get(name)
            if option is None:
                flags = ", ".join(each.flag for each in self.options) or "none of its own"
                raise UserError(
                    f"The format {self.name} has no option --{name.replace('_', '-')}.", hint=f"Its options: {flags}."
                )
            if option.values and value not in option.values:
                hint = near_names(value, option.values) or f"It may be {', '.join(option.values)}."
                raise UserError(f"{option.flag} cannot be {value!r}.", hint=hint)
        return choices


TABLES = Option(
    "tables",
    "how the tables are named that are read: by the last two parts of the schema's name, its last part, the whole "
    "name, or the whole name with underscores for dots",
    "schema.table",
    ("schema.table", "table", "topic", "topic_"),
)

_HASH_LETTERS = 8
_OTHER = re.compile(r"[^a-z0-9]+")


def table_parts(schema: str, naming: str) -> tuple[str, str]:
    """Return the database schema (empty for none) and the table that a person's choice of ``TABLES`` leads to."""
    parts = schema.split(".")
    if naming == "schema.table" and len(parts) > 1:
        return parts[-2], parts[-1]
    if naming in ("schema.table", "table"):
        return "", parts[-1]
    return "", schema.replace(".", "_") if naming == "topic_" else schema


def unique_names(wanted: Sequence[tuple[str, str]], longest: int, taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Cut names to what a database takes, and keep them apart also where letters do not count by their case.

    What is cut, or would meet another, ends in a hash of what it was made from.

    Args:
        wanted: each name, and what it was made from, which is different for each.
        longest: how many bytes a name may have.
        taken: names that none may have.
    """
    used = {name.casefold() for name in taken}
    counts = Counter(name.casefold() for name, _ in wanted)
    found: list[str] = []
    for name, origin in wanted:
        made, number = name, 0
        if counts[name.casefold()] > 1 or len(_bytes(name)) > longest or name.casefold() in used:
            made = _hashed(name, origin, number, longest)
        while made.casefold() in used:
            number += 1
            made = _hashed(name, origin, number, longest)
        used.add(made.casefold())
        found.append(made)
    return tuple(found)


def _hashed(name: str, origin: str, number: int, longest: int) -> str:
    told = sha256(_bytes(f"{origin}{number or ''}")).hexdigest()[:_HASH_LETTERS]
    return _bytes(name)[: longest - _HASH_LETTERS - 1].decode(errors="ignore") + f"_{told}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def slug(name: str) -> str:
    """Write a name in small letters, digits and underscores."""
    return _OTHER.sub("_", name.casefold()).strip("_") or "x"
