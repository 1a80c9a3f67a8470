"""What the block editor says of attributes and blocks."""

from __future__ import annotations

from datetime import datetime

from metl_gui.core.block_lists import ListRow
from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.trees.nodes import Side


def row_words(row: ListRow, side: Side, joint: str, values: str = "") -> str:
    """Say everything of an attribute, for its tooltip and for screen readers.

    Args:
        row: the attribute.
        side: of which list.
        joint: what stands between two parts.
        values: a line on its sample values.
    """
    attribute = row.attribute
    need = "optional" if attribute.optional else "required"
    key = ", part of the key" if row.is_key else ""
    parts = [attribute.path, f"{attribute.type_text}, {need}{key}{', new in this version' if row.is_new else ''}"]
    if row.partner is not None:
        joined = "goes to" if side is Side.EXTRACTION else "comes from"
        parts.append(f"{joined} {row.partner.path}{', whose type differs' if row.type_differs else ''}")
    else:
        parts.append(f"not mapped: {row.lost}" if row.lost else "not mapped")
    if row.note.is_masked:
        parts.append("masked: its values are not shown")
    parts += [text for text in (values, attribute.doc, row.note.comment) if text]
    return joint.join(parts)


def detail_words(row: ListRow, side: Side, value: str = "") -> str:
    """Say the few words that stand behind a name: a sample value where one is shown, and the type."""
    parts = [*(["lost"] if row.lost else []), *([value] if value and not row.note.is_masked else [])]
    parts.append(row.attribute.type_text)
    parts += ["key"] if row.is_key else []
    parts += ["required"] if side is Side.CDM and not row.attribute.optional else []
    parts += ["masked"] if row.note.is_masked else []
    return " · ".join(parts)


def status_words(block: Block | None) -> tuple[str, str, str]:
    """Say what state a block is in.

    Returns:
        A pill, its kind, and who set the state when.
    """
    if block is None:
        return "not mapped", "plain", ""
    who = stamp_words(block.who, block.when_ms)
    if block.status is Status.RETIRED:
        return "retired", "plain", who
    if block.open_losses or block.waits:
        return block.verdict.value, "bad" if block.verdict.value == "emptied" else "review", who
    return block.status.value, "accent" if block.status is Status.CONFIRMED else "plain", who


def stamp_words(who: str, when_ms: int) -> str:
    """Say who and when, in local time."""
    if not when_ms:
        return who
    when = datetime.fromtimestamp(when_ms / 1000).astimezone()
    return f"{who}, {when:%Y-%m-%d %H:%M}" if who else f"{when:%Y-%m-%d %H:%M}"


def note_words(block: Block | None, is_newest: bool, comment: str = "") -> str:
    """Say what one must know before editing a block; without that, the newest comment on it; empty for nothing."""
    if block is not None and block.status is Status.RETIRED:
        count = len(block.retired)
        gone = f" Its {_elements(count)} went with that decision." if count else ""
        back = "Mapping an attribute brings it back." if is_newest else ""
        return f"Retired: this schema feeds this entity no more.{gone} {back}".strip()
    if not is_newest:
        return "Not the newest version of the entity: its elements cannot be changed."
    if block is not None and block.open_losses:
        lost = ", ".join(loss.to_path for loss in block.open_losses)
        return f"Lost and not decided on: {lost}."
    if block is not None and block.waits:
        return "Waits for a person, although nothing was lost."
    said = comment or (block.comment if block is not None else "")
    return f"“{said}”" if said else ""


def _elements(count: int) -> str:
    return "one element" if count == 1 else f"{count:,} elements"
