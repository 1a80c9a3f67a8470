"""What a message that comes late would do to a member of a dimension: its versions, and facts that would move."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from metl_gui.core.dimensional.loads.key_history import KeyMessage, KeyVersion
from metl_gui.core.matrix.document import Document
from metl_gui.errors import RunError
from metl_gui.values import Value
from metl_gui.warehouse.late_messages import KeyStudy, key_study, late_answer
from metl_gui.workbench.loads.hidden_columns import hidden_columns
from metl_gui.workbench.loads.key_histories import hidden_values, opened_dimension


class LateQuestions(Value):
    """A key of which can be asked what late messages would do; the target is needed no more.

    Args:
        study: what was read of it.
        masked: columns of the history that are hidden.
        made_of: columns of the dimension that are made of such.
    """

    study: KeyStudy
    masked: frozenset[str]
    made_of: frozenset[str]


class WouldBe(Value):
    """What a late message would do.

    Args:
        words: what would change.
        versions: that there would be.
    """

    words: str
    versions: tuple[KeyVersion, ...]


def late_questions(document: Document, target: str, table: str, key: tuple[str, ...], model: str = "") -> LateQuestions:
    """Read from a target what bears on a key.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: nothing was loaded yet, or the key is masked.
        TargetError: the target cannot be opened, or it cannot be told of this key.
    """
    with opened_dimension(document, target, table, model) as (opened, shapes):
        shape = shapes.dimension(table)
        masked = hidden_columns(document, shapes, shape)
        made_of = frozenset(one.name for one in shape.columns if masked.intersection(one.uses))
        return LateQuestions(key_study(opened, shapes, table, key), masked, made_of)


def would_be(
    questions: LateQuestions, like: KeyMessage, holds_from: datetime, values: Mapping[str, str] | None = None
) -> WouldBe:
    """Return what a message like another would do that comes now and holds from some time.

    Args:
        questions: what was read of the key.
        like: the message.
        holds_from: since when it is to hold.
        values: by attribute, those that are other ones than its own.

    Raises:
        RunError: an attribute is masked.
        TargetError: there is no such message or attribute, or a value is none of its type.
    """
    values = values or {}
    if hidden := sorted(questions.masked.intersection(values)):
        raise RunError(f"{hidden[0]} is masked.", hint="Its values are shown to nobody here.")
    found = late_answer(questions.study, (like.schema, like.row, like.order_key, like.op), holds_from, values)
    versions = (replace(one, values=hidden_values(one.values, questions.made_of)) for one in found.versions)
    return WouldBe(found.effect.words, tuple(versions))
