"""The scripted work on one service's database: what is there at the start, then deployment after deployment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from making.dice import Dice
from making.history import Column, Service, Table

SEED = "fx 2025"
Key: TypeAlias = tuple[str, ...]


def quoted_names(names: tuple[str, ...]) -> str:
    """Write column names as SQL identifiers."""
    return ", ".join(f'"{name}"' for name in names)


class Rows:
    """One table as the workload knows it: which version it has and which keys are alive."""

    def __init__(self, service: str, table: Table, dice: Dice) -> None:
        self.table = table
        self.place = f'{service}."{table.name}"'
        self.version = 1
        self.alive: dict[Key, bool] = {}
        """Keys of the living rows, with whether a large text lies out of line."""
        self._dice = dice

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns as they are now."""
        return self.table.columns_at(self.version)

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns as they are now."""
        return self.table.key_at(self.version)

    def create(self) -> str:
        """Return the SQL that makes the table and fills it for the snapshot."""
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        key = f", PRIMARY KEY ({quoted_names(self.key)})" if self.key else ""
        lines = [f"CREATE TABLE {self.place} ({columns}{key});"]
        lines += [
            f'ALTER TABLE {self.place} ALTER COLUMN "{column.name}" SET STORAGE EXTERNAL;'
            for column in self.columns
            if column.external
        ]
        if self.table.full:
            lines.append(f"ALTER TABLE {self.place} REPLICA IDENTITY FULL;")
        return "\n".join(lines + [self.insert() for _ in range(self.table.rows)])

    def alter(self) -> str:
        """Return the SQL of the deployment that makes the next version."""
        steps = self.table.steps[self.version - 1]
        self.version += 1
        clauses = "\n".join(f"ALTER TABLE {self.place} {step.sql()};" for step in steps)
        return f"BEGIN;\n{clauses}\nCOMMIT;"

    def insert(self) -> str:
        """Return an INSERT of a row whose key is free."""
        while True:
            values = {column.name: column.maker(self._dice) for column in self.columns}
            key = tuple(values[name] for name in self.key)
            if not key or key not in self.alive:
                break
        if key:
            self.alive[key] = any(len(values[column.name]) > 2_000 for column in self.columns if column.external)
        names, literals = quoted_names(tuple(values)), ", ".join(values.values())
        return f"INSERT INTO {self.place} ({names}) VALUES ({literals});"  # noqa: S608  our own words

    def _where(self, key: Key) -> str:
        return " AND ".join(f'"{name}" = {value}' for name, value in zip(self.key, key, strict=True))

    def update(self) -> str:
        """Return an UPDATE of one or two columns of a living row; large texts stay as they are."""
        key = self._dice.random.choice(list(self.alive))
        free = [column for column in self.columns if column.name not in self.key and not column.external]
        chosen = self._dice.random.sample(free, min(len(free), self._dice.random.randint(1, 2)))
        changes = ", ".join(f'"{column.name}" = {column.maker(self._dice)}' for column in chosen)
        return f"UPDATE {self.place} SET {changes} WHERE {self._where(key)};"  # noqa: S608  our own words

    def delete(self) -> str:
        """Return a DELETE of a living row."""
        key = self._dice.random.choice(list(self.alive))
        del self.alive[key]
        return f"DELETE FROM {self.place} WHERE {self._where(key)};"  # noqa: S608  our own words

    def change_key(self) -> str:
        """Return an UPDATE that gives a row another key, one with a large text if there is any."""
        key = next((key for key, large in self.alive.items() if large), next(iter(self.alive)))
        new = str(int(key[0]) + 5_000_000)
        self.alive[(new, *key[1:])] = self.alive.pop(key)
        return f'UPDATE {self.place} SET "{self.key[0]}" = {new} WHERE {self._where(key)};'  # noqa: S608  our own words

    def truncate(self) -> str:
        """Return a TRUNCATE."""
        self.alive.clear()
        return f"TRUNCATE {self.place};"

    def change(self) -> str:
        """Return one change, of the kind that chance picks; a table without key is only ever added to."""
        drawn = self._dice.random.randint(1, 100)
        if drawn <= 48 or not self.key or len(self.alive) < 5:
            return self.insert()
        return self.update() if drawn <= 88 else self.delete()


def phase(service: Service, tables: list[Rows], number: int, dice: Dice) -> str:
    """Return the SQL of one deployment and the work after it; it prints the id of its last transaction."""
    lines = [rows.alter() for rows in tables if number > 1 and rows.version < min(number, rows.table.versions)]
    turns = [rows for rows in tables for _ in range(rows.table.changes // service.phases)]
    dice.random.shuffle(turns)
    work = [rows.change() for rows in turns]
    work += [rows.change_key() for rows in tables if number in rows.table.key_changes_at]
    work += [rows.truncate() for rows in tables if number in rows.table.truncated_at]
    if number == service.phases:
        work.append(f"SELECT pg_logical_emit_message(true, 'audit', 'books of {service.name} closed') IS NULL;")
    work += [rows.insert() for rows in tables]
    lines += [f"BEGIN;\n{chunk}\nCOMMIT;" for chunk in transactions(work[: -len(tables)], dice)]
    last = "\n".join(work[-len(tables) :])
    return "\n".join([*lines, f"BEGIN;\n{last}\nSELECT txid_current();\nCOMMIT;"])


def transactions(work: list[str], dice: Dice) -> Iterator[str]:
    """Cut the work into transactions of one to sixteen statements."""
    start = 0
    while start < len(work):
        size = dice.random.choice((1, 4, 8, 8, 12, 16))
        yield "\n".join(work[start : start + size])
        start += size


def script(service: Service) -> tuple[str, list[str], int]:
    """Return a service's whole work.

    Returns:
        the SQL before the engine starts, the SQL of each phase, and how many rows the snapshot has.
    """
    dice = Dice(f"{SEED} {service.name}")
    tables = [Rows(service.name, table, dice) for table in service.tables]
    before = "\n".join([f"CREATE SCHEMA {service.name};", *(rows.create() for rows in tables)])
    phases = [phase(service, tables, number, dice) for number in range(1, service.phases + 1)]
    return before, phases, sum(table.rows for table in service.tables)
