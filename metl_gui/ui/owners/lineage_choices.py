"""What an attribute may be the same as, and from which version on it may be another one."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from itertools import pairwise

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.lineages import JoinLineages, Leaf, SplitLineage
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.ui.selection import Place
from metl_gui.ui.two_lines import TwoLines


@dataclass(frozen=True)
class Choice:
    """One possible correction: how it reads, and the edit it is."""

    words: TwoLines
    edit: Edit


def same_choices(document: Document, side: Side, place: Place) -> tuple[Choice, ...]:
    """List the other attributes of the schema or entity, one for each lineage, the likeliest first."""
    found = _attribute(document, side, place)
    if found is None:
        return ()
    version, attribute = found
    versions = document.tree(side).versions(version.schema_id)
    of_lineage: dict[int, list[tuple[Version, Attribute]]] = {}
    for each in versions:
        for other in each.attributes:
            of_lineage.setdefault(other.lineage, []).append((each, other))
    own = {v.id for v, _ in of_lineage.pop(attribute.lineage)}
    ranked: list[tuple[bool, float, str, Choice]] = []
    for members in of_lineage.values():
        last_version, last = members[-1]
        meets = [v for v, _ in members if v.id in own]
        alike = difflib.SequenceMatcher(None, attribute.path.lower(), last.path.lower()).ratio()
        names = list(dict.fromkeys(a.path for _, a in members))
        facts = f"{_labels(members)} · {last.type_text}"
        facts += f" · also called {', '.join(names[:-1])}" if len(names) > 1 else ""
        pill = ("side by side", "plain") if meets else ("", "plain")
        edit = JoinLineages(side, Leaf(version.id, attribute.id), Leaf(last_version.id, last.id))
        ranked.append((bool(meets), -alike, last.path, Choice(TwoLines(last.path, facts, *pill), edit)))
    return tuple(choice for *_, choice in sorted(ranked, key=lambda each: each[:3]))


def split_choices(document: Document, side: Side, place: Place) -> tuple[Choice, ...]:
    """List the versions from which on the attribute may be another one, its own first."""
    found = _attribute(document, side, place)
    if found is None:
        return ()
    version, attribute = found
    versions = document.tree(side).versions(version.schema_id)
    members = [(v, a) for v in versions if (a := v.of_lineage(attribute.lineage)) is not None]
    choices = []
    for (_, old), (version_from, now) in pairwise(members):
        before, after = (f"{each.path}, {each.type_text}" for each in (old, now))
        facts = f"{after} before and after" if before == after else f"{before} before · {after} from then on"
        words = TwoLines(f"From version {version_from.label} on", facts)
        edit = SplitLineage(side, Leaf(version_from.id, now.id))
        choices.append((version_from.id != version.id, Choice(words, edit)))
    return tuple(choice for _, choice in sorted(choices, key=lambda each: each[0]))


def attribute_words(document: Document, side: Side, place: Place) -> str:
    """Name an attribute with its schema and version."""
    found = _attribute(document, side, place)
    if found is None:
        return ""
    version, attribute = found
    name = document.tree(side).schema(version.schema_id).name
    return f"{attribute.path} of {name} version {version.label}"


def _attribute(document: Document, side: Side, place: Place) -> tuple[Version, Attribute] | None:
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    return (version, attribute) if version is not None and attribute is not None else None


def _labels(members: list[tuple[Version, Attribute]]) -> str:
    labels = [version.label for version, _ in members]
    return f"version {labels[0]}" if len(labels) == 1 else f"versions {labels[0]} to {labels[-1]}"
