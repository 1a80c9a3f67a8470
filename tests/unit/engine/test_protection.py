"""Settings that keep strangers out of a session, and what a person may say against them."""

from __future__ import annotations

import pytest

from metl_gui.core.runs.events import Protection
from metl_gui.engine.spark.protection import ASKING, HERE, protected, protecting_settings, protection_of


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4,2]"])
def test_a_job_submitted_on_this_computer_asks_for_a_secret_and_listens_here_alone(master: str) -> None:
    given = {"spark.master": master, "spark.ui.enabled": "true"}
    assert protecting_settings(given) == HERE | ASKING | given


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host"])
def test_a_job_submitted_elsewhere_asks_for_what_its_cluster_asks(master: str) -> None:
    assert protecting_settings({"spark.master": master}) == {"spark.master": master}


def test_a_setting_of_a_person_goes_before_ours() -> None:
    assert protected(ASKING, {"spark.network.crypto.enabled": "false"})["spark.network.crypto.enabled"] == "false"


def test_a_session_that_is_to_ask_for_nothing_encrypts_nothing_which_spark_would_refuse() -> None:
    assert protected(ASKING | {"a": "b"}, {"spark.authenticate": "false"}) == {"spark.authenticate": "false", "a": "b"}


@pytest.mark.parametrize(
    ("settings", "is_authenticated", "is_encrypted"),
    [
        ({}, False, False),
        ({"spark.authenticate": "TRUE"}, True, False),
        ({"spark.network.crypto.enabled": "true"}, False, False),
        (ASKING, True, True),
        ({"spark.authenticate": "true", "spark.authenticate.enableSaslEncryption": "true"}, True, True),
        ({"spark.ssl.rpc.enabled": "true"}, False, True),
    ],
)
def test_a_session_is_as_protected_as_its_settings_say(
    settings: dict[str, str], is_authenticated: bool, is_encrypted: bool
) -> None:
    expected = Protection(is_authenticated=is_authenticated, is_encrypted=is_encrypted)
    assert protection_of(settings.get) == expected
