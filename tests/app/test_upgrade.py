"""Upgrade advice: the ledger agrees with the flags, and each side of a comparison is true."""

from __future__ import annotations

import re
from html import unescape

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app.command.cli import main
from app.find import entries as lookup
from engine.catalogue.bugs import (
    BOTH,
    MODES,
    LedgerEntry,
    bug_of,
    bugs_of,
    entries,
    release_in,
    shown,
)
from engine.model.errors import InputError
from engine.model.flags import FLAG_LIST, KRAFT, ZK, release_of
from engine.model.profiles import FLAGS, RELEASES, get_profile
from engine.replay.replay import Replay
from engine.sim.run import Run
from engine.upgrade.upgrade import upgrade

pytestmark = pytest.mark.quick

SEVERITIES = ("blocker", "critical", "major", "minor", "noise")


def test_every_fix_that_a_flag_plays_is_in_the_ledger() -> None:
    flags = {flag.name: flag for flag in FLAG_LIST}
    for entry in entries():
        assert entry.severity in SEVERITIES and entry.mode in MODES
        assert bool(entry.flags) != bool(entry.not_played), f"{entry.jira}: a flag, or why not"
        for name in entry.flags:
            assert entry.jira in flags[name].source
    known = {name for entry in entries() for name in entry.flags}
    fixes = {flag.name for flag in FLAG_LIST if "KAFKA-" in flag.source and flag.modelled}
    assert fixes <= known, "python: a flag for a JIRA number needs an entry in ledger.json"


OTHER_RELEASES = {
    "KAFKA-7414": "the flag begins with the release that can halt for an unclean election",
    "KAFKA-5793": "from 2.5 on no producer is unknown (KIP-360), so nothing asks for the flag",
    "KAFKA-19047": "the flag tells which session a fenced broker has, before 4.0 and after it",
}
"""Bugs whose flag is older or younger than they are, and why."""


@pytest.mark.parametrize("entry", [one for one in entries() if one.flags], ids=lambda one: one.jira)
def test_a_flag_is_in_the_releases_of_its_bug(entry: LedgerEntry) -> None:
    if len(entry.flags) > 1 or entry.jira in OTHER_RELEASES:
        return
    flag = FLAGS[entry.flags[0]]
    begins = release_of(entry.introduced or "0.8.0")
    for mode in (ZK, KRAFT):
        if entry.mode in (BOTH, mode):
            known = [release_of(one) for one in RELEASES[mode]]
            hit = {flag.value(mode, one) for one in known if entry.affects(one, mode)}
            mended = {
                flag.value(mode, one)
                for one in known
                if one >= begins and not entry.affects(one, mode)
            }
            assert len(hit) <= 1, f"{entry.jira}, {mode}: its flag changes where it is"
            assert not hit & mended, f"{entry.jira}, {mode}: its flag says so where it is not"


@pytest.mark.parametrize("jira", sorted(shown()))
def test_a_run_of_the_library_plays_otherwise_under_the_flags_of_a_bug(jira: str) -> None:
    entry = next(one for one in entries() if one.jira == jira)
    bug = bug_of(entry)
    assert bug.shown_by is not None
    sick = get_profile(entry.last_affected)
    healed = sick.with_flags({name: not sick.flags()[name] for name in entry.flags})
    both = [
        Replay(Run(bug.shown_by, one.name, moves=bug.moves or None)).golden()
        for one in (sick, healed)
    ]
    assert both[0] != both[1]


def test_a_ledger_is_sorted_and_names_each_bug_once() -> None:
    order = [SEVERITIES.index(entry.severity) for entry in entries()]
    assert order == sorted(order)
    assert len({entry.jira for entry in entries()}) == len(entries())


@pytest.mark.parametrize(
    ("jira", "release", "hit"),
    [
        ("KAFKA-7104", "0.11.0.3", False),
        ("KAFKA-7104", "1.0.1", True),
        ("KAFKA-7104", "1.0.2", False),
        ("KAFKA-7104", "1.1.0", True),
        ("KAFKA-7104", "2.0.0", False),
        ("KAFKA-16234", "3.7.0", True),
        ("KAFKA-16234", "3.7.2", False),
        ("KAFKA-16234", "3.9.1", False),
    ],
)
def test_a_fix_counts_in_its_line_and_from_the_newest_on(
    jira: str, release: str, hit: bool
) -> None:
    entry = next(one for one in entries() if one.jira == jira)
    assert entry.affects(release_of(release)) == hit


@pytest.mark.parametrize("pair", [("0.10.2.2", "2.8.2"), ("2.4.1", "3.9.1"), ("3.6.2", "4.4.0")])
def test_flags_of_both_sides_are_those_of_their_profiles(pair: tuple[str, str]) -> None:
    found = upgrade(*pair)
    before, after = (get_profile(name).flags() for name in (found.before, found.after))
    for change in found.changed:
        if change.flag.modelled:
            assert before[change.flag.name] != after[change.flag.name] == change.is_on
    for name, bugs in (
        (found.before, found.mended),
        (found.after, found.broken),
        (found.after, found.stay),
    ):
        profile = get_profile(name)
        newest = get_profile("3.9.1-zk" if profile.mode == ZK else "4.4.0")
        for bug in bugs:
            for flag in bug.entry.flags if bug.entry.fixed else ():
                assert profile.flags()[flag] != newest.flags()[flag], f"{bug.entry.jira}: {flag}"


def test_a_mended_bug_is_seen_on_one_side_only() -> None:
    found = upgrade("2.4.1", "3.9.1")
    shown = [bug for bug in found.mended if bug.shown_by is not None]
    assert shown
    for bug in shown:
        assert bug.shown_by is not None
        ends = [Replay(Run(bug.shown_by, name)).outcome for name in (found.before, found.after)]
        assert ends[0] != ends[1], bug.entry.jira


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("3.9.1", "3.9.1"),
        ("0.10.2.2", "0.10.2.2"),
        ("[2025-01-01 00:00:00,000] INFO Kafka version: 3.6.2 (o.a.k.c.u.AppInfoParser)", "3.6.2"),
        ("3.7.0 (Commit:2ae524ed625438c5)", "3.7.0"),
    ],
)
def test_a_release_is_found_in_what_people_paste(text: str, release: str) -> None:
    assert release_in(text) == release


@pytest.mark.parametrize("text", ["", "latest", "9.9.9", "0.7.2", "x" * 5000])
def test_text_without_a_release_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError):
        release_in(text)


def test_the_worst_comes_first_and_the_kind_of_cluster_counts() -> None:
    severities = [SEVERITIES.index(bug.entry.severity) for bug in bugs_of("3.7.0")]
    assert severities == sorted(severities) and severities[0] == 0
    assert {bug.entry.mode for bug in bugs_of("3.7.0", "zk")} <= {"zk", "both"}
    with pytest.raises(InputError, match="does not run with KRaft"):
        bugs_of("2.4.1", "kraft")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_lists_links_and_opens_both_sides(client: FlaskClient, lang: str) -> None:
    page = client.get(f"/upgrade?from=2.4.1&to=3.9.1&lang={lang}").text
    assert "KAFKA-10706" in page and not re.search(r">\s*upgrade\.[\w.]+\s*<", page)
    links = [unescape(one) for one in re.findall(r'class="btn small" href="([^"]+)"', page)]
    assert links and all(client.get(link).status_code == 200 for link in links)
    assert client.get("/upgrade").status_code == 200
    hit = client.get(f"/upgrade?from=3.7.0&lang={lang}").text
    assert hit.index("KAFKA-16234") < hit.index("KAFKA-16297")
    assert 'role="alert"' in client.get("/upgrade?from=<b>&to=1").text


def test_a_bug_that_is_searched_for_opens_where_it_is_listed(client: FlaskClient) -> None:
    bugs = [one for one in lookup.entries() if one.kind == "bug"]
    assert len(bugs) > 120
    for bug in bugs[::9]:
        address, _, place = bug.url.partition("#")
        assert f'id="{place}"' in client.get(address).text, bug.url


def test_the_command_says_the_same() -> None:
    told = CliRunner().invoke(main, ["upgrade", "2.4.1", "3.9.1"])
    assert told.exit_code == 0 and "KAFKA-10706" in told.output
    assert CliRunner().invoke(main, ["upgrade", "latest"]).exit_code == 2
