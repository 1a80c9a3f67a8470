"""Numbers as people read them."""

from __future__ import annotations


def amount(value: float) -> str:
    """Write a number for people: 812 k, 3.66 M."""
    for least, unit in ((1e6, " M"), (1e4, " k")):
        if value >= least:
            return f"{value / (1e6 if unit == ' M' else 1e3):,.3g}{unit}"
    return f"{value:,.0f}"
