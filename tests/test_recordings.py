"""What real brokers did: every recording, fact by fact, and a comparison that lets nothing pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import InputError
from engine.recordings import player, reading
from engine.recordings.comparing import RecordingComparison, compare
from tests.conftest import ROOT

FOLDER = ROOT / "engine" / "recordings" / "played"
FILES = sorted(FOLDER.glob("*.json"))
OF_CHANCE = sorted((ROOT / "tests" / "data" / "recordings").glob("*.json"))
"""Random scripts, shortened, that an earlier model played differently."""
SMALL = "S06-3.9.1"
OF_QUORUM = "S83-4.1.1"
VOTERS = {"C1", "C2", "C3"}


def data_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def compared(data: dict[str, Any]) -> RecordingComparison:
    return compare(reading.read(json.dumps(data), "altered"))


@pytest.mark.parametrize("file", [*FILES, *OF_CHANCE], ids=lambda file: file.stem)
def test_the_engine_does_what_the_brokers_did(file: Path) -> None:
    """highwater recordings engine/recordings/played/<name>.json"""
    result = compare(next(reading.load([file])))
    assert not result.first, f"highwater recordings {file.relative_to(ROOT)}: {result.first}"
    told = {(one.step, one.fact) for one in result.explained}
    listed = set(result.recording.explained)
    assert told == listed, "the recording explains what is no difference (any more)"


def test_the_recordings_come_with_the_engine() -> None:
    assert [one.name for one in reading.own()] == [file.stem for file in FILES]
    assert {one.kafka for one in reading.own()} >= {"0.10.2.2", "1.1.1", "3.9.1", "4.1.1"}


def altered(data: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(step, fact, the recording with that one fact altered as little as can be)."""
    for number, step in enumerate(data["steps"]):
        for key, value in step["facts"]["P"].items():
            yield number, key, _with(data, number, ("P", key), _otherwise(key, value))
        for broker, replica in step["facts"]["brokers"].items():
            for key, value in replica.items():
                if key == "down" or (key == "hw" and replica.get("down")):
                    continue
                where = ("brokers", broker, key)
                yield number, f"b{broker} {key}", _with(data, number, where, _otherwise(key, value))
            where = ("brokers", broker)
            yield number, f"b{broker} exists", _with(data, number, where, None)
        for voter, facts in step["facts"].get("voters", {}).items():
            for key, value in facts.items():
                if value is None or (key == "vote" and facts["leader"]):
                    continue
                where = ("voters", voter, key)
                yield number, f"{voter} {key}", _with(data, number, where, _otherwise(key, value))


def _with(data: dict[str, Any], number: int, where: tuple[str, ...], value: Any) -> dict[str, Any]:
    other = deepcopy(data)
    at = other["steps"][number]["facts"]
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = value
    return other


def _otherwise(key: str, value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value} x@0".strip()
    return [*value, [9, 9] if key == "epochs" else 9]


def test_any_altered_fact_is_a_difference() -> None:
    for number, fact, other in altered(data_of(SMALL)):
        found = {one.step for one in compared(other).different}
        assert number in found, f"step {number}: {fact} is not looked at"


@pytest.fixture
def one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is wrong is wrong under every seed; here one is enough."""
    monkeypatch.setattr(player, "SEEDS", 1)


@pytest.mark.night
@pytest.mark.usefixtures("one_seed")
def test_no_draw_hides_an_altered_fact_of_a_quorum() -> None:
    data = data_of(OF_QUORUM)
    data["steps"] = data["steps"][:9]  # up to the election
    every = [one for one in altered(data) if one[1].startswith("C") and one[0] in (4, 8)]
    assert len(every) > 30
    for number, fact, other in every:
        found = {one.step for one in compared(other).different}
        assert number in found, f"step {number}: {fact} is not looked at"


@pytest.mark.usefixtures("one_seed")
@pytest.mark.parametrize(("name", "other"), [("S84-4.1.1", "K39"), ("S85-3.9.1", "K41")])
def test_a_quorum_of_another_release_has_other_facts(name: str, other: str) -> None:
    data = data_of(name)
    assert not compared(data).different
    assert {one.fact.split()[0] for one in compared({**data, "profile": other}).different} & VOTERS


def test_a_recording_of_a_quorum_is_read_within_bounds() -> None:
    data = data_of(OF_QUORUM)
    for field, value in (("voters", 10), ("voters", -1), ("seed", -1), ("seed", 1 << 40)):
        with pytest.raises(InputError, match=field):
            reading.read(json.dumps({**data, field: value}), "altered")
    for at in ([1], [2, 1, 3], [-1, 0, 0], [0, 0, 10**10]):
        data["steps"][1]["at"] = at
        with pytest.raises(InputError, match="cannot have been at"):
            reading.read(json.dumps(data), "altered")


def test_missing_fields_have_a_meaning_and_unknown_ones_are_ignored() -> None:
    data = data_of(SMALL)
    equal = compared(data).equal
    lean = {key: data[key] for key in ("scenario", "kafka", "profile", "brokers", "assignment")}
    lean["steps"] = [
        {"move": s["move"], "facts": {**s["facts"], "weather": "fine"}, "mood": 1}
        for s in data["steps"]
    ]
    result = compared({**lean, "colour": "blue"})
    assert (result.equal, result.different) == (equal, [])


def test_only_what_a_recording_explains_is_explained() -> None:
    data = data_of("S22-1.1.1")
    told = [(one.step, one.fact) for one in compared(data).explained]
    assert told == [(20, "partitionEpoch"), (20, "isr")]
    silent = {key: value for key, value in data.items() if key != "explained"}
    assert len(compared(silent).different) == 2
    other = deepcopy(data)
    other["explained"][0]["facts"][0][-1] = 0  # another value of the engine's
    assert [one.fact for one in compared(other).different] == ["partitionEpoch"]
    # As recorders write it: a list of differences, and one reason for all of them.
    rows = [[20, "settle", *row[1:]] for row in data["explained"][0]["facts"]]
    listed = {**silent, "differ": rows}
    assert len(compared(listed).different) == 2
    assert len(compared({**listed, "why": "timing: read too early"}).explained) == 2
    assert len(compared({**listed, "why": "ENGINE: the model is wrong"}).different) == 2
    mixed = {**listed, "why": "ENGINE (at step 20): wrong. The others: timing"}
    assert len(compared(mixed).different) == 2


def test_the_order_is_the_recordings() -> None:
    data = data_of("R10-0.10.2.2")
    result = compared(data)
    assert result.followed == [
        "step 5, “restart 3”: played as cut 1 K; detect 1; restart 3; heal 1 K"
    ]
    del data["steps"][5]["plays"]
    assert len(compared(data).different) == 54


def test_a_record_that_came_later_is_sent_later() -> None:
    data = data_of("S03-4.1.1")
    assert compared(data).followed == ["step 1, “produce a to 1 acks=all”: a came later"]
    # One that never came is sent all the same: that the log lacks it is a difference.
    for step in data["steps"]:
        for replica in step["facts"]["brokers"].values():
            replica["log"] = replica["log"].replace("a@0", "", 1).strip()
    assert compared(data).different


def test_a_broker_that_had_not_heard_of_its_role_yet() -> None:
    data = data_of("R20-0.10.2.2")
    result = compared(data)
    assert result.followed == ["step 18, “restart 2”: read before it heard its role"]
    # Only if nothing else differs: one fact that fits neither is a difference, and so is the rest.
    data["steps"][18]["facts"]["brokers"]["2"]["hw"] = 2
    assert {one.fact for one in compared(data).different} == {"b2 LEO", "b2 log", "b2 HW"}


def test_a_move_that_the_engine_refuses_is_a_difference() -> None:
    data = data_of(SMALL)
    data["steps"].insert(3, {**data["steps"][2], "move": "restart 2"})
    [only] = compared(data).different
    assert only.fact == "move" and "running" in str(only.model)
    data["steps"][3]["said"] = "broker 2 runs already"
    assert not compared(data).different


def test_settings_of_the_cluster_and_of_the_topic() -> None:
    from engine.recordings.player import scenario_of

    recording = reading.read(json.dumps(data_of("R10-0.10.2.2")), "r")
    configs = scenario_of(recording).configs
    assert configs["replica.lag.time.max.ms"] == 600_000
    assert configs["zookeeper.session.timeout.ms"] == 10_000
    assert configs["unclean.leader.election.enable"] == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "is no recording"),
        ("[]", "is no recording"),
        ("{}", "'steps' is missing"),
        ('{"steps": [{"move": "initial"}]}', "'facts' is missing"),
        ('{"steps": [], "scenario": "x", "kafka": "4", "profile": "K41"}', "0 steps"),
        (
            '{"steps": [{"move": "a", "facts": {"P": {"leader": "x"}}}], "scenario": "x"}',
            "is no recording",
        ),
    ],
)
def test_malformed_recordings_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        list(reading.load([tmp_path]))
    assert sentence in caught.value.sentence and str(file) in caught.value.sentence


def test_paths_without_recordings_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(InputError):
            list(reading.load([path]))


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(InputError, match="no profile"):
        compared({**data_of(SMALL), "profile": "K99"})
