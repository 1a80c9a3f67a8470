"""What stands in kept files for the computer that they were made on."""

from __future__ import annotations

ROOT = "/kept/root"
"""The folder that everything lay in."""

BROKER = "kept.invalid:9092"
"""The Kafka servers."""

HOST = "kept-host"
"""The name of the computer."""

MACHINE = "kept-machine"
"""What tells this start of the computer from others."""
