"""Connection profiles: kept for their owner, with secrets in the keyring or the environment and nowhere else."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring import set_keyring
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from metl_gui.core.runs.target import TargetKind as SparkKind
from metl_gui.errors import RunError, UserError
from metl_gui.own_files import settings_folder
from metl_gui.workbench.profiles.connection_test import test_profile
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import (
    KEYRING,
    Profile,
    find_database,
    find_kafka,
    find_profile,
    find_registry,
    find_target,
    kafka_servers,
    profiles,
    remove_profile,
    save_profile,
    shared_folder,
)
from tests.helpers.keyrings import MemoryKeyring, keyring_in_memory


@pytest.fixture(autouse=True)
def keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MemoryKeyring]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with keyring_in_memory() as found:
        yield found


def everything_written() -> bytes:
    return b"".join(path.read_bytes() for path in settings_folder().rglob("*") if path.is_file())


def test_a_profile_comes_back_as_it_was_kept_and_replaces_one_of_its_name() -> None:
    settings = (("spark.cores.max", "4"), ("spark.a", "x=y"))
    lab = Profile(name="lab", target="spark://a:7077,b:7077", settings=settings, folder="/shared")
    assert save_profile(lab) == lab
    save_profile(Profile(name="Cloud", target="sc://host"))
    assert [profile.name for profile in profiles()] == ["Cloud", "lab"]
    assert find_profile("@lab") == lab
    save_profile(Profile(name="lab", target="yarn"))
    assert [profile.target for profile in profiles()] == ["sc://host:15002", "yarn"]
    assert (shared_folder("@lab"), shared_folder("local[2]")) == ("", "")


def test_a_target_of_a_profile_has_its_settings_and_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_KEY", "from the environment")
    secrets = (("spark.hadoop.fs.s3a.secret.key", "env:LAKE_KEY"), ("token", KEYRING))
    made = Profile(name="cloud", target="sc://h:1/;use_ssl=true", settings=(("spark.a", "b"),), secrets=secrets)
    save_profile(made, {"token": "from the keyring"})
    target = find_target(" @cloud ")
    assert target.kind is SparkKind.CONNECT
    assert target.settings == (("spark.a", "b"),)
    assert target.secret_settings == (("spark.hadoop.fs.s3a.secret.key", "from the environment"),)
    assert target.connect_url == "sc://h:1/;use_ssl=true;token=from%20the%20keyring"
    assert target.shown == "@cloud (sc://h:1/;use_ssl=true)"
    assert find_target("local[3]").master == "local[3]"


def test_no_secret_is_in_a_file_and_the_file_is_for_its_owner_only(keyring: MemoryKeyring) -> None:
    kept = save_profile(Profile(name="cloud", target="sc://h:1/;token=hunter2;use_ssl=true"))
    assert kept.target == "sc://h:1/;use_ssl=true"
    assert kept.secrets == (("token", KEYRING),)
    assert list(keyring.kept.values()) == ["hunter2"]
    assert b"hunter2" not in everything_written()
    assert stat.S_IMODE((settings_folder() / "profiles.json").stat().st_mode) == 0o600
    assert [path.name for path in settings_folder().iterdir()] == ["profiles.json"]


def test_a_disk_that_is_full_keeps_the_profiles_as_they_were_and_no_part_beside_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = save_profile(Profile(name="here", target="local[2]"))

    def full(_self: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RunError, match="cannot be kept"):
        save_profile(Profile(name="there", target="local[4]"))
    assert profiles() == (kept,)
    assert [path.name for path in settings_folder().iterdir()] == ["profiles.json"]


def test_a_secret_that_is_kept_need_not_be_given_again_and_goes_with_its_profile(keyring: MemoryKeyring) -> None:
    made = Profile(name="cloud", target="sc://h:1", secrets=(("token", KEYRING),))
    with pytest.raises(RunError, match="token of @cloud is missing"):
        save_profile(made)
    save_profile(made, {"token": "t1"})
    save_profile(Profile(name="cloud", target="sc://other:1", secrets=(("token", KEYRING),)))
    assert dict(find_target("@cloud").secrets) == {"token": "t1"}
    remove_profile("cloud")
    assert keyring.kept == {}
    assert profiles() == ()
    save_profile(made, {"token": "t1"})
    save_profile(Profile(name="cloud", target="sc://h:1"))
    assert keyring.kept == {}


@pytest.mark.parametrize("backend", [null.Keyring, fail.Keyring])
@pytest.mark.usefixtures("keyring")
def test_a_keyring_that_keeps_nothing_is_found_out_when_a_secret_is_given(backend: type[KeyringBackend]) -> None:
    set_keyring(backend())
    with pytest.raises(RunError) as caught:
        save_profile(Profile(name="c", target="sc://h:1", secrets=(("token", "keyring"),)), {"token": "hunter2"})
    assert "env:NAME" in caught.value.hint
    assert "hunter2" not in str(caught.value)
    assert profiles() == ()


def test_a_locked_keyring_is_explained_and_nothing_is_kept(keyring: MemoryKeyring) -> None:
    keyring.is_locked = True
    with pytest.raises(RunError, match="keyring cannot be used") as caught:
        save_profile(Profile(name="cloud", target="sc://h:1", secrets=(("token", KEYRING),)), {"token": "hunter2"})
    assert "env:NAME" in caught.value.hint
    assert "hunter2" not in str(caught.value)
    assert profiles() == ()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "../up"}, "cannot be the name"),
        ({"name": ""}, "cannot be the name"),
        ({"target": "nowhere"}, "target is not known"),
        ({"target": "@other"}, "stands for no target"),
        ({"settings": (("executor.memory", "1g"),)}, "no setting of Spark"),
        ({"settings": (("spark.master", "yarn"),)}, "cannot be set in a profile"),
        ({"settings": (("spark.submit.deployMode", "cluster"),)}, "cannot be set in a profile"),
        ({"settings": (("spark.ssl.keyStorePassword", "abc"),)}, "holds a secret"),
        ({"settings": (("spark.a", "b\nspark.c=d"),)}, "value of spark.a"),
        ({"settings": (("spark.a", "1"), ("spark.a", "2"))}, "set twice"),
        ({"secrets": (("pass word", "env:X"),)}, "name of a secret"),
        ({"secrets": (("spark.password", "file:/x"),)}, "place of a secret"),
    ],
)
def test_what_cannot_be_a_profile_is_refused_and_not_kept(wrong: dict[str, object], said: str) -> None:
    facts: dict[str, object] = {"name": "lab", "target": "spark://h:1"}
    with pytest.raises(RunError, match=said) as caught:
        save_profile(Profile(**(facts | wrong)))  # type: ignore[arg-type]  # what is wrong are its fields
    assert "abc" not in str(caught.value)
    assert profiles() == ()


def test_an_unknown_profile_is_answered_with_near_names() -> None:
    save_profile(Profile(name="production", target="yarn"))
    with pytest.raises(RunError, match="no profile @prodution") as caught:
        find_target("@prodution")
    assert "Did you mean production?" in caught.value.hint


def test_a_damaged_file_is_named_and_never_written_over() -> None:
    path = settings_folder() / "profiles.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"profiles": [{"name": "lab"')
    with pytest.raises(RunError, match="cannot be read") as caught:
        save_profile(Profile(name="other", target="yarn"))
    assert str(path) in caught.value.text
    assert path.read_text() == '{"profiles": [{"name": "lab"'


def test_a_trial_ends_at_the_first_thing_that_will_not_do_and_says_what_to_do() -> None:
    save_profile(Profile(name="gone", target="spark://127.0.0.1:1"))
    check = test_profile("gone")
    assert not check.is_ok
    assert [(step.title, step.is_ok) for step in check.steps] == [("Address", False)]
    assert "does not answer" in check.steps[0].text
    assert check.hint
    assert check.as_json()["ok"] is False


def test_the_target_tells_what_a_profile_is_of() -> None:
    targets = {
        "sparks": "sc://host",
        "brokers": "kafka://a:9092,[::1]:9093",
        "schemas": "https://r.example.com/apis/registry/v3/",
        "shop": "postgres://reader@db.example.com/shop",
    }
    for name, target in targets.items():
        save_profile(Profile(name=name, target=target))
    assert {profile.name: profile.kind.value for profile in profiles()} == {
        "brokers": "kafka",
        "schemas": "registry",
        "shop": "postgresql",
        "sparks": "spark",
    }
    assert [profile.name for profile in profiles(ProfileKind.KAFKA)] == ["brokers"]
    assert find_profile("schemas").target == "https://r.example.com/apis/registry/v3"
    assert find_profile("shop").target == "postgresql://reader@db.example.com:5432/shop"


def test_kafka_servers_of_a_profile_have_its_settings_and_secrets_and_show_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KEY_WORD", "open sesame")
    settings = (("security.protocol", "sasl_ssl"), ("sasl.oauthbearer.token.endpoint.url", "https://login/"))
    secrets = (("sasl.password", KEYRING), ("ssl.key.password", "env:KEY_WORD"))
    save_profile(
        Profile(name="live", target="kafka://a:9092,b:9092", settings=settings, secrets=secrets),
        {"sasl.password": "hunter2"},
    )
    servers = kafka_servers("kafka://@live/shop.orders")
    assert servers == find_kafka("live")
    assert servers.client_settings == {
        **dict(settings),
        "bootstrap.servers": "a:9092,b:9092",
        "sasl.password": "hunter2",
        "ssl.key.password": "open sesame",
    }
    assert repr(servers) == "KafkaServers('@live')"
    assert b"hunter2" not in everything_written()
    assert kafka_servers("kafka://c:9092/topic").client_settings == {"bootstrap.servers": "c:9092"}


def test_names_and_passwords_in_the_address_of_a_registry_are_taken_out_of_it() -> None:
    kept = save_profile(Profile(name="schemas", target="https://me:p%40ss@r.example.com:8443/apis/registry/v2"))
    assert kept.target == "https://r.example.com:8443/apis/registry/v2"
    assert (kept.settings, kept.secrets) == ((("username", "me"),), (("password", KEYRING),))
    assert b"p%40ss" not in everything_written()
    assert b"p@ss" not in everything_written()
    place = find_registry("@schemas")
    assert (place.url, place.username, place.password) == (kept.target, "me", "p@ss")
    assert "p@ss" not in repr(place)


def test_a_database_of_a_profile_has_its_user_its_password_and_the_rest_for_libpq(keyring: MemoryKeyring) -> None:
    settings = (("sslmode", "verify-full"), ("schemas", "public, sales"), ("prefix", "fx"))
    save_profile(Profile(name="shop", target="postgresql://me:hunter2@[::1]:5433/shop", settings=settings))
    assert list(keyring.kept.values()) == ["hunter2"]
    place = find_database("@shop")
    assert place.address == "postgresql://me@[::1]:5433/shop"
    assert (place.host, place.port, place.database, place.user) == ("::1", 5433, "shop", "me")
    assert (place.password, place.settings) == ("hunter2", (("sslmode", "verify-full"),))
    assert (place.schemas, place.prefix) == (("public", "sales"), "fx")
    assert "hunter2" not in repr(place)


def test_a_password_in_an_address_that_is_used_as_it_stands_is_refused_and_never_repeated() -> None:
    for find, address in (
        (find_registry, "http://me:hunter2@host/"),
        (find_database, "postgresql://me:hunter2@host/shop"),
        (find_registry, "http://me:hunter2@host:port/"),
        (find_database, "postgresql://me:hunter2@ho st/shop"),
    ):
        with pytest.raises(UserError) as caught:
            find(address)
        assert "hunter2" not in str(caught.value)


def test_a_profile_of_one_kind_is_refused_where_another_is_needed() -> None:
    save_profile(Profile(name="live", target="kafka://a:9092"))
    save_profile(Profile(name="lab", target="spark://a:7077"))
    with pytest.raises(RunError, match="@live is no profile of Spark") as caught:
        find_target("@live")
    assert "@lab" in caught.value.hint
    with pytest.raises(RunError, match="@lab is no profile of Kafka"):
        kafka_servers("kafka://@lab/topic")
    with pytest.raises(RunError, match="@live is no profile of a schema registry"):
        find_registry("@live")
    with pytest.raises(RunError, match="@live is no profile of PostgreSQL"):
        find_database("@live")


@pytest.mark.parametrize(
    ("target", "settings", "secrets", "said"),
    [
        ("kafka://h:1/topic", {}, {}, "names servers only"),
        ("kafka://@other/", {}, {}, "names servers only"),
        ("kafka://h", {}, {}, "address cannot be read"),
        ("kafka://h:1", {"sasl.password": "hunter2"}, {}, "holds a secret"),
        ("kafka://h:1", {"ssl.key.pem": "hunter2"}, {}, "holds a secret"),
        ("kafka://h:1", {"bootstrap.servers": "h:2"}, {}, "cannot be set"),
        ("kafka://h:1", {"group.id": "mine"}, {}, "cannot be set"),
        ("kafka://h:1", {"plugin.library.paths": "/opt/x.so"}, {}, "cannot be set"),
        ("kafka://h:1", {"spark.cores.max": "x", "Security": "ssl"}, {}, "no setting of Kafka"),
        ("kafka://h:1", {}, {"password": "env:P"}, "name of a secret"),
        ("https://h", {"user": "me"}, {}, "no setting of a schema registry"),
        ("https://h", {"password": "hunter2"}, {}, "holds a secret"),
        ("https://h", {"api": "v9"}, {}, "no API of a registry"),
        ("https://h", {}, {"sasl.password": "env:P"}, "name of a secret"),
        ("https://h/?key=hunter2", {}, {}, "address of the registry cannot be read"),
        ("https://:80", {}, {}, "address of the registry cannot be read"),
        ("postgresql://h:99999/d", {}, {}, "address of the database cannot be read"),
        ("postgresql://h/d?password=hunter2", {}, {}, "address of the database cannot be read"),
        ("postgresql://h/d", {"passfile": "/x"}, {}, "no setting of PostgreSQL"),
        ("postgresql://h/d", {"password": "hunter2"}, {}, "holds a secret"),
    ],
)
def test_what_a_kind_does_not_take_is_refused_and_its_secrets_are_not_repeated(
    target: str, settings: dict[str, str], secrets: dict[str, str], said: str
) -> None:
    with pytest.raises(UserError, match=said) as caught:
        save_profile(Profile(name="x", target=target, settings=tuple(settings.items()), secrets=tuple(secrets.items())))
    assert "hunter2" not in str(caught.value)
    assert profiles() == ()
