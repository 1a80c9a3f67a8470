"""The text of a link: ``metl://PROJECT/STATE/PLACE#NAMES``.

The project and the place are named by ids, which no renaming changes; the names behind the ``#`` are for people and
decide nothing. A link comes from outside: its length and letters are bounded, and it says where to look and nothing of
what to do. Source: docs/reference/links.md, "What stands in a link".
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import quote, unquote

from metl_gui.errors import LinkError
from metl_gui.values import Value

SCHEME = "metl://"
LONGEST = 2_000
"""Letters that a link may have."""

_MOST_NAMES = 400
_LARGEST_STATE, _LARGEST_ID = 2**63 - 1, 2**31 - 1
_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_STATE = re.compile(r"0|[1-9][0-9]{0,18}")
_LETTERS = re.compile(r"[!-~]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PLAIN_NAMES = "@.:=/>-_,()~"


class PlaceKind(StrEnum):
    """What a link leads to, as the link writes it."""

    SCHEMA = "schema"
    ENTITY = "entity"
    BLOCK = "block"
    CELL = "cell"
    REVIEW = "review"
    STATE = "state"
    RUN = "run"
    SET_ASIDE = "set-aside"


_IDS = {
    PlaceKind.SCHEMA: (1, 2, 3),
    PlaceKind.ENTITY: (1, 2, 3),
    PlaceKind.BLOCK: (2,),
    PlaceKind.CELL: (4,),
    PlaceKind.REVIEW: (2,),
    PlaceKind.STATE: (0,),
}
"""How many ids a place has."""


class LinkPlace(Value):
    """A place of a project, by ids.

    Args:
        kind: what it is.
        ids: of a schema or an entity: it, one of its versions, one of the attributes of that; of a block and a review
            item both versions; of a cell version and attribute of the schema, then those of the entity.
        run: the run, of a run and of what it set aside.
        reason: why a record was set aside.
        position: where that record lay; empty for all of its reason. One too long for a link is not written.
    """

    kind: PlaceKind
    ids: tuple[int, ...] = ()
    run: str = ""
    reason: str = ""
    position: str = ""


class Link(Value):
    """A place in one state of one project.

    Args:
        project: the id of the project.
        state: the number of the state.
        place: the place.
        names: what it was called when the link was made, for people.
    """

    project: str
    state: int
    place: LinkPlace
    names: str = ""

    def __str__(self) -> str:
        place = self.place
        ids = (place.run, place.reason) if place.run else tuple(map(str, place.ids))
        path = "/".join(_quoted(part) for part in (self.project, str(self.state), place.kind, *ids) if part)
        position = f"/{_quoted(place.position)}" if place.position else ""
        names = f"#{quote(self.names[:_MOST_NAMES], safe=_PLAIN_NAMES)}" if self.names else ""
        text = f"{SCHEME}{path}"
        for more in (position, names):
            text += more if len(text) + len(more) <= LONGEST else ""
        return text


def is_link(text: str) -> bool:
    """Whether a text means to be a link, well formed or not."""
    return text.strip()[: len(SCHEME)].lower() == SCHEME


def read_link(text: str) -> Link:
    """Read a link.

    Raises:
        LinkError: it is none, or not well formed; says what is wrong with it.
    """
    text = text.strip()
    if not is_link(text):
        raise _wrong("It does not begin with metl://.")
    if len(text) > LONGEST:
        raise _wrong(f"It has {len(text):,} letters, and no link has more than {LONGEST:,}.")
    if not _LETTERS.fullmatch(text):
        raise _wrong("It holds a space, or a letter that no link has.")
    path, _, names = text[len(SCHEME) :].partition("#")
    project, *parts = (_unquoted(part) for part in path.split("/"))
    if not project or len(parts) < 2:
        raise _wrong("It lacks the project, the state or the place.")
    state, kind, *rest = parts
    if not _STATE.fullmatch(state) or int(state) > _LARGEST_STATE:
        raise _wrong(f"{state[:40]!r} is no number of a state.")
    if kind not in set(PlaceKind):
        raise _wrong(f"{kind[:40]!r} is no kind of place; there are {', '.join(PlaceKind)}.")
    return Link(project, int(state), _place(PlaceKind(kind), rest), _unquoted(names))


def _place(kind: PlaceKind, parts: list[str]) -> LinkPlace:
    if kind is PlaceKind.RUN and len(parts) == 1 and _NAME.fullmatch(parts[0]):
        return LinkPlace(kind, run=parts[0])
    if kind is PlaceKind.SET_ASIDE and len(parts) in (2, 3) and all(_NAME.fullmatch(part) for part in parts[:2]):
        return LinkPlace(kind, run=parts[0], reason=parts[1], position=parts[2] if len(parts) > 2 else "")
    if len(parts) not in _IDS.get(kind, ()) or not all(map(_NUMBER.fullmatch, parts)):
        raise _wrong(f"What follows {kind.value} in it names no such place.")
    ids = tuple(map(int, parts))
    if max(ids, default=0) > _LARGEST_ID:
        raise _wrong("It has a number that is too large.")
    return LinkPlace(kind, ids)


def _quoted(part: str) -> str:
    return quote(part, safe="")


def _unquoted(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError as error:
        raise _wrong("It holds bytes that are no UTF-8.") from error


def _wrong(text: str) -> LinkError:
    return LinkError("This is no link to a place of a project.", text, "Copy the link again, the whole of it.")
