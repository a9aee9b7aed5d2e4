"""Reading scenarios: what is good comes back equal, what is bad is pointed at in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.model.errors import InputError
from engine.scenarios import expectations, file
from engine.scenarios.file import find, library, load_path, load_text
from engine.scenarios.scenario import Scenario

GOOD = """\
code: S99
title: Can an acknowledged record vanish?
origin: KIP-101, case 1
difficulty: 2
teaches: A follower's mark trails the leader's by a fetch.
tags: [truncation, history]
profiles: [Z0102, K39]
brokers: [A, B]
partitions: [[B, A]]
configs: {min.insync.replicas: 1, replica.lag.time.max.ms: 30000}
network: {delay_ms: [1, 5], loss: 0.01, control_delay_ms: 0}
workload: {producers: [{rate_per_s: 20, acks: all}], consumers: 1}
faults:
  - {kind: kill, brokers: all, mtbf_ms: 20000, mttr_ms: 3000}
  - {kind: power, brokers: [A], at_ms: 30000, mttr_ms: 5000}
script: |
  # What everybody has.
  produce m0 m1 to B acks=all   # two records
  expect P{B 0 0 [B,A]}
  [Z0102] kill A
  [K39] kill B
  settle
expect:
  Z0102: {verdict: violates I7 I6, final: "P{A 1 2 [B,A]}", logs: {A: "m0@0 m1@0"}}
  K39: {verdict: holds, counts: [I8]}
"""


def refused(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        load_text(text, "x.yaml")
    return caught.value


def test_the_quick_reader_reads_the_library_as_the_strict_one_does() -> None:
    folder = Path(file.__file__).parent / "library"
    paths = sorted(folder.glob("*.yaml"))
    assert len(paths) == len(library())
    for path in paths:
        slug = path.name.removesuffix(".yaml")
        assert library()[slug] == load_text(path.read_text("utf-8"), path.name, slug), path


HUGE = ['title: "\\U00110000"', 'title: "\\UFFFFFFFF"', "%YAML " + "1" * 5000 + ".2\n---\ntitle: a"]


@pytest.mark.parametrize("text", HUGE, ids=["beyond unicode", "beyond C", "a long version"])
def test_numbers_that_the_parser_cannot_hold_are_one_sentence(text: str) -> None:
    bad = refused("slug: a\n" + text if text[0] != "%" else text)
    assert bad.sentence == "This is not YAML: a number here is too large."
    assert bad.where.startswith("x.yaml:")


def test_a_good_scenario_is_read_whole() -> None:
    scenario = load_text(GOOD, "x.yaml", "vanish")
    assert scenario.slug == "vanish"
    assert scenario.profiles == ("Z0102", "K39")
    assert [broker.label for broker in scenario.brokers] == ["A", "B"]
    assert scenario.partitions == ((2, 1),)
    assert scenario.network.delay_ms == (1, 5)
    assert scenario.workload.producers[0].acks == -1
    assert scenario.faults[0].groups(scenario.brokers) == ((1,), (2,))
    assert scenario.faults[1].at_ms == 30_000
    assert scenario.expect["Z0102"]["verdict"] == ["I6", "I7"]
    assert scenario.expectation("K39") == {"verdict": "holds", "counts": ["I8"]}
    assert scenario.broker_name(2) == "B"


def test_the_script_differs_by_profile_and_keeps_its_comments() -> None:
    scenario = load_text(GOOD)
    old, new = scenario.lines("Z0102"), scenario.lines("K39-strict_min_isr")
    assert [line.text for line in old] == [
        "produce m0 m1 to B acks=all", "P{B 0 0 [B,A]}", "kill A", "settle",
    ]  # fmt: skip
    assert [line.text for line in new if not line.is_expect][1] == "kill B"
    assert old[0].comment == "What everybody has. two records"
    assert [line.is_expect for line in old] == [False, True, False, False]
    assert old[2].number == 4


def test_round_trip_and_digest() -> None:
    scenario = load_text(GOOD, "x.yaml", "vanish")
    again = Scenario.from_dict(json.loads(scenario.canonical()))
    assert again == scenario
    assert again.canonical() == scenario.canonical()
    assert again.digest == scenario.digest
    assert len(scenario.digest) == 16
    assert hash(again) == hash(scenario)
    assert scenario.vary("min.insync.replicas", 2).digest != scenario.digest


def test_missing_fields_have_defaults() -> None:
    scenario = load_text("title: Empty")
    assert scenario.profiles == ("K39",)
    assert scenario.partitions == ((1, 2, 3),)
    assert scenario.fetching == "manual"
    assert scenario.lines("K39") == ()
    assert scenario.expect == {}


SECTIONS = [
    # what is replaced, by what, the text the message must point at, part of the sentence
    ("title:", "titel:", "titel:", "There is no key titel; did you mean title?"),
    ("difficulty: 2", "difficulty: 9", "9", "difficulty must lie between 1 and 3."),
    ("difficulty: 2", "difficulty: two", "two", "difficulty is a whole number, not two."),
    ("difficulty: 2", "difficulty: yes", "yes", "difficulty is a whole number, not yes."),
    ("S99", "s 99", "s 99", "The code is written with a letter and digits"),
    ("history]", "old]", "old]", "tags[1] is one of basics, elections"),
    ("Z0102, K39]", "Z0102, K93]", "K93]", "There is no profile K93; did you mean K39?"),
    ("Z0102, K39]", "Z0102, K39, K41]", "K41]", "Profile K41 has no entry under expect."),
    ("Z0102, K39]", "Z0102]", "K39: {", "Profile K39 is missing from profiles."),
    ("Z0102, K39]", "K39, K39]", "[K39, K39]", "A profile is listed twice."),
    ("Z0102, K39]", "3.9.1, K39]", "[3.9.1, K39]",
     "3.9.1 and K39 are one behaviour here."),
    ("brokers: [A, B]", "brokers: [A, A]", "A]", "Two brokers are called A."),
    ("brokers: [A, B]", "brokers: [{id: 1}, {id: 1}]", "{id: 1}]", "Broker 1 is listed twice."),
    ("brokers: [A, B]", "brokers: [K, B]", "K, B]", "K cannot name a broker"),
    ("brokers: [A, B]", "brokers: 41", "41", "brokers must lie between 1 and 40."),
    ("brokers: [A, B]", "brokers: []", "[]", "brokers needs at least 1 entries."),
    ("brokers: [A, B]", "brokers: [A b, B]", "A b, B]", "A broker's name is a short word"),
    ("[[B, A]]", "[[B, D]]", "D]]", "There is no broker “D”; there are A, B."),
    ("[[B, A]]", "[[B, B]]", "B]]", "Partition 0 names broker 2 twice."),
    ("[[B, A]]", "[B, A]", "B, A]", "partitions[0] is written as a list"),
    ("min.insync.replicas: 1", "min.insync.replica: 1", "min.insync.replica",
     "There is no key min.insync.replica in configs; did you mean min.insync.replicas?"),
    ("min.insync.replicas: 1", "min.insync.replicas: 0", "0, replica.lag",
     "min.insync.replicas must lie between 1 and 40."),
    ("min.insync.replicas: 1", "min.insync.replicas: a", "a, replica.lag", "is a whole number"),
    ("ms: 30000}", "ms: 400}", "{min.insync", "must not exceed replica.lag.time.max.ms."),
    ("[1, 5]", "[5, 1]", "[5, 1]", "network.delay_ms is written [least, most]."),
    ("[1, 5]", "[1, 5, 9]", "[1, 5, 9]", "network.delay_ms has 3 entries; at most 2 fit."),
    ("0.01", "2.5", "2.5", "network.loss must lie between 0 and 0.9."),
    ("0.01", ".inf", ".inf", "network.loss is a number, not .inf."),
    ("delay_ms: [1, 5]", "delays: 1", "delays", "There is no key delays in network"),
    ("rate_per_s: 20", "rate_per_s: fast", "fast", "rate_per_s is a number, not fast."),
    ("rate_per_s: 20, ", "", "{acks", "A producer needs a rate_per_s."),
    ("rate_per_s: 20", "rate_per_s: 9999", "{producers", "This workload writes 599940 records"),
    ("acks: all", "acks: 2", "2}]", "acks is all, 1 or 0, not 2."),
    ("kind: kill, ", "", "{brokers: all", "A fault needs a kind: kill, power"),
    ("kind: kill", "kind: kil", "kil,", "faults[0].kind is one of kill, power"),
    ("brokers: all, ", "racks: [a], ", "[a], mtbf", "No broker has a rack."),
    ("brokers: all, ", "brokers: all, racks: [a], ", "{kind: kill", "either brokers or racks"),
    ("mtbf_ms: 20000, ", "", "{kind: kill", "either mtbf_ms (a rate) or at_ms (a schedule)."),
    ("mtbf_ms: 20000, ", "mtbf_ms: 1, ", "1, mttr", "mtbf_ms must lie between 10 and"),
    ("mttr_ms: 3000", "mttr_ms: 1y", "1y", "mttr_ms is a whole number (ms), not 1y."),
    ("[Z0102] kill", "[Z0103] kill", "  [Z0103]", "Line 4 of the script is for no profile. There"),
    ("expect P{B 0 0 [B,A]}", "expect P{D 0 0 [B]}", "  expect P{D", "There is no broker “D”"),
    ("expect P{B 0 0 [B,A]}", "expect it works", "  expect it", "An expectation reads like"),
    ("expect P{B 0 0 [B,A]}", "expect refused m4 NOT_ENOUGH", "  expect refused",
     "There is no error NOT_ENOUGH; did you mean NOT_ENOUGH_REPLICAS?"),
    ("violates I7 I6", "violates I99", "violates I99", "is one of I1, I2"),
    ("violates I7 I6", "violates", "violates,", "A verdict is holds, statistical, or violates"),
    ('"P{A 1 2 [B,A]}"', "A leads", "A leads", "An expectation reads like"),
    ('"P{A 1 2 [B,A]}"', '"ack m3"', '"ack m3"', "The final state is written like"),
    ('{A: "m0@0 m1@0"}', '{A: "m0 m1"}', '"m0 m1"', "A log is written record@epoch"),
    ("{A: \"m0@0", "{C: \"m0@0", "C: \"m0@0", "There is no key C in expect.Z0102.logs"),
    ("counts: [I8]", "counts: [A3]", "A3]", "expect.K39.counts[0] is one of I1"),
    ("title: Can an acknowledged record vanish?", "title: ''", "''", "The title is empty."),
    ("script: |", "duration_ms: 0\nscript: |", "0\nscript", "duration_ms must lie between 1 and"),
    ("script: |", "fetching: magic\nscript: |", "magic", "fetching is one of manual, auto"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "at", "sentence"), SECTIONS)
def test_bad_values_are_pointed_at(old: str, new: str, at: str, sentence: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    bad = refused(text)
    assert sentence in bad.sentence
    assert bad.sentence.endswith((".", "?"))
    assert "\n" not in bad.sentence
    start = text.find(at, GOOD.index(old))
    start = start if start >= 0 else text.index(at)
    line = text[:start].count("\n") + 1
    assert bad.where.startswith(f"x.yaml:{line}:"), (bad.where, bad.sentence)
    if not text.split("\n")[line - 1].startswith("  "):
        assert bad.where == f"x.yaml:{line}:{start - text.rfind(chr(10), 0, start)}"


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\ntitle: x\n"


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("", "x.yaml:1:1", "The text is empty."),
        ("- a\n- b\n", "x.yaml:1:1", "A scenario is written as a mapping, key: value."),
        ("just words", "x.yaml:1:1", "A scenario is written as a mapping, key: value."),
        ("title: a\ntitle: b\n", "x.yaml:2:1", "The key title is written twice."),
        ("title: [a\n", "x.yaml:2:1", "This is not YAML"),
        ("title: a\n\tb: c\n", "x.yaml:2:1", "This is not YAML"),
        (BOMB, "x.yaml:1:4", "Anchors (&name) are not allowed here."),
        ("title: *a\n", "x.yaml:1:8", "Aliases (*name) are not allowed here."),
        ("title: !!python/object:os.system x\n", "x.yaml:1:8", "The tag tag:yaml.org"),
        ("title: !x [a]\n", "x.yaml:1:8", "The tag !x is not allowed here."),
        ("<<: {title: a}\n", "x.yaml:1:1", "Merge keys (<<) are not allowed here."),
        ("? [a]\n: b\n", "x.yaml:1:3", "A key is a plain word."),
        ("title: a\n---\ntitle: b\n", "x.yaml:2:1", "One text holds one scenario"),
        ("title: " + "[" * 50 + "]" * 50, "x.yaml:1:15", "This is nested more than 8 deep."),
        ("title: " + "[" * 60000, "x.yaml:1:15", "This is nested more than 8 deep."),
        ("tags: [" + "a," * 6000 + "]\ntitle: x", "x.yaml:1:", "at most 5000 values."),
        ("x" * 70000, "x.yaml:1:1", "A scenario has at most 65536 bytes."),
        ("title: a\x00b", "x.yaml:1:1", "is not allowed in YAML."),
        ("title: \"a\\x01b\"", "x.yaml:1:8", "title holds a control character."),
        ("origin: a\n", "x.yaml:1:1", "A scenario needs a title."),
        ("title:\n", "x.yaml:1:7", "title is a text, not nothing."),
        ("title: 7\n", "x.yaml:1:8", "title is a text, not 7."),
        ("title: a\nscript: |\n" + "  settle\n" * 2001, "x.yaml:2:9", "has 2001 lines"),
        ("title: a\nscript: |\n  " + "x" * 401, "x.yaml:3:1", "Line 1 of the script is longer"),
        ("title: a\nscript: '" + "x " * 11000 + "'", "x.yaml:2:9", "at most 20000 fit."),
        ("title: a\npartitions: [" + "[1]," * 1001 + "]", "x.yaml:2:13", "most 1000 fit."),
        ("title: a\nbrokers: 5\npartitions: [" + "[1,2,3,4,5]," * 801 + "]", "x.yaml:3:13", "4005"),
    ],
)  # fmt: skip
def test_hostile_and_broken_texts(text: str, where: str, sentence: str) -> None:
    bad = refused(text)
    assert sentence in bad.sentence
    assert bad.where.startswith(where), (bad.where, bad.sentence)


def test_plain_words_mean_what_they_look_like() -> None:
    scenario = load_text("title: on\nbrokers: [Y, N, no]\norigin: 1:30\n")
    assert scenario.title == "on"
    assert scenario.origin == "1:30"
    assert [broker.name for broker in scenario.brokers] == ["Y", "N", "no"]


def test_data_without_a_text_is_refused_without_a_place() -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_dict({"title": "x", "brokers": {"id": 1}})
    assert caught.value.where == ""
    with pytest.raises(InputError):
        Scenario.from_dict({"title": "x", 3: 4})


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("min.insync.replicas", "2", lambda s: s.configs["min.insync.replicas"] == 2),
        ("configs.unclean.leader.election.enable", "true",
         lambda s: s.configs["unclean.leader.election.enable"] == 1),
        ("network.loss", "0.2", lambda s: s.network.loss == 0.2),
        ("network.delay_ms", "2-9", lambda s: s.network.delay_ms == (2, 9)),
        ("workload.rate_per_s", 50, lambda s: s.workload.producers[0].rate_per_s == 50),
        ("workload.producers.acks", "1", lambda s: s.workload.producers[0].acks == 1),
        ("workload.producers.acks", "all", lambda s: s.workload.producers[0].acks == -1),
        ("workload.producers.0.retries", False, lambda s: not s.workload.producers[0].retries),
        ("workload.consumers", 3, lambda s: len(s.workload.consumers) == 3),
        ("faults.kill.mtbf_ms", 9000, lambda s: s.faults[0].mtbf_ms == 9000),
        ("faults.1.mtbf_ms", 9000, lambda s: s.faults[1].mtbf_ms == 9000),
        ("faults.1.at_ms", 100, lambda s: s.faults[1].at_ms == 100),
        ("faults.mttr_ms", 7, lambda s: all(fault.mttr_ms == 7 for fault in s.faults)),
        ("brokers", 4, lambda s: s.partitions == ((2, 1, 3, 4),)
         and s.faults[0].brokers == (1, 2, 3, 4) and s.faults[1].brokers == (1,)),
        ("brokers", 2, lambda s: s == load_text(GOOD).vary("brokers", "2")),
        ("fetching", "auto", lambda s: s.fetching == "auto"),
        ("duration_ms", 5, lambda s: s.duration_ms == 5),
    ],
)  # fmt: skip
def test_vary(key: str, value: object, read: object) -> None:
    scenario = load_text(GOOD)
    varied = scenario.vary(key, value)
    assert callable(read) and read(varied)
    assert varied.expect == {}
    assert scenario == load_text(GOOD), "the original stays as it was"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("min.insync.replicas", 99, "min.insync.replicas must lie between 1 and 40."),
        ("configs.min.isr", 1, "There is no configuration min.isr"),
        ("colour", 1, "colour cannot be varied"),
        ("workload.producers.colour", 1, "cannot be varied"),
        ("workload.producers.7.acks", 1, "There is no producer 7 to vary."),
        ("faults.pause.mtbf_ms", 1, "There is no fault pause to vary in this scenario."),
        ("faults.kill.kind", "power", "cannot be varied"),
        ("brokers", 1, "There is no broker “B”; there are A."),  # the script speaks of B
        ("brokers", 0, "The number of brokers lies between 1 and 40."),
        ("network.loss", "much", "network.loss is a number, not much."),
    ],
)
def test_vary_refuses(key: str, value: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        load_text(GOOD).vary(key, value)
    assert sentence in str(caught.value)


def test_racks_are_struck_as_one() -> None:
    text = (
        "title: racks\nbrokers: [{id: 1, rack: a}, {id: 2, rack: b}, {id: 3, rack: a}]\n"
        "faults: [{kind: power, racks: all, mtbf_ms: 1000}, "
        "{kind: power, brokers: all, together: true, at_ms: 5}]\n"
    )
    scenario = load_text(text)
    assert scenario.faults[0].groups(scenario.brokers) == ((1, 3), (2,))
    assert scenario.faults[1].groups(scenario.brokers) == ((1, 2, 3),)
    assert scenario.vary("brokers", 4).brokers[3].rack == "b"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("P{B 1 1 [B]}", "record"),
        ("P{-1 3 3 [] elr [A,B] last [B]}", "record"),
        ("P3{1 3 3 [1,2]}", "record"),
        ("b1 LEO 5 HW 3", "replica"),
        ("A HW 3", "replica"),
        ("log A m0@0 n3@2", "log"),
        ("log B", "log"),
        ("epochs A 0:0 2:3", "epochs"),
        ("ack m3 m4", "ack"),
        ("waiting m3", "waiting"),
        ("refused m4 NOT_ENOUGH_REPLICAS", "refused"),
    ],
)
def test_expectations(text: str, kind: str) -> None:
    brokers = load_text(GOOD).brokers
    assert expectations.parse(text, brokers).kind == kind


def test_files_and_the_library(tmp_path: Path) -> None:
    path = tmp_path / "My First.yaml"
    path.write_text(GOOD, "utf-8")
    assert find(str(path)).slug == load_path(path).slug == "my-first"
    with pytest.raises(InputError, match="cannot be read"):
        load_path(tmp_path / "none.yaml")
    path.write_bytes(b"title: \xff")
    with pytest.raises(InputError, match="not UTF-8"):
        load_path(path)
    with pytest.raises(InputError, match="There is no scenario S999"):
        find("S999")
    for slug, scenario in library().items():
        assert find(slug) is find(scenario.code) is scenario


def test_a_command_reads_the_scenario_that_it_plays_and_no_other() -> None:
    """A hundred files take longer to read than one takes to be played."""
    program = """
from engine.scenarios import file
read = []
load = file.load_placed
file.load_placed = lambda *given: read.append(given[1]) or load(*given)
assert file.find("S20").code == file.find(file.find("S20").slug).code == "S20"
print(*read)
assert len(file.library()) > 100 and file.find("S20") is file.library()[file.find("S20").slug]
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"{find('S20').slug}.yaml"]


def test_a_listed_flip_plays_lines_of_its_own_and_any_other_those_of_its_row() -> None:
    scenario = load_text(
        "title: x\nprofiles: [K39-strict_min_isr, K39]\nscript: |\n"
        "  [K39] kill 1\n  [K39-strict_min_isr] kill 2\n  [K39, K39-strict_min_isr] kill 3\n"
    )

    def played(profile: str) -> list[str]:
        return [line.text for line in scenario.lines(profile)]

    assert played("K39") == ["kill 1", "kill 3"]
    assert played("K39-strict_min_isr") == ["kill 2", "kill 3"]
    assert played("K39+elr") == ["kill 1", "kill 3"], "a what-if that nobody listed"
    with pytest.raises(InputError, match="Line 1 of the script is for no profile"):
        load_text("title: x\nscript: |\n  [K39-strict_min] settle\n")
