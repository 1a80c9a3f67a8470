"""What a load into a warehouse did, in counts that add up.

Messages = appended + repeated + void + set aside; keys = changed + same.

Source: docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

from typing import Any

import msgspec

from metl_gui.errors import BugError


class TableCounts(msgspec.Struct, kw_only=True):
    """What a load did to a table, in rows.

    Args:
        inserted: new rows.
        updated: rows of which a value differs.
        removed: rows that are no longer.
        closed: of the updated ones, versions that got an end.
    """

    inserted: int = 0
    updated: int = 0
    closed: int = 0
    removed: int = 0

    @property
    def words(self) -> str:
        """Return the counts for people to read."""
        closed = f" ({self.closed:,} closed)" if self.closed else ""
        return f"{self.inserted:,} inserted, {self.updated:,} updated{closed}, {self.removed:,} removed"


class KeyCounts(msgspec.Struct, kw_only=True):
    """Business keys and grains whose rows were made anew.

    Args:
        changed: some row differed.
        same: none did.
    """

    changed: int = 0
    same: int = 0


class LoadReport(msgspec.Struct, kw_only=True):
    """What a load did.

    Args:
        load: its name.
        messages: staged.
        appended: to the histories.
        repeated: known before, or twice in the batch.
        void: of no account, as a later publication covered where they lie, or their key was forgotten.
        set_aside: could not be stored.
        keys: made anew.
        tables: by name.
        waiting: facts that wait for their members.
        tests: declared ones that rows broke, as “TABLE: RULE”, each with the number of rows after the load.
        is_repeated: the load was done before; these are the counts of then.
        forgotten: of the void ones, those whose key was forgotten: nothing of them is kept. The others are appended.
        purged: messages that were taken out of the target.
        no_business_key: by schema, messages of which some table has no row, as a part of its key is null.
        ambiguous_order: by schema, messages that say something else than others at their place in the log.
    """

    load: str
    messages: int = 0
    appended: int = 0
    repeated: int = 0
    void: int = 0
    set_aside: int = 0
    keys: KeyCounts = msgspec.field(default_factory=KeyCounts)
    tables: dict[str, TableCounts] = {}
    waiting: int = 0
    tests: dict[str, int] = {}
    is_repeated: bool = False
    forgotten: int = 0
    purged: int = 0
    no_business_key: dict[str, int] = {}
    ambiguous_order: dict[str, int] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person should look into, a sentence each."""
        keyless, places = self.no_business_key.items(), self.ambiguous_order.items()
        broken = ((test, f"{rows:,} row{'' if rows == 1 else 's'}") for test, rows in self.tests.items())
        return (
            *(f"Test broken by {rows}: {test}." for test, rows in broken),
            *(f"{schema}: messages with a null in their key, which make no row: {n:,}." for schema, n in keyless),
            *(f"{schema}: messages that contradict others at one place of the log: {n:,}." for schema, n in places),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse load``."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def check_balance(report: LoadReport) -> None:
    """Prove that each message is counted once, and each key that was looked at.

    Raises:
        BugError: a sum is off; then nothing of the load is kept.
    """
    parts = {count: getattr(report, count) for count in ("appended", "repeated", "void", "set_aside")}
    counts = {**parts, "changed": report.keys.changed, "same": report.keys.same}
    if sum(parts.values()) != report.messages or min(counts.values()) < 0:
        listed = ", ".join(f"{count}: {number}" for count, number in counts.items())
        raise BugError(f"the counts of the load do not add up: messages: {report.messages}, {listed}")
