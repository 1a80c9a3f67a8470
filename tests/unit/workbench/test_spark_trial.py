"""What the test of a profile says about strangers."""

from __future__ import annotations

import pytest

from metl_gui.core.runs.events import Protection
from metl_gui.core.runs.target import parse_target
from metl_gui.workbench.profiles.spark_test import protection_text

_OPEN = Protection()
_CLOSED = Protection(is_authenticated=True, is_encrypted=True)


@pytest.mark.parametrize("master", ["local[*]", "local-cluster[1,1,1024]", "spark://host:7077", "yarn", "sc://host"])
def test_a_session_that_is_closed_to_strangers_is_not_said_to_be_open(master: str) -> None:
    assert "Not" not in protection_text(parse_target(master), _CLOSED)


@pytest.mark.parametrize(
    ("master", "way_out"),
    [
        ("local[2]", "Leave spark.authenticate and spark.network.crypto.enabled out of the profile"),
        ("local-cluster[1,1,1024]", "Leave spark.authenticate"),
        ("spark://host:7077", "one spark.authenticate.secret, on the master, on the workers and in the profile"),
        ("yarn", "Spark makes the secret"),
        ("k8s://https://host", "Spark makes the secret"),
        ("sc://host", "SPARK_CONNECT_AUTHENTICATE_TOKEN"),
    ],
)
def test_a_session_that_is_open_is_told_with_the_way_out(master: str, way_out: str) -> None:
    said = protection_text(parse_target(master), _OPEN)
    assert "Not authenticated: whoever reaches" in said
    assert "Not encrypted: whoever is on the way reads along." in said
    assert way_out in said


def test_only_what_is_open_is_told() -> None:
    tokened = protection_text(parse_target("sc://host"), Protection(is_authenticated=True))
    assert "authenticated" not in tokened.lower().replace("spark_connect_authenticate_token", "")
    assert "use_ssl=true" in tokened
    in_tls = protection_text(parse_target("sc://host/;use_ssl=true"), Protection(is_encrypted=True))
    assert "encrypted" not in in_tls
    assert "--secret token" in in_tls
    plain = protection_text(parse_target("spark://host:7077"), Protection(is_authenticated=True))
    assert plain.startswith("Not encrypted")
