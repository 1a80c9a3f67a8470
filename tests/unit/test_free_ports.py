"""The ports that servers of ours listen at."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from metl_gui.stack import component
from metl_gui.stack.component import HOST, free_port


def test_servers_get_no_port_that_somebody_who_connects_could_get() -> None:
    given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()[0])
    ports = [free_port() for _ in range(50)]
    assert all(10_000 <= port < given for port in ports)
    assert len(set(ports)) > 45
    for port in ports:
        with socket.create_server((HOST, port)):
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
def test_where_the_system_does_not_say_what_it_gives_the_usual_is_taken(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "range"
    told.write_text(said)
    monkeypatch.setattr(component, "_GIVEN_PORTS", told)
    assert component._given_ports_start() == 32_768
