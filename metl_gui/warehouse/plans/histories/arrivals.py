"""What a load brings: staged messages that the history does not have yet, and the source rows that they touch.

Source: docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.warehouse.plans.dialects import GROUP_KEY
from metl_gui.warehouse.plans.histories.history_tables import IDENTITY, OWN_COLUMNS, history_table
from metl_gui.warehouse.plans.histories.log_plan import greatest_query, log_plan
from metl_gui.warehouse.plans.histories.replay_plan import is_void, void_plan, voided_table
from metl_gui.warehouse.plans.histories.state_plan import StateTables
from metl_gui.warehouse.plans.statements import Step, first_of, name, names, temporary, text

_SOURCE = ("seen_at", "position_log", "position_partition", "position_offset")
"""Columns of which the smallest of all repeats is kept."""

_OUTER = ("snapshot", "schema_version", "entity_version")
"""Columns that are no content."""

_CONTENT_OF_ITS_OWN = ("committed_at", "old_key", "absent")


SET_ASIDE_COLUMN = "_column"
"""Of what is set aside, the column that says which one cannot hold it."""


def staged_table(entity: str) -> str:
    """Return the name of the table of what was staged for an entity."""
    return f"_staged_{entity}"


def same_place(one: str, other: str) -> str:
    """Return the condition that two messages have one identity and publication; a truncate has no key."""
    columns = [c for c in (*IDENTITY, "publication") if c != "row_key"]
    keys = f"COALESCE({one}.row_key, '') = COALESCE({other}.row_key, '')"
    return " AND ".join([keys, *(f"{one}.{name(c)} = {other}.{name(c)}" for c in columns)])


def _content(history: EntityHistory) -> list[str]:
    return [*_CONTENT_OF_ITS_OWN, *(one.name for one in history.columns)]


def set_aside_table(entity: str) -> str:
    """Return the name of the table of messages that tables of the model cannot hold."""
    return f"metl_set_aside_{entity}"


def set_aside_plan(history: EntityHistory, unfit: Mapping[str, str], load: str, messages: str = "") -> Iterator[Step]:
    """Yield the steps that set aside messages of which a value does not fit a table; they are kept as they are.

    Args:
        history: of the entity.
        unfit: by the column that cannot hold it, conditions over the columns of the history.
        load: the name of the load.
        messages: the table that they stand in; empty for that of what was staged.
    """
    staged, aside = name(messages or staged_table(history.entity)), set_aside_table(history.entity)
    columns = staged_columns(history)
    if unfit:
        cases = " ".join(f"WHEN {condition} THEN {text(column)}" for column, condition in unfit.items())
        unfitting = f"op NOT IN ('d', 't') AND ({' OR '.join(unfit.values())})"
        known = f"SELECT 1 FROM {name(aside)} AS h WHERE {same_place('h', 's')} AND {equal_content(history)}"
        yield Step(
            f"Set aside messages of {history.entity} that do not fit",
            f"""INSERT INTO {name(aside)} ({names(columns)}, batch, "_column")
            SELECT {names(columns, "s")}, {text(load)}, "_unfit" FROM (
              SELECT *, CASE {cases} END AS "_unfit" FROM {staged} WHERE {unfitting}) AS s
            WHERE NOT EXISTS ({known})""",
            aside,
            "insert",
        )
        yield Step("Leave them out", f"DELETE FROM {staged} WHERE {unfitting}")


def repeated_query(entity: str) -> str:
    """Return the query that says whether an identity can stand twice in the batch, be it of several publications.

    Numbers are gathered much faster than the texts that they are made of; that two texts have one number is so rare
    that it may be taken for a repeat.
    """
    staged = name(staged_table(entity))
    return f"SELECT EXISTS (SELECT 1 FROM {staged} GROUP BY {GROUP_KEY}({names(IDENTITY)}) HAVING COUNT(*) > 1)"


def is_empty_query(entity: str) -> str:
    """Return the query that says whether the history has no message."""
    return f"SELECT NOT EXISTS (SELECT 1 FROM {name(history_table(entity))})"


def doubled_query(entity: str) -> str:
    """Return the query that says whether a message stands twice in the batch."""
    identity = names([*IDENTITY, "publication"])
    return f"SELECT EXISTS (SELECT 1 FROM {name(staged_table(entity))} GROUP BY {identity} HAVING COUNT(*) > 1)"


def may_be_known_query(entity: str, table: str) -> str:
    """Return the query that says whether the history can have a message of a table."""
    return f"""SELECT EXISTS (SELECT 1 FROM {name(table)} AS s JOIN ({greatest_query(entity)}) AS l
        ON l.schema = s.schema AND s.order_key <= l.greatest)"""


def linked_rows_query(entity: str) -> str:
    """Return the query that says whether messages of the batch may touch rows of other keys than their own."""
    staged, moved = name(staged_table(entity)), "old_key IS NOT NULL AND row_key IS NOT NULL"
    return f"""SELECT EXISTS (SELECT 1 FROM {staged} WHERE op = 't' OR ({moved}))
        OR EXISTS (SELECT 1 FROM {name(history_table(entity))} WHERE {moved})"""


class Batch(msgspec.Struct, frozen=True):
    """What was staged of an entity.

    Args:
        entity: its name.
        has_doubles: messages may stand in it twice.
        is_new: all messages lie behind those that the history has of their schemas, which knows none of them.
        is_replay: what the load covered may void messages of the history.
        is_linked: messages may touch rows of other keys: a whole table was emptied, or keys changed.
    """

    entity: str
    has_doubles: bool = True
    is_new: bool = False
    is_replay: bool = False
    is_linked: bool = True

    @property
    def once(self) -> str:
        """Return the name of the table in which each message stands once."""
        return f"_once_{self.entity}" if self.has_doubles else staged_table(self.entity)

    @property
    def came(self) -> str:
        """Return the name of the table of messages that the history did not have."""
        return self.once if self.is_new else f"_fresh_{self.entity}"

    @property
    def repeats(self) -> str:
        """Return the name of the table of messages that the history had."""
        return f"_repeats_{self.entity}"

    @property
    def falls(self) -> str:
        """Return the name of the table of the places where a log went back."""
        return f"_falls_{self.entity}"

    @property
    def placed(self) -> tuple[str, ...]:
        """Return the names of the tables of messages that are new, or were seen earlier than was known."""
        return (self.came,) if self.is_new else (self.came, f"_earlier_{self.entity}")

    @property
    def touching(self) -> tuple[str, ...]:
        """Return the names of the tables of messages whose rows are made anew."""
        return (*self.placed, voided_table(self.entity)) if self.is_replay else self.placed


def once_plan(history: EntityHistory, batch: Batch) -> Iterator[Step]:
    """Yield the step after which each message stands once, where some stand twice."""
    if batch.has_doubles:
        query = _each_once(history, staged_columns(history))
        yield temporary(batch.once, query, f"Leave repeats of {batch.entity} within the batch")


def arrival_plan(history: EntityHistory, load: str, batch: Batch) -> Iterator[Step]:
    """Yield the steps that append what is new and list the rows that it touches.

    A message that stands in the history already changes nothing there but where and when it was first seen.

    Args:
        history: of the entity.
        load: the name of the load.
        batch: what was staged.

    Cost: one look-up in the history of each identity of the batch that lies before the end of its schema's log.
    """
    entity, table, columns = history.entity, name(history_table(history.entity)), staged_columns(history)
    if not batch.is_new:
        yield from _known_messages(history, batch)
    came = batch.came
    yield Step(
        f"Append messages of {entity}",
        f"INSERT INTO {table} ({names(columns)}, batch) SELECT {names(columns)}, {text(load)} FROM {name(came)}",
        history_table(entity),
        "insert",
        near=("row_key",),
    )
    yield from log_plan(entity, batch.placed)
    if batch.is_replay:
        yield from void_plan(entity)
    is_linked = batch.is_linked or batch.is_replay
    touched = _touched(table, batch.touching) if is_linked else _own_rows(batch.touching)
    yield temporary(StateTables(entity).touched, touched, f"Find the rows of {entity} that messages touch")


def _known_messages(history: EntityHistory, batch: Batch) -> Iterator[Step]:
    """Yield the steps that tell messages that are new from those that the history has."""
    entity, table = history.entity, name(history_table(history.entity))
    repeats, equal = batch.repeats, equal_content(history)
    once, came = batch.once, batch.came
    yield temporary(
        repeats,
        f"SELECT {names([*IDENTITY, 'publication', *_content(history), *_SOURCE], 's')} FROM {name(once)} AS s "
        f"JOIN ({greatest_query(entity)}) AS l ON l.schema = s.schema AND s.order_key <= l.greatest "
        f"JOIN {table} AS h ON {same_place('h', 's')} AND {equal}",
        f"Find messages of {entity} that are known",
    )
    yield temporary(
        came,
        f"""SELECT s.* FROM {name(once)} AS s
        WHERE NOT EXISTS (SELECT 1 FROM {name(repeats)} AS h WHERE {same_place("h", "s")} AND {equal})""",
        f"Find messages of {entity} that are new",
    )
    earlier = f"(s.seen_at < h.seen_at OR {_before('s', 'h')})"
    yield temporary(
        f"_earlier_{entity}",
        f"SELECT s.* FROM {name(repeats)} AS s JOIN {table} AS h ON {same_place('h', 's')} AND {equal} WHERE {earlier}",
        "Find repeats that were seen earlier",
    )
    position = ", ".join(f"{c} = CASE WHEN {_before('s', 'h')} THEN s.{c} ELSE h.{c} END" for c in _SOURCE[1:])
    yield Step(
        "Keep where and when messages were first seen",
        f"UPDATE {table} AS h SET seen_at = LEAST(h.seen_at, s.seen_at), {position} "
        f"FROM {name(f'_earlier_{entity}')} AS s WHERE {same_place('h', 's')} AND {equal}",
    )


def staged_columns(history: EntityHistory) -> list[str]:
    """Return the columns of a staged message."""
    return [*(column for column, _ in OWN_COLUMNS if column != "batch"), *(one.name for one in history.columns)]


def equal_content(history: EntityHistory) -> str:
    """Return the condition that two messages have one content."""
    return " AND ".join(f"h.{name(c)} IS NOT DISTINCT FROM s.{name(c)}" for c in _content(history))


def _before(one: str, other: str) -> str:
    """Return the condition that a message came before another, by its place in its topic or file."""
    log, partition, offset = ((f"{one}.{c}", f"{other}.{c}") for c in _SOURCE[1:])
    in_partition = f"{partition[0]} < {partition[1]} OR ({partition[0]} = {partition[1]} AND {offset[0]} < {offset[1]})"
    return f"({log[0]} < {log[1]} OR ({log[0]} = {log[1]} AND ({in_partition})))"


def _each_once(history: EntityHistory, columns: Sequence[str]) -> str:
    """Return the query for the batch without repeats; of the few that are there twice the content is compared."""
    staged, identity = name(staged_table(history.entity)), [*IDENTITY, "publication"]
    grouped = [c for c in columns if c not in (*_SOURCE, *_OUTER)]
    first = {c: first_of(c, _SOURCE[1:]) for c in (*_SOURCE[1:], *_OUTER)} | {"seen_at": "MIN(seen_at)"}
    listed = ", ".join(f"{first[c]} AS {name(c)}" if c in first else name(c) for c in columns)
    doubled = f"SELECT {names(identity)} FROM {staged} GROUP BY {names(identity)} HAVING COUNT(*) > 1"
    is_doubled = f"EXISTS (SELECT 1 FROM doubled AS d WHERE {same_place('d', 's')})"
    return f"""
        WITH doubled AS ({doubled})
        SELECT {names(columns)} FROM {staged} AS s WHERE NOT {is_doubled}
        UNION ALL
        SELECT {listed} FROM {staged} AS s WHERE {is_doubled} GROUP BY {names(grouped)}"""


def _own_rows(touching: Sequence[str]) -> str:
    """Return the query for touched rows where messages touch none but those of their keys."""
    came = " UNION ALL ".join(f"SELECT schema, row_key FROM {name(one)}" for one in touching)
    return f"SELECT DISTINCT schema, row_key, TRUE AS is_new FROM ({came}) AS c WHERE row_key IS NOT NULL"


def _touched(table: str, touching: Sequence[str]) -> str:
    """Return the query for touched rows: of messages, under old and new keys, and all that a truncate found."""
    came = " UNION ALL ".join(f"SELECT schema, row_key, op, order_key FROM {name(one)}" for one in touching)
    return f"""
        WITH RECURSIVE came AS ({came}), {_pairs(table)},
          reached AS (
            SELECT schema, row_key FROM came WHERE row_key IS NOT NULL
            UNION
            SELECT h.schema, h.row_key FROM {table} AS h JOIN came AS t ON t.op = 't' AND t.schema = h.schema
              AND h.row_key IS NOT NULL
            UNION
            SELECT p.schema, p.other FROM reached AS r JOIN pairs AS p ON p.schema = r.schema AND p.row_key = r.row_key)
        SELECT schema, row_key, TRUE AS is_new FROM reached"""


def _pairs(table: str) -> str:
    """Return the parts of a query for the keys that rows had one after the other, both ways."""
    return f"""linked AS (
            SELECT DISTINCT schema, row_key, old_key FROM {table} WHERE old_key IS NOT NULL AND row_key IS NOT NULL),
          pairs AS (
            SELECT schema, row_key, old_key AS other FROM linked UNION SELECT schema, old_key, row_key FROM linked)"""


def touch_linked(entity: str) -> Step:
    """Return the step that takes in what rows were under other keys, of those that were taken in with touched ones."""
    touched = name(StateTables(entity).touched)
    return Step(
        f"Take in what these rows of {entity} were before",
        f"""INSERT INTO {touched} SELECT q.schema, q.row_key, FALSE FROM (
          WITH RECURSIVE {_pairs(name(history_table(entity)))},
            reached AS (
              SELECT schema, row_key FROM {touched} WHERE NOT is_new
              UNION
              SELECT p.schema, p.other FROM reached AS r
              JOIN pairs AS p ON p.schema = r.schema AND p.row_key = r.row_key)
          SELECT schema, row_key FROM reached) AS q
        WHERE (q.schema, q.row_key) NOT IN (SELECT schema, row_key FROM {touched})""",
    )


def touched_by(history: EntityHistory, came: str) -> str:
    """Return the query for the rows that messages in a table touch."""
    return _touched(name(history_table(history.entity)), [came])


def touch_step(history: EntityHistory, came: str) -> Step:
    """Return the step that lists the rows which messages in a table touch."""
    title = f"Find the rows of {history.entity} that they touch"
    return temporary(StateTables(history.entity).touched, touched_by(history, came), title)


def all_touched(entity: str) -> Step:
    """Return the step that lists every row of an entity, as if all of it had just come."""
    query = (
        f"SELECT DISTINCT schema, row_key, TRUE AS is_new FROM {name(history_table(entity))} WHERE row_key IS NOT NULL"
    )
    return temporary(StateTables(entity).touched, query, f"Take all rows of {entity}")


def none_touched(entity: str) -> Step:
    """Return the step that lists no row of an entity."""
    query = f"SELECT schema, row_key, TRUE AS is_new FROM {name(history_table(entity))} WHERE FALSE"
    return temporary(StateTables(entity).touched, query, f"Take no row of {entity}")


def carried_query(entity: str) -> str:
    """Return the query for, of the messages of touched rows, what those of each schema do not carry."""
    messages = name(StateTables(entity).messages)
    return f"SELECT schema, absent FROM {messages} WHERE op IN ('r', 'c', 'u') GROUP BY schema, absent"


def truncated_query(entity: str) -> str:
    """Return the query whether the history has truncates, few of which stand beside many messages."""
    return f"SELECT EXISTS ({_truncates(entity)})"


def _truncates(entity: str) -> str:
    return f"SELECT 1 FROM {name(history_table(entity))} AS h WHERE h.op = 't'"


def contents_query(entity: str, *, are_once: bool, may_be_void: bool, is_truncated: bool) -> str:
    """Return the query whose row says what the messages of touched rows have in them, in the order of ``Contents``.

    Args:
        entity: its name.
        are_once: each identity is known to be in the history once.
        may_be_void: messages of touched rows may no longer count.
        is_truncated: the history has truncates, which are of all rows.
    """
    messages, truncates = name(StateTables(entity).messages), _truncates(entity)
    doubled = f"SELECT 1 FROM {messages} GROUP BY {names(['_n', 'op', 'order_key'])} HAVING COUNT(*) > 1"
    has_repeats = [] if are_once else [doubled]
    has_void = [f"SELECT 1 FROM {messages} AS h WHERE {is_void('h')}"] if may_be_void else []
    if is_truncated:
        has_void.append(f"{truncates} AND {is_void('h')}")
        if not are_once:
            has_repeats.append(f"{truncates} GROUP BY h.schema, h.order_key HAVING COUNT(*) > 1")
    found = (
        _any_exists(has_repeats),
        _any_exists(has_void),
        f"EXISTS (SELECT 1 FROM {messages} WHERE old_key IS NOT NULL)",
        f"EXISTS (SELECT 1 FROM {messages} WHERE op = 'd')",
        str(is_truncated).upper(),
    )
    return f"SELECT {', '.join(found)}"


def _any_exists(queries: Sequence[str]) -> str:
    return " OR ".join(f"EXISTS ({query})" for query in queries) or "FALSE"


def lacking_columns(columns: Sequence[str], carried: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the columns that some messages do not carry; arguments as of ``partial_columns``."""
    lacking = {column for _, absent in carried for column in absent}
    return tuple(column for column in columns if column in lacking)


def partial_columns(columns: Sequence[str], carried: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the columns that some messages of a schema carry and others do not.

    Args:
        columns: of the history.
        carried: schemas and what messages of them do not carry, each combination once.
    """
    by_schema: dict[str, list[set[str]]] = {}
    for schema, absent in carried:
        by_schema.setdefault(schema, []).append(set(absent))
    partial = {one for sets in by_schema.values() for some in sets for other in sets for one in some - other}
    return tuple(column for column in columns if column in partial)
