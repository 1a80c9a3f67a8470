"""The ports that servers of ours listen at."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from metl_gui.stack import component
from metl_gui.stack.component import HOST, free_port


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the system says which ports it gives away."""
    found = tmp_path / "range"
    monkeypatch.setattr(component, "_GIVEN_PORTS", found)
    return found


def test_servers_get_no_port_that_somebody_who_connects_could_get(told: Path) -> None:
    told.write_text("20000 60999")
    ports = [free_port() for _ in range(50)]
    assert all(10_000 <= port < 20_000 for port in ports)
    assert len(set(ports)) > 45


def test_where_the_system_gives_nearly_all_ports_away_servers_get_one_of_these(told: Path) -> None:
    told.write_text("1024 65535")
    with socket.create_server((HOST, free_port())):
        pass


def test_a_port_that_is_taken_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as held:
        held.bind((HOST, free_port()))
        port = held.getsockname()[1]
        monkeypatch.setattr(component, "_FIRST_PORT", port)
        monkeypatch.setattr(component, "_PORT_TRIES", 2)
        monkeypatch.setattr(component, "_given_ports_start", lambda: port + 2)
        assert {free_port() for _ in range(10)} == {port + 1}


@pytest.mark.parametrize("said", ["", "none at all", "32768 60999"])
def test_where_the_system_does_not_say_what_it_gives_the_usual_is_taken(said: str, told: Path) -> None:
    told.write_text(said)
    assert component._given_ports_start() == 32_768
