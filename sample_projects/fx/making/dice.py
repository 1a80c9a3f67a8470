"""Seeded values that look like those of a small bank, written as SQL literals."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK", "PLN", "CZK", "JPY")
COUNTRIES = ("DE", "FR", "NL", "ES", "IT", "PL", "SE", "AT", "BE", "CZ", "IE", "PT")
GIVEN = ("Ada", "Bruno", "Clara", "Dario", "Elin", "Filip", "Greta", "Hugo", "Ines", "Jonas", "Karla", "Lukas", "Mira")
FAMILY = ("Albers", "Brandt", "Costa", "Dubois", "Eriksson", "Ferrari", "Gruber", "Horvat", "Ivers", "Jansen", "Kowal")
FIRMS = ("Harbour", "Northwind", "Linden", "Meridian", "Quarry", "Sparrow", "Tidewater", "Vesper", "Walnut", "Zephyr")
TRADES = ("Logistics", "Foods", "Instruments", "Textiles", "Energy", "Printing", "Optics", "Timber")
STREETS = ("Mill Lane", "Station Road", "Harbour Street", "Oak Avenue", "Market Square", "Canal Bank")
REASONS = ("duplicate", "goods returned", "wrong amount", "not delivered", "goodwill", "O''Brien dispute")
SENTENCE = "The parties agree that the amount stated above is due on the value date and bears no interest until then. "


def quoted(text: str) -> str:
    """Write a text as an SQL literal; quotes inside are doubled already."""
    return f"'{text}'"


class Dice:
    """Throws values from one seed; business time goes on by itself.

    Every method returns an SQL literal.
    """

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)  # noqa: S311  the same data each time, no secrets
        self._now = datetime(2025, 1, 2, 8, tzinfo=UTC)
        self._serials: dict[str, int] = {}

    def pick(self, *choices: str) -> str:
        """One of the texts given."""
        return quoted(self.random.choice(choices))

    def serial(self, name: str, start: int) -> str:
        """The next number of a sequence."""
        self._serials[name] = self._serials.get(name, start - 1) + 1
        return str(self._serials[name])

    def between(self, low: int, high: int) -> str:
        """A whole number, ends included."""
        return str(self.random.randint(low, high))

    def decimal(self, low: int, high: int, digits: int) -> str:
        """A number with exactly so many digits after the point."""
        unit = 10**digits
        return str(Decimal(self.random.randint(low * unit, high * unit)).scaleb(-digits))

    def money(self) -> str:
        """An amount, mostly small, now and then large."""
        return self.decimal(1, self.random.choice((90, 900, 900, 25_000)), 2)

    def instant(self) -> str:
        """The business time, which moves on by seconds to hours."""
        self._now += timedelta(seconds=self.random.randint(20, 7_000), microseconds=self.random.randint(0, 999_999))
        return quoted(f"{self._now:%Y-%m-%d %H:%M:%S.%f}")

    def day(self, back_days: int = 400) -> str:
        """A day in the past of the business time."""
        return quoted((self._now - timedelta(days=self.random.randint(0, back_days))).date().isoformat())

    def birthday(self) -> str:
        """A day of birth, some before 1970."""
        return quoted((date(1948, 1, 1) + timedelta(days=self.random.randint(0, 20_000))).isoformat())

    def currency(self) -> str:
        """A currency code."""
        return self.pick(*CURRENCIES)

    def base_currency(self) -> str:
        """A currency that is priced."""
        return self.pick(*CURRENCIES[:4])

    def quote_currency(self) -> str:
        """A currency that pays, never a priced one."""
        return self.pick(*CURRENCIES[4:], "NOK", "DKK")

    def country(self) -> str:
        """A country code."""
        return self.pick(*COUNTRIES)

    def given_name(self) -> str:
        """A given name."""
        return self.pick(*GIVEN)

    def family_name(self) -> str:
        """A family name."""
        return self.pick(*FAMILY)

    def full_name(self) -> str:
        """Both names in one text."""
        return quoted(f"{self.random.choice(GIVEN)} {self.random.choice(FAMILY)}")

    def email(self) -> str:
        """A mail address at a domain nobody owns."""
        name, family = self.random.choice(GIVEN).lower(), self.random.choice(FAMILY).lower()
        return quoted(f"{name}.{family}{self.random.randint(1, 99)}@example.org")

    def firm(self) -> str:
        """A company's name."""
        return quoted(f"{self.random.choice(FIRMS)} {self.random.choice(TRADES)} Ltd")

    def code(self, letters: str, low: int, high: int) -> str:
        """A reference such as C-1187."""
        return quoted(f"{letters}-{self.random.randint(low, high)}")

    def uuid(self) -> str:
        """A random UUID of the seed."""
        return quoted(str(uuid.UUID(int=self.random.getrandbits(128), version=4)))

    def iban(self) -> str:
        """A text with the shape of an account number."""
        return quoted(
            f"{self.random.choice(COUNTRIES)}{self.random.randint(10, 99)}{self.random.randint(10**17, 10**18)}"
        )

    def flag(self, percent: int = 30) -> str:
        """A boolean, true in so many of a hundred."""
        return "true" if self.random.randint(1, 100) <= percent else "false"

    def reason(self) -> str:
        """Why money goes back."""
        return quoted(self.random.choice(REASONS))

    def lines(self) -> str:
        """An array of address lines, sometimes null."""
        if self.random.random() < 0.3:
            return "NULL"
        return (
            f"ARRAY['{self.random.choice(STREETS)} {self.random.randint(1, 140)}', 'Floor {self.random.randint(1, 9)}']"
        )

    def maybe(self, literal: str, percent: int) -> str:
        """The literal in so many of a hundred, else NULL."""
        return literal if self.random.randint(1, 100) <= percent else "NULL"

    def long_text(self, percent: int) -> str:
        """A text too large for its row (PostgreSQL moves it out), in so many of a hundred; else a short one or NULL."""
        drawn = self.random.randint(1, 100)
        if drawn > percent:
            return "NULL" if drawn % 3 else self.code("see contract", 100, 999)
        return quoted((SENTENCE * 30)[: self.random.randint(2_100, 2_300)])

    def limits(self) -> str:
        """A JSON document with limits."""
        return quoted(f'{{"daily": {self.random.randint(1, 50) * 100}, "online": {self.flag(70)}, "regions": ["EU"]}}')

    def curve(self) -> str:
        """A JSON document with a few points of a curve."""
        points = (f'{{"months": {months}, "rate": {self.decimal(0, 5, 4)}}}' for months in (1, 3, 6, 12, 60, 120))
        return quoted(f"[{', '.join(points)}]")
