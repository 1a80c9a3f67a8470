"""The mapping that a person would make, and the CSV of it for every version.

Written by hand once per table and entity: for each CDM attribute the column that feeds it, with the names it has had.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TypeAlias

from making.history import Table
from making.services import SERVICES, WAITING

ENTITY_VERSION = "2.0.0"
HEADER = ("schema", "schema_version", "attribute", "entity", "entity_version", "cdm_attribute")
Feeds: TypeAlias = dict[str, tuple[str, ...]]

MAPPING: dict[tuple[str, str], Feeds] = {
    ("payments.orders", "payment"): {
        "payment_id": ("id",),
        "payer_id": ("customer_id",),
        "amount": ("amount",),
        "currency": ("currency",),
        "booked_at": ("created_at",),
        "status": ("status", "state"),
        "memo": ("memo",),
        "legacy_code": ("legacy_code",),
    },
    ("payments.orders", "ledger_entry"): {
        "amount": ("amount",),
        "currency": ("currency",),
        "booked_at": ("created_at",),
        "source.document": ("id",),
        "source.code": ("legacy_code",),
    },
    ("payments.refunds", "refund"): {
        "refund_id": ("id",),
        "payment_id": ("order_id",),
        "amount": ("amount",),
        "currency": ("currency",),
        "reason": ("reason", "reason_code"),
        "opened_at": ("created_at",),
    },
    ("payments.refunds", "ledger_entry"): {
        "amount": ("amount",),
        "purpose": ("reason", "reason_code"),
        "booked_at": ("created_at",),
        "source.document": ("id",),
    },
    ("payments.chargebacks", "refund"): {
        "refund_id": ("case_id",),
        "payment_id": ("order_id",),
        "amount": ("disputed",),
        "currency": ("currency",),
        "scheme": ("network", "scheme"),
        "opened_at": ("opened_on",),
    },
    ("customers.person", "customer"): {
        "customer_id": ("person_id",),
        "name.family": ("full_name", "family_name"),
        "name.given": ("given_name",),
        "email": ("email",),
        "address.country": ("country", "address.country"),
        "born_on": ("born",),
        "vip": ("vip",),
        "notes": ("notes",),
    },
    ("customers.company", "customer"): {
        "customer_id": ("company_id",),
        "name.family": ("legal_name",),
        "email": ("contact_email", "email"),
        "address.country": ("country",),
        "since": ("founded",),
    },
    ("customers.consent", "customer"): {
        "customer_id": ("person_id",),
        "consent.marketing": ("marketing",),
        "consent.given_at": ("given_at",),
    },
    ("accounts.account", "account"): {
        "account_id": ("id",),
        "iban": ("iban",),
        "product": ("type", "product"),
        "currency": ("currency",),
        "owner_id": ("owner_id",),
        "opened_on": ("opened_on",),
        "balance.amount": ("balance",),
        "blocked": ("blocked",),
    },
    ("accounts.holder", "customer"): {
        "customer_id": ("person_id",),
        "name.family": ("display_name", "printed_name"),
        "since": ("since",),
    },
    ("accounts.holder", "account"): {
        "account_id": ("account_id",),
        "owner_id": ("person_id",),
    },
    ("rates.daily", "rate"): {
        "base": ("base",),
        "quote": ("quote",),
        "value": ("rate",),
        "provider": ("source", "provider"),
        "valid.day": ("day",),
        "valid.fixed_at": ("fixed_at",),
    },
    ("rates.tick", "rate"): {
        "base": ("base",),
        "quote": ("quote",),
        "value": ("mid",),
        "provider": ("venue", "market"),
        "valid.observed_at": ("at",),
    },
    ("ledger.entry", "ledger_entry"): {
        "entry_id": ("entry_id",),
        "journal_id": ("journal_id",),
        "account_id": ("account_id",),
        "amount": ("amount",),
        "currency": ("currency",),
        "purpose": ("text", "purpose"),
        "booked_at": ("booked_on", "booked_at"),
        "value_on": ("value_on",),
    },
    ("ledger.entry", "account"): {
        "account_id": ("account_id",),
        "currency": ("currency",),
        "balance.amount": ("balance_after",),
    },
    ("ledger.journal", "ledger_entry"): {
        "journal_id": ("journal_id",),
        "amount": ("total",),
        "currency": ("currency",),
        "booked_at": ("posted_at", "closed_at"),
        "source.system": ("source",),
    },
    ("ledger.adjustment", "ledger_entry"): {
        "entry_id": ("entry_id",),
        "amount": ("delta", "difference"),
        "currency": ("currency",),
        "booked_at": ("made_at",),
        "source.document": ("adjustment_id",),
    },
}
"""``accounts.card`` and ``rates.curve`` are left out on purpose: nobody outside their teams needs them."""


def escaped(name: str) -> str:
    """Write a column name as a path of one part: a literal dot or backslash gets a backslash."""
    return name.replace("\\", "\\\\").replace(".", "\\.")


def elements(name: str, entity: str, table: Table, version: int) -> Iterator[tuple[str, str]]:
    """Return the pairs of attribute path and CDM attribute of one block."""
    columns = {column.name for column in table.columns_at(version)}
    for target, names in MAPPING[name, entity].items():
        present = [column for column in names if column in columns]
        if len(present) > 1:
            raise SystemExit(f"{name} {version} feeds {entity}.{target} twice: {present}")
        yield from ((escaped(column), target) for column in present)


def mapping_csv() -> str:
    """Return the mapping of every imported version as CSV."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(HEADER)
    tables = {f"{service.name}.{table.name}": table for service in SERVICES for table in service.tables}
    for name, entity in MAPPING:
        table = tables[name]
        imported = table.versions - (tuple(name.split(".")) == WAITING)
        for version in range(1, imported + 1):
            for attribute, target in elements(name, entity, table, version):
                rows.writerow((f"fx.{name}", version, attribute, entity, ENTITY_VERSION, target))
    return out.getvalue()
