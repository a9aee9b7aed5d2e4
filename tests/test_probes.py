"""Probes: every answer equals playing on, every wrong one is a wrong rule's, and differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import getmembers, isfunction
from typing import Any

import pytest

from engine.learn import wrong_rules, wrong_stories
from engine.learn.claims import claims
from engine.learn.counterfactuals import begun, members
from engine.learn.kinds import KINDS
from engine.learn.misconceptions import MISCONCEPTIONS
from engine.learn.probes import Probe, best_moment, probe_at, probes_of, told_of
from engine.learn.question_context import as_parts
from engine.learn.render import Teller
from engine.learn.sequences import happening
from engine.model.errors import InputError
from engine.model.languages import LANGUAGES, words_of
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import judge
from engine.properties.recording import MomentRecording
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from tests.conftest import THOROUGH, sample
from tests.recorded import recorded

OF_A_SAMPLE = ("S01", "S02", "S03", "S05", "S08", "S10", "S13", "S14", "S20", "S22", "S29", "S39")
CODES = [one.code for one in library().values()] if THOROUGH else OF_A_SAMPLE[::2]
MOST_OF_A_RUN = 400 if THOROUGH else 60


def runs(code: str) -> Iterator[tuple[Scenario, str]]:
    scenario = find(code)
    for profile in list(scenario.profiles)[:2]:
        yield scenario, profile


@pytest.mark.parametrize("code", CODES)
def test_the_right_answer_is_what_playing_on_shows(code: str) -> None:
    """The replay, which knows nothing of probes, is asked for the step that decides."""
    for scenario, profile in runs(code):
        recording, replay = recorded(code, profile), Replay(Run(scenario, profile))
        for probe in probes_of(recording)[:MOST_OF_A_RUN]:
            (before,) = replay.steps(probe.step, 1)
            (after,) = replay.steps(probe.until, 1)
            shown = seen(probe, before["view"], after["view"])
            right = probe.choices[probe.right].answer
            assert shown is None or shown == right, f"{code} {profile} {probe.text}: {shown}"


def seen(probe: Probe, before: Any, after: Any) -> Any:
    """The same answer, read off the view of the step; None where the view cannot say."""
    part = next(one for one in after["partitions"] if one["p"] == probe.tp)
    mine = part["replicas"].get(str(probe.who))
    if probe.kind in ("hw", "leo"):
        return mine[probe.kind]
    if probe.kind == "truncate":
        return mine["leo"]
    if probe.kind == "epochs":
        return tuple(map(tuple, mine["epochs"]))
    if probe.kind == "leader":
        return part["record"]["leader"]
    if probe.kind == "isr":
        return tuple(sorted(part["record"]["isr"]))
    if probe.kind == "survive":
        old = next(one for one in before["partitions"] if one["p"] == probe.tp)
        now = dict.fromkeys(r["id"] for one in old["replicas"].values() for r in one["records"])
        left = {r["id"] for r in part["replicas"][str(part["record"]["leader"])]["records"]}
        return tuple(one for one in now if one in left)
    return None


@pytest.mark.parametrize("code", CODES)
def test_responses_to_a_producer_agree_with_the_ledger(code: str) -> None:
    for scenario, profile in runs(code):
        recording = recorded(code, profile)
        ledger = Replay(Run(scenario, profile)).end.ledger
        acked = {value for of_one in ledger.acked for one in of_one for value in one.values}
        for probe in probes_of(recording):
            if probe.kind != "ack":
                continue
            answer = probe.choices[probe.right].answer
            turn = recording.turns[recording.at(probe.step) + 1]
            values = turn.events[0][2].values
            where = f"{code} {profile} {probe.text}"
            if isinstance(answer, tuple):
                assert set(values) <= acked, where
                holders = recording.turns[recording.at(probe.until)].now.parts[probe.tp].replicas
                late = [b for b in answer[1:] if values[-1] not in holders[b].values()]
                assert late == [] or probe.until - probe.step > 2, where
            elif answer == "refused":
                assert not any(values[0] in one.values() for one in _replicas(recording, turn.last))
            elif answer in ("after_append", "timeout"):
                assert values[0] in ledger.failed, where


def _replicas(recording: MomentRecording, step: int) -> list[Any]:
    parts = recording.turns[recording.at(step)].now.parts.values()
    return [one for part in parts for one in part.replicas.values()]


@pytest.mark.parametrize("code", CODES)
def test_each_wrong_answer_differs_and_says_whose_it_is(code: str) -> None:
    for _, profile in runs(code):
        for probe in probes_of(recorded(code, profile)):
            answers = [choice.answer for choice in probe.choices]
            assert len(set(answers)) == len(answers), probe.text
            assert sum(not choice.wrong for choice in probe.choices) == 1, probe.text
            assert 3 <= len(answers) <= 5, probe.text
            names = {name for choice in probe.choices for name in choice.wrong}
            assert all(probe.kind == MISCONCEPTIONS[name].kind for name in names)


def test_every_kind_is_asked_somewhere() -> None:
    found = {
        probe.kind
        for code in OF_A_SAMPLE
        for _, profile in runs(code)
        for probe in probes_of(recorded(code, profile))
    }
    assert found == set(KINDS)


@pytest.mark.parametrize("row", sample([*MISCONCEPTIONS.values()], 4), ids=lambda row: row.id)
def test_every_misconception_is_refuted_by_its_run(row: Any) -> None:
    recording = recorded(*row.shown_by)
    probe = best_moment(recording, row.id)
    assert probe is not None, f"{row.id} is offered nowhere in {row.shown_by}"
    assert row.id not in probe.choices[probe.right].wrong


def test_no_wrong_rule_is_left_out() -> None:
    ours = {
        f
        for room in (wrong_rules, wrong_stories)
        for _, f in getmembers(room, isfunction)
        if f.__module__ == room.__name__
    }
    public = {one for one in ours if not one.__name__.startswith("_") and one.__doc__}
    assert public == {row.rule for row in MISCONCEPTIONS.values()}


# -- what other runs answer -----------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_tasks_are_done_by_the_right_moves_only(code: str) -> None:
    """The property language, which knows nothing of probes, judges what was played."""
    for scenario, profile in runs(code):
        recording = recorded(code, profile)
        for probe in of_kind(recording, "do"):
            goal = told_of(recording, probe).told[2]
            first = begun(recording, recording.at(probe.step) + 1)
            for choice in probe.choices:
                tried = Run(scenario, profile, 0, (*first, *choice.answer))
                holds = judge(goal, MomentRecording(tried)).holds
                assert holds == (not choice.wrong), f"{code} {profile} {probe.text}: {goal}"


@pytest.mark.parametrize("code", [*CODES, "R20"])
def test_without_the_right_move_the_record_is_there_and_without_another_it_is_not(
    code: str,
) -> None:
    for scenario, profile in runs(code):
        recording = recorded(code, profile)
        for probe in of_kind(recording, "cause"):
            value = told_of(recording, probe).told[0]
            for choice in probe.choices:
                run = Run(scenario, profile, 0, ())
                for number, line in enumerate(recording.run.lines(), 1):
                    longer = run.then(line)
                    if number != choice.answer and playable(longer):
                        run = longer
                played = MomentRecording(run)
                there = any(value in one.values() for one in _replicas(played, played.end.step))
                saved = there and value not in played.known.lost
                assert saved == (not choice.wrong), f"{code} {profile} {probe.text}: {choice}"


def playable(run: Run) -> bool:
    try:
        play_all(run)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("code", [*sample(CODES, 3), "R20"])
def test_since_when_is_what_every_kafka_shows(code: str) -> None:
    for scenario, profile in runs(code):
        recording = recorded(code, profile)
        for probe in of_kind(recording, "since"):
            slug = told_of(recording, probe).told
            word, turn = as_parts(probe.choices[probe.right].answer)
            names = list(GENERATIONS)
            for place, name in enumerate(names):
                run = Run(scenario, name)
                if slug and name not in claims()[slug].profiles:
                    continue
                if slug:
                    holds = claims()[slug].judged(name).holds
                elif playable(run):
                    holds = not play_all(run).ledger.lost
                else:
                    continue
                at = names.index(turn) if turn else 0
                said = {"since": place >= at, "until": place <= at}.get(word, word == "always")
                assert holds == said, f"{code} {profile} {probe.text}: {name}"


def of_kind(recording: MomentRecording, kind: str) -> list[Probe]:
    """Of a long run the first dozen."""
    return [one for one in probes_of(recording) if one.kind == kind][: 400 if THOROUGH else 12]


@pytest.mark.parametrize("code", CODES)
def test_happenings_come_in_the_order_that_is_right(code: str) -> None:
    """Each of them is looked for again from the step of the one before on."""
    for _, profile in runs(code):
        recording = recorded(code, profile)
        for probe in of_kind(recording, "order"):
            answer = probe.choices[probe.right].answer
            first: dict[Any, int] = {}
            for turn in recording.turns[recording.at(probe.step) + 1 :]:
                for event in turn.events:
                    told = happening(event)
                    if told is not None:
                        first.setdefault(told, turn.last)
            steps = [first[one] for one in as_parts(answer)]
            assert steps == sorted(steps) and steps[-1] == probe.until, f"{code} {probe.text}"


@pytest.mark.night
def test_a_scale_scenario_asks_a_thousand_different_questions() -> None:
    """What is read differs, not only the address: seeds of S61 until there are a thousand."""
    asked: set[tuple[str, ...]] = set()
    for seed in range(40):
        recording = MomentRecording(Run(find("S61"), "Z0102", seed))
        teller = Teller(recording, "en")
        for probe in probes_of(recording):
            told = [teller.answer(probe, choice.answer) for choice in probe.choices]
            asked.add((teller.next(probe), teller.question(probe), *told))
        if len(asked) >= 1_000:
            return
    raise AssertionError(f"only {len(asked)} in 40 seeds")


# -- links and order ------------------------------------------------------------------------------


def test_a_probe_has_a_text_that_finds_it_again() -> None:
    recording = recorded("S22", "K39")
    for probe in probes_of(recording, seed=7)[:20]:
        assert probe_at(recording, probe.text) == probe


@pytest.mark.parametrize("text", ["", "hw", "hw@1", "zz@1.0.1", "hw@999999.0.1", "hw@1.0.1;x"])
def test_a_text_that_finds_nothing_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        probe_at(recorded("S22", "K39"), text)


def test_the_order_of_answers_knows_nothing_of_the_truth() -> None:
    places = [
        probe.right
        for seed in range(12)
        for probe in probes_of(recorded("S22", "K39"), seed)
        if probe.form != "offset"
    ]
    assert {0, 1, 2} <= set(places)


def test_decisive_questions_come_first_and_none_is_repeated_in_a_row() -> None:
    found = probes_of(recorded("S22", "K39"))
    assert found[0].score >= found[-1].score
    assert len({probe.text for probe in found}) == len(found)
    assert len({probe.kind for probe in found[:6]}) >= 4


# -- words ----------------------------------------------------------------------------------------


def test_chinese_is_that_of_kafka_people() -> None:
    for key, text in words_of("learn", "zh-Hans").items():
        assert not re.search("追随者|领导者|纪元|位移|控制器|您", text), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_of_a_probe_can_be_told(language: str) -> None:
    for code in OF_A_SAMPLE:
        for _, profile in runs(code):
            recording = recorded(code, profile)
            teller = Teller(recording, language)
            for probe in probes_of(recording)[:MOST_OF_A_RUN]:
                told = [teller.next(probe), teller.question(probe), teller.reason(probe)]
                told += [teller.answer(probe, choice.answer) for choice in probe.choices]
                told += [part for name in MISCONCEPTIONS for part in teller.belief(name)]
                assert not any("{" in text and "}" not in text for text in told)
                answers = told[3 : 3 + len(probe.choices)]
                assert len(set(answers)) == len(answers), f"{probe.text}: {answers}"
                assert all(text and not re.search(r"MC-|None[^ ]", text) for text in told)


@pytest.mark.parametrize("code", CODES)
def test_releases_between_two_that_agree_lose_what_these_lose(code: str) -> None:
    """So `since` plays the oldest and the newest of a generation, and none between."""
    scenario = find(code)
    run = Run(scenario, scenario.profiles[0])
    for generation in GENERATIONS:
        told = []
        for release in members(generation):
            try:
                told.append(bool(play_all(Run(scenario, release.name, 0, run.lines())).ledger.lost))
            except InputError:  # a move that this Kafka has not
                continue
        assert told[:1] != told[-1:] or len(set(told)) <= 1, (generation, told)


@pytest.mark.parametrize("code", ["S22", "S23", "S24", "S27"])
def test_no_order_waits_for_a_blow_that_nothing_announces(code: str) -> None:
    recording, seen = recorded(code, find(code).profiles[0]), 0
    for probe in probes_of(recording):
        if probe.kind == "order":
            right = as_parts(probe.choices[probe.right].answer)
            seen += 1
            assert not {sort for sort, _ in right[1:]} & {"die", "start"}, right
    assert seen


def test_the_reason_is_that_of_the_case() -> None:
    """acks=all is explained as acks=all, a refusal as a refusal, a loaded log as loaded."""
    said: dict[str, set[str]] = {}
    for code in ("S02", "S03", "S05", "S06", "S22"):
        recording = recorded(code, "K39")
        teller = Teller(recording, "en")
        for probe in probes_of(recording):
            asked = told_of(recording, probe)
            if probe.kind == "ack":
                assert asked.what is not None
                key = f"acks={asked.what.acks} {probe.choices[probe.right].answer!s:.3}"
                said.setdefault(key, set()).add(teller.reason(probe))
    assert {key.split()[0] for key in said} == {"acks=-1", "acks=1"}, said
    for key, reasons in said.items():
        for reason in reasons:
            assert "acks=1" not in reason or key.startswith("acks=1"), (key, reason)
            assert re.search("[Bb]roker [1-3A-C]", reason), "the reason names who answers"


@pytest.mark.parametrize(
    ("code", "profile", "text", "said"),
    [
        ("S13", "K39", "leader@83.0.1", "The ISR is {1}"),
        ("S11", "K39", "leader@241.0.2", "Broker 2 is alive and hands over"),
        ("S30", "K41", "leader@173.0.1", "The ISR is {1}"),
        (
            "S29",
            "K39",
            "survive@113.0.1",
            "Broker 1 leads at the end. It lost b, c and e with its disk or its power",
        ),
        ("S22", "K39", "epochs@183.0.3", "Such an entry is dropped when the log is loaded"),
        ("S07", "K39", "isr@205.0.1", "Broker 1 has reported that broker 3 has not caught up"),
        ("S39", "K39", "isr@241.0.1", "The controller counts broker 1 as dead"),
    ],
)
def test_a_reason_names_the_case(code: str, profile: str, text: str, said: str) -> None:
    recording = recorded(code, profile)
    assert said in Teller(recording, "en").reason(probe_at(recording, text))


@pytest.mark.parametrize("code", sample([s.code for s in library().values() if s.code], 10))
def test_acks_all_is_asked_where_the_isr_that_is_shown_decides(code: str) -> None:
    recording = recorded(code, find(code).profiles[0])
    for probe in probes_of(recording):
        asked = told_of(recording, probe)
        right = probe.choices[probe.right].answer
        if probe.kind == "ack" and isinstance(right, tuple) and asked.what.acks == -1:
            assert right[1:] == tuple(sorted(asked.part.record.isr)), probe.text
        if probe.kind == "epochs":
            for choice in probe.choices:
                epochs = [epoch for epoch, _ in choice.answer]
                assert epochs == sorted(set(epochs)), (probe.text, choice.answer)
        if probe.kind == "do":
            for choice in probe.choices:
                assert not any(
                    one.startswith("elect ") and one.split()[1].isdecimal() for one in choice.answer
                ), "Kafka has no such command"


def test_the_text_before_a_question_about_the_mark_does_not_tell_the_mark() -> None:
    recording = recorded("S02", "K39")
    teller = Teller(recording, "en")
    probes = [one for one in probes_of(recording) if one.kind == "hw"]
    assert probes and not any("my high watermark is" in teller.next(one) for one in probes)


def test_an_offset_is_written_in_chinese_as_on_the_stage() -> None:
    recording = recorded("S02", "K39")
    probe = next(one for one in probes_of(recording) if one.form == "offset")
    answer = probe.choices[0].answer
    assert Teller(recording, "zh-Hans").answer(probe, answer).startswith("offset ")
    assert Teller(recording, "en").answer(probe, answer).startswith("Offset ")
