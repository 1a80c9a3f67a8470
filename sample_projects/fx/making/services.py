"""The five services and the history of their fifteen tables.

A column that is mapped and comes or goes is NOT NULL, so that a message without schema fits the versions that have it
and no other. ``ledger.adjustment`` breaks that habit, as somebody always does: its first messages fit two versions.
"""

from __future__ import annotations

from making.dice import Dice
from making.history import Add, Column, Drop, Rename, Retype, Service, Table

ORDERS = Table(
    "orders",
    (
        Column("id", "bigint NOT NULL", lambda dice: dice.serial("orders", 90_001)),
        Column("customer_id", "varchar(20) NOT NULL", lambda dice: dice.code("C", 1000, 1400)),
        Column("amount", "numeric(18,2) NOT NULL", Dice.money),
        Column("currency", "char(3) NOT NULL", Dice.currency),
        Column("legacy_code", "varchar(16) NOT NULL", lambda dice: dice.code("L", 10, 99)),
        Column("created_at", "timestamp NOT NULL", Dice.instant),
        Column("memo", "text", lambda dice: dice.long_text(7), external=True),
        Column("status", "varchar(12) NOT NULL", lambda dice: dice.pick("new", "paid", "sent", "held")),
    ),
    ("id",),
    (
        (Retype("created_at", "timestamptz", "created_at AT TIME ZONE 'UTC'"),),
        (Rename("status", "state"), Add(Column("settled", "boolean NOT NULL DEFAULT false", Dice.flag))),
        (Add(Column("risk_score", "smallint", lambda dice: dice.maybe(dice.between(0, 999), 60))),),
        (
            Rename("customer_id", "customer_ref"),
            Drop("legacy_code"),
            Add(
                Column(
                    "channel",
                    "varchar(12) NOT NULL DEFAULT 'web'",
                    lambda dice: dice.pick("web", "app", "branch", "api"),
                )
            ),
        ),
    ),
    rows=90,
    changes=700,
    key_changes_at=(2, 5),
    time_zone="UTC",
)

REFUNDS = Table(
    "refunds",
    (
        Column("id", "bigint NOT NULL", lambda dice: dice.serial("refunds", 5_001)),
        Column("order_id", "bigint NOT NULL", lambda dice: dice.between(90_001, 90_400)),
        Column("amount", "numeric(12,2) NOT NULL", Dice.money),
        Column("reason", "text NOT NULL", Dice.reason),
        Column("created_at", "timestamptz NOT NULL", Dice.instant),
    ),
    ("id",),
    (
        (Add(Column("currency", "char(3) NOT NULL DEFAULT 'EUR'", Dice.currency)),),
        (Rename("reason", "reason_code"),),
        (Retype("amount", "numeric(18,4)", maker=lambda dice: dice.decimal(1, 900, 4)),),
        (Add(Column("approved_by", "uuid", lambda dice: dice.maybe(dice.uuid(), 70))),),
    ),
    rows=15,
    changes=90,
)

CHARGEBACKS = Table(
    "chargebacks",
    (
        Column("case_id", "uuid NOT NULL", Dice.uuid),
        Column("order_id", "integer NOT NULL", lambda dice: dice.between(90_001, 90_400)),
        Column("disputed", "numeric(18,2) NOT NULL", Dice.money),
        Column("currency", "char(3) NOT NULL", Dice.currency),
        Column("network", "text NOT NULL", lambda dice: dice.pick("card", "sepa", "swift")),
        Column("opened_on", "date NOT NULL", Dice.day),
    ),
    ("case_id",),
    (
        (Retype("order_id", "bigint"),),
        (Add(Column("evidence", "jsonb", lambda dice: dice.maybe(dice.limits(), 50))),),
        (Rename("network", "scheme"), Retype("opened_on", "timestamptz", maker=Dice.instant)),
    ),
    rows=30,
    changes=190,
    truncated_at=(2,),
)

PERSON = Table(
    "person",
    (
        Column("person_id", "integer NOT NULL", lambda dice: dice.serial("person", 1_001)),
        Column("full_name", "text NOT NULL", Dice.full_name),
        Column("email", "text NOT NULL", Dice.email),
        Column("country", "char(2) NOT NULL", Dice.country),
        Column("born", "date NOT NULL", Dice.birthday),
        Column("notes", "text", lambda dice: dice.long_text(5), external=True),
    ),
    ("person_id",),
    (
        (Retype("person_id", "bigint"),),
        (
            Rename("full_name", "family_name"),
            Add(Column("given_name", "text NOT NULL DEFAULT 'unknown'", Dice.given_name)),
        ),
        (Add(Column("vip", "boolean NOT NULL DEFAULT false", lambda dice: dice.flag(8))),),
        (Drop("born"),),
        (Rename("country", "address.country"),),
        (Add(Column("address_lines", "text[]", Dice.lines)),),
    ),
    rows=80,
    changes=500,
)

COMPANY = Table(
    "company",
    (
        Column("company_id", "bigint NOT NULL", lambda dice: dice.serial("company", 700_001)),
        Column("legal_name", "text NOT NULL", Dice.firm),
        Column("contact_email", "text NOT NULL", Dice.email),
        Column("country", "char(2) NOT NULL", Dice.country),
        Column("founded", "integer NOT NULL", lambda dice: dice.between(1890, 2024)),
        Column("turnover", "numeric(18,2)", lambda dice: dice.maybe(dice.decimal(10_000, 90_000_000, 2), 80)),
    ),
    ("company_id",),
    (
        (Add(Column("lei", "char(20)", lambda dice: dice.maybe(dice.code("5299", 10**12, 10**13), 60))),),
        (Retype("founded", "date", "make_date(founded, 1, 1)", Dice.birthday),),
        (Rename("contact_email", "email"),),
        (Drop("turnover"), Add(Column("listed", "boolean NOT NULL DEFAULT false", Dice.flag))),
    ),
    rows=40,
    changes=230,
    key_changes_at=(3,),
)

CONSENT = Table(
    "consent",
    (
        Column("consent_id", "uuid NOT NULL", Dice.uuid),
        Column("person_id", "integer NOT NULL", lambda dice: dice.between(1_001, 1_200)),
        Column("marketing", "boolean NOT NULL", Dice.flag),
        Column("given_at", "timestamp NOT NULL", Dice.instant),
    ),
    ("consent_id",),
    (
        (Retype("person_id", "bigint"),),
        (Add(Column("source", "text", lambda dice: dice.pick("web", "branch", "phone"))),),
        (Retype("given_at", "timestamptz", "given_at AT TIME ZONE 'UTC'"),),
    ),
    rows=12,
    changes=60,
    time_zone="UTC",
)

ACCOUNT = Table(
    "account",
    (
        Column("id", "bigint NOT NULL", lambda dice: dice.serial("account", 40_001)),
        Column("iban", "varchar(34) NOT NULL", Dice.iban),
        Column("type", "varchar(12) NOT NULL", lambda dice: dice.pick("current", "savings", "margin")),
        Column("currency", "char(3) NOT NULL", Dice.currency),
        Column("opened_on", "date NOT NULL", Dice.day),
        Column("balance", "numeric(14,2) NOT NULL", lambda dice: dice.decimal(-500, 60_000, 2)),
        Column("owner_id", "integer NOT NULL", lambda dice: dice.between(1_001, 1_200)),
    ),
    ("id",),
    (
        (Retype("owner_id", "bigint"),),
        (Rename("type", "product"),),
        (Retype("balance", "numeric(18,4)", maker=lambda dice: dice.decimal(-500, 60_000, 4)),),
        (Add(Column("blocked", "boolean NOT NULL DEFAULT false", lambda dice: dice.flag(5))),),
        (Add(Column("limits", "jsonb", lambda dice: dice.maybe(dice.limits(), 60))),),
    ),
    rows=70,
    changes=430,
    full=True,
    key_changes_at=(2, 4),
)

HOLDER = Table(
    "holder",
    (
        Column("account_id", "bigint NOT NULL", lambda dice: dice.between(40_001, 40_150)),
        Column("person_id", "integer NOT NULL", lambda dice: dice.between(1_001, 1_200)),
        Column("display_name", "text NOT NULL", Dice.full_name),
        Column("role", "varchar(10) NOT NULL", lambda dice: dice.pick("owner", "proxy", "heir")),
        Column("since", "date NOT NULL", Dice.day),
    ),
    ("account_id", "person_id"),
    (
        (Retype("person_id", "bigint"),),
        (Rename("display_name", "printed_name"),),
        (Drop("role"), Add(Column("share", "real", lambda dice: dice.decimal(0, 1, 3)))),
    ),
    rows=40,
    changes=240,
)

CARD = Table(
    "card",
    (
        Column("card_id", "uuid NOT NULL", Dice.uuid),
        Column("account_id", "integer NOT NULL", lambda dice: dice.between(40_001, 40_150)),
        Column("number_hash", "bytea NOT NULL", lambda dice: f"decode(md5({dice.uuid()}), 'hex')"),
        Column("expires", "date NOT NULL", Dice.day),
        Column("pin_tries", "smallint NOT NULL", lambda dice: dice.between(0, 3)),
    ),
    ("card_id",),
    (
        (Retype("account_id", "bigint"),),
        (Add(Column("wallet", "varchar(10)", lambda dice: dice.maybe(dice.pick("apple", "google"), 40))),),
        (Drop("pin_tries"),),
        (Rename("expires", "valid_until"),),
    ),
    rows=25,
    changes=140,
)

DAILY = Table(
    "daily",
    (
        Column("base", "char(3) NOT NULL", Dice.base_currency),
        Column("quote", "char(3) NOT NULL", Dice.quote_currency),
        Column("day", "date NOT NULL", Dice.day),
        Column("rate", "double precision NOT NULL", lambda dice: dice.decimal(0, 3, 6)),
        Column("source", "varchar(8) NOT NULL", lambda dice: dice.pick("ECB", "SNB", "NBP", "desk")),
    ),
    ("base", "quote", "day"),
    (
        (Retype("rate", "numeric(18,8)", maker=lambda dice: dice.decimal(0, 3, 8)),),
        (Rename("source", "provider"),),
        (Add(Column("fixed_at", "timestamptz NOT NULL DEFAULT '2025-01-02 13:15:00+00'", Dice.instant)),),
        (Add(Column("bid", "numeric", lambda dice: dice.decimal(0, 3, dice.random.randint(2, 9)))),),
        (Drop("bid"), Add(Column("final", "boolean NOT NULL DEFAULT true", lambda dice: dice.flag(90)))),
    ),
    rows=100,
    changes=520,
)

TICK = Table(
    "tick",
    (
        Column("base", "char(3) NOT NULL", Dice.base_currency),
        Column("quote", "char(3) NOT NULL", Dice.quote_currency),
        Column("mid", "numeric(18,6) NOT NULL", lambda dice: dice.decimal(0, 3, 6)),
        Column("at", "timestamp NOT NULL", Dice.instant),
        Column("venue", "text NOT NULL", lambda dice: dice.pick("alpha", "bravo", "delta")),
    ),
    (),
    (
        (Retype("mid", "numeric(18,8)", maker=lambda dice: dice.decimal(0, 3, 8)),),
        (Rename("venue", "market"),),
        (Add(Column("volume", "bigint", lambda dice: dice.maybe(dice.between(1, 10**15), 70))),),
    ),
    rows=60,
    changes=1_450,
    truncated_at=(2, 4),
    time_zone="UTC",
)

CURVE = Table(
    "curve",
    (
        Column("curve_id", "integer NOT NULL", lambda dice: dice.serial("curve", 1)),
        Column("name", "text NOT NULL", lambda dice: dice.pick("estr", "sofr", "sonia", "saron")),
        Column("points", "json NOT NULL", Dice.curve),
        Column("built_at", "timestamptz NOT NULL", Dice.instant),
    ),
    ("curve_id",),
    (
        (Retype("curve_id", "bigint"),),
        (Add(Column("method", "text", lambda dice: dice.pick("linear", "spline"))),),
        (Rename("name", "index_name"),),
    ),
    rows=20,
    changes=120,
    truncated_at=(3,),
)

ENTRY = Table(
    "entry",
    (
        Column("entry_id", "integer NOT NULL", lambda dice: dice.serial("entry", 200_001)),
        Column("journal_id", "integer NOT NULL", lambda dice: dice.between(8_001, 8_120)),
        Column("account_id", "bigint NOT NULL", lambda dice: dice.between(40_001, 40_150)),
        Column("amount", "numeric(14,2) NOT NULL", lambda dice: dice.decimal(-9_000, 9_000, 2)),
        Column("currency", "char(3) NOT NULL", Dice.currency),
        Column("text", "text NOT NULL", lambda dice: dice.pick("salary", "rent", "fee", "interest", "transfer")),
        Column("booked_on", "date NOT NULL", Dice.day),
    ),
    ("entry_id",),
    (
        (Retype("entry_id", "bigint"),),
        (Add(Column("value_on", "date NOT NULL DEFAULT '2025-01-02'", Dice.day)),),
        (Rename("text", "purpose"),),
        (Retype("amount", "numeric(18,4)", maker=lambda dice: dice.decimal(-9_000, 9_000, 4)),),
        (Add(Column("balance_after", "numeric(18,4) NOT NULL DEFAULT 0", lambda dice: dice.decimal(-500, 60_000, 4))),),
        (Rename("booked_on", "booked_at"), Retype("booked_at", "timestamptz", maker=Dice.instant)),
        (Add(Column("cost_centre", "varchar(8)", lambda dice: dice.maybe(dice.code("K", 100, 400), 50))),),
    ),
    rows=100,
    changes=600,
)

JOURNAL = Table(
    "journal",
    (
        Column("journal_id", "bigint NOT NULL", lambda dice: dice.serial("journal", 8_001)),
        Column("source", "varchar(12) NOT NULL", lambda dice: dice.pick("orders", "refunds", "rates", "manual")),
        Column("total", "numeric(18,2) NOT NULL", Dice.money),
        Column("currency", "char(3) NOT NULL", Dice.currency),
        Column("posted_at", "timestamp NOT NULL", Dice.instant),
    ),
    ("journal_id",),
    (
        (Rename("posted_at", "closed_at"),),
        (Add(Column("four_eyes", "uuid", lambda dice: dice.maybe(dice.uuid(), 50))),),
        (Retype("closed_at", "timestamptz", "closed_at AT TIME ZONE 'UTC'"),),
    ),
    rows=40,
    changes=210,
    time_zone="UTC",
)

ADJUSTMENT = Table(
    "adjustment",
    (
        Column("adjustment_id", "bigint NOT NULL", lambda dice: dice.serial("adjustment", 301)),
        Column("entry_id", "bigint NOT NULL", lambda dice: dice.between(200_001, 200_300)),
        Column("delta", "numeric(18,2) NOT NULL", lambda dice: dice.decimal(-50, 50, 2)),
        Column("made_at", "timestamptz NOT NULL", Dice.instant),
    ),
    ("adjustment_id",),
    (
        (Add(Column("currency", "char(3)", lambda dice: dice.maybe(dice.currency(), 80))),),
        (Rename("delta", "difference"),),
        (Add(Column("approved", "boolean NOT NULL DEFAULT false", Dice.flag)),),
    ),
    rows=10,
    changes=90,
)

SERVICES = (
    Service("payments", "NUMERIC", (ORDERS, REFUNDS, CHARGEBACKS)),
    Service("customers", "NUMERIC", (PERSON, COMPANY, CONSENT)),
    Service("accounts", "NUMERIC", (ACCOUNT, HOLDER, CARD)),
    Service("rates", "NUMERIC", (DAILY, TICK, CURVE)),
    Service("ledger", "BASE64", (ENTRY, JOURNAL, ADJUSTMENT)),
)

WAITING = ("payments", "orders")
"""The table whose newest version is left out of ``schemas``: it waits to be imported."""
