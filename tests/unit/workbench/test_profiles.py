"""Connection profiles: kept for their owner, with secrets in the keyring or the environment and nowhere else."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.engine.targets import Kind
from metl_gui.errors import RunError
from metl_gui.workbench.places import settings_folder
from metl_gui.workbench.profile_check import test_profile
from metl_gui.workbench.profiles import (
    Profile,
    find_profile,
    find_target,
    profiles,
    remove_profile,
    save_profile,
    shared_folder,
)
from metl_gui.workbench.secret_store import KEYRING
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
    assert target.kind is Kind.CONNECT
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
