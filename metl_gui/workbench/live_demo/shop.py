"""The shop of the live demo: its tables, what its customers do in them, and the releases of its services.

The tables and what happens in them are SQL, in ``sample_projects/shop``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from metl_gui.errors import SetupError
from metl_gui.workbench.components.postgres import PostgresServer

SERVICE = "shop"
"""What its topics begin with."""
TABLES = {
    "crm.customer": "customer",
    "sales.orders": "order",
    "sales.order_line": "order_line",
    "billing.payment": "payment",
}
"""Its tables, and the entities that their rows become."""
_TICK_SECONDS = 0.25
_PATIENCE = 40
_STEPS = 6


@dataclass(frozen=True, slots=True)
class Release:
    """A new release of one of its services.

    Args:
        service: whose.
        table: the table that it alters.
        script: the name of its SQL.
        says: what it changes, for people.
    """

    service: str
    table: str
    script: str
    says: str


ADDED_COLUMN = Release("sales", "sales.orders", "added-column", "orders have a new column, channel")
RENAMED_COLUMN = Release("crm", "crm.customer", "renamed-column", "customers have email_address where email was")


class Shop:
    """Tables in which something happens all the time.

    Args:
        postgres: the server they are in, already started.
        folder: where its SQL lies.
        steps: how many things customers and staff do four times a second.
    """

    def __init__(self, postgres: PostgresServer, folder: Path, steps: int = _STEPS) -> None:
        self._postgres = postgres
        self._folder = folder
        self._steps = steps
        self._ending = threading.Event()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self.error: SetupError | None = None
        """Why nothing happens any more."""

    def make(self) -> None:
        """Make the tables with some rows in them.

        Raises:
            SetupError: the server refuses them.
        """
        self._run("tables")

    def open(self) -> None:
        """Let things happen from now on."""
        self._thread = threading.Thread(target=self._do_business, name="shop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nothing happen any more."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def deploy(self, release: Release) -> None:
        """Deploy a release while things happen.

        Raises:
            SetupError: the server refuses it.
        """
        with self._turn:
            self._run(release.script)

    def counts(self) -> dict[str, int]:
        """Count the rows of each table now, by the entity that they become."""
        return {
            entity: self._postgres.number(f"SELECT count(*) FROM {table};")  # noqa: S608 - tables of ours
            for table, entity in TABLES.items()
        }

    def _run(self, script: str) -> None:
        self._postgres.execute((self._folder / "sql" / f"{script}.sql").read_text(encoding="utf-8"))

    def _do_business(self) -> None:
        failures = 0
        while not self._ending.wait(_TICK_SECONDS):
            try:
                with self._turn:
                    self._postgres.execute(f"CALL business({self._steps});")
                failures = 0
            except SetupError as error:  # the server may just be restarted by somebody who tries things
                failures += 1
                if failures >= _PATIENCE:
                    self.error = error
                    return
