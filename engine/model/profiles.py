"""Profiles: which Kafka is played.  The rows follow from the releases of the flags.

control-plane 0.2 and data-plane 15.  A flag says in which releases it is true.  Releases in a row
that agree in every flag are one behaviour, and that is a profile: it stands for these exact
releases and is found under the name of each ("2.1.0", "2.1", "3.9.1-zk").  Eighteen of them go by
codes of old (Z21, K39), which scenarios and saved runs write.  Any flag may be flipped for a
what-if: "K39+elr-strict_min_isr".
"""

from __future__ import annotations

import difflib
import re
from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.errors import InputError
from engine.model.flags import (
    ERAS,
    FETCH,
    FLAG_LIST,
    FLAGS,
    HW,
    KIP101,
    KIP279,
    KIP279_FENCED,
    KRAFT,
    TRUNCATIONS,
    ZK,
    Flag,
    Release,
    release_of,
    truncation_of,
)
from engine.model.phrases import phrase
from engine.model.releases import BOTH, CODES, ONLY_KRAFT, ONLY_ZK, span

__all__ = (
    "ADDRESSES",
    "ERAS",
    "FETCH",
    "FLAGS",
    "GENERATIONS",
    "HW",
    "KIP101",
    "KIP279",
    "KIP279_FENCED",
    "KRAFT",
    "OTHER_DEFAULTS",
    "PROFILES",
    "RELEASES",
    "TRUNCATIONS",
    "ZK",
    "Flag",
    "Profile",
    "Release",
    "get_profile",
    "group_refusal",
    "nearest",
    "quorum_refusal",
)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Profile:
    """A named bundle of flags.

    Every flag of FLAGS is an attribute; nothing changes after construction, so handlers may keep a
    reference.
    """

    __slots__ = (
        "base",
        "generation",
        "mode",
        "name",
        "release",
        "releases",
        "truncation",
        *FLAGS,
    )

    base: str
    generation: str
    mode: str
    name: str
    release: Release
    releases: tuple[str, ...]
    truncation: int
    lag_messages: bool
    half_period_expiry: bool
    caughtup_prev_fetch: bool
    leo_equal_is_insync: bool
    join_needs_epoch_start: bool
    alter_partition: bool
    isr_propagation: bool
    isr_eligibility: bool
    ahead_is_not_controller: bool
    isr_broker_epoch: bool
    hw_waits_for_caughtup: bool
    hw_waits_only_for_eligible: bool
    strict_min_isr: bool
    cap_min_isr_to_rf: bool
    hw_clamped_on_truncate: bool
    offset_not_available: bool
    hw_sent_at_once: bool
    retention_waits_for_hw: bool
    textbook_response_hw: bool
    position_noted_per_partition: bool
    stranger_spoils_fetch: bool
    epoch_entry_at_election: bool
    monotonic_epoch_cache: bool
    cache_cleaned_by_noop_truncate: bool
    old_format_clears_epochs: bool
    answers_divergence: bool
    fetch_epoch_check: bool
    refetch_on_missed_epoch: bool
    refetch_on_new_epoch: bool
    diverging_skips_follower_update: bool
    out_of_range_is_fatal: bool
    out_of_range_drops_all: bool
    drops_newer_epoch_batches: bool
    fair_order: bool
    failed_partitions: bool
    unknown_follower_error: bool
    broker_generation: bool
    keeps_last_isr_member: bool
    unclean_noticed_at_once: bool
    controller_writes_fenced: bool
    new_controller_takes_offline: bool
    leader_recovery_state: bool
    shrink_bumps_leader_epoch: bool
    periodic_unclean: bool
    leader_checks_quorum: bool
    begin_epoch_repeated: bool
    pre_vote: bool
    election_backoff: bool
    quorum_mark_at_once: bool
    static_rejoin_not_written: bool
    polls_while_joining: bool
    group_timeout_is_unavailable: bool
    same_incarnation_keeps_epoch: bool
    fenced_has_no_session: bool
    unclean_default: bool
    fence_check_periodic: bool
    elr_available: bool
    elr: bool
    dir_failure_kraft: bool
    dir_failure_zk: bool
    future_replicas: bool
    future_keeps_old_epoch: bool
    reassign_needs_all_targets: bool
    reassign_spares_out_of_sync: bool
    consumer_epochs: bool
    follower_reads: bool
    reads_only_in_isr: bool
    delete_records: bool
    elect_unclean: bool
    idempotent_producer: bool
    evicts_producers: bool
    unknown_producer_starts_at_zero: bool
    unknown_producer_error: bool
    fetch_sessions: bool
    isr_change_leaves_hw: bool
    isr_write_not_recognised: bool
    leaving_leader_not_told: bool
    leaving_leader_stays: bool
    waiting_outlives_leading: bool
    late_refusal_stops: bool
    sessions_age_from_start: bool
    deposed_takes_epoch: bool
    session_forgets_epoch: bool
    failed_dir_remade: bool
    mark_before_cut: bool
    stale_answer_cuts: bool
    follower_checks_sequences: bool
    refuses_straddling_batch: bool
    stray_blocks_replica: bool
    unclean_setting_ignored: bool
    dir_failure_gives_up: bool
    keeps_removed_replicas: bool
    silent_at_the_end_stays: bool
    lost_requests_not_repeated: bool
    lost_answers_not_repeated: bool
    cancel_not_obeyed: bool
    given_up_move_stays: bool
    last_leader_unchecked: bool
    moved_log_forgets_epochs: bool
    dead_target_ends_move: bool
    quota_covers_in_sync: bool
    swap_needs_like_segments: bool
    error_counts_as_position: bool
    copy_begins_at_current_hw: bool
    full_truncation_keeps_hw: bool
    second_term_forgets: bool
    delete_fails_on_failed_disk: bool
    fenced_counts_as_heard: bool
    default_noticed_late: bool
    waiting_fetch_throttled: bool
    controlled_shutdown_default: bool
    leader_rebalance_default: bool
    lost_proposal_stays: bool
    diverges_below_start: bool
    reassignment_hides_epoch: bool
    mark_outside_is_unknown: bool
    preferred_order_stays: bool
    abandoned_copy_fails_dir: bool
    marks_lose_their_turn: bool
    idle_lag_unknown: bool
    follower_redirects: bool
    local_start_stays: bool

    def __init__(
        self, name: str, mode: str, release: Release, releases: tuple[str, ...], generation: str
    ) -> None:
        self.name = name
        self.base = name
        self.mode = mode
        self.release = release
        self.releases = releases
        self.generation = generation
        self.truncation = truncation_of(release)
        for flag in FLAG_LIST:
            setattr(self, flag.name, flag.value(mode, release))

    @property
    def kraft(self) -> bool:
        """Metadata in a KRaft log (else in ZooKeeper)."""
        return self.mode == KRAFT

    @property
    def stands_for(self) -> str:
        """Name on pages: "Kafka 3.9.1", "Kafka 0.10.2", "Kafka 4.1 – 4.4", and its flags.

        A line of releases that is here as a whole goes by the line's name.
        """
        words = ["Kafka", span(RELEASES[self.mode], self.releases)]
        if self.shares_releases:
            words.append("(ZooKeeper)")
        flipped = re.findall(r"([+-])([a-z_]+(?:=\w+)?)", self.name[len(self.base) :])
        words += [f"{'−' if sign == '-' else '+'} {flag}" for sign, flag in flipped]
        return " ".join(words)

    @property
    def shares_releases(self) -> bool:
        """Check whether it is ZooKeeper's half of releases that have KRaft as well."""
        return self.mode == ZK and self.releases[-1] in BOTH

    def flags(self) -> dict[str, bool | int]:
        """Return every flag with its value, in the order of the table; truncation first."""
        values: dict[str, bool | int] = {"truncation": self.truncation}
        for name in FLAGS:
            values[name] = bool(getattr(self, name))
        return values

    def with_flags(self, changes: dict[str, bool | int]) -> Profile:
        """Return a copy with some flags set; its name says which differ from the row."""
        row = PROFILES[self.base]
        values = {**self.flags(), **changes}
        flipped = Profile(row.name, row.mode, row.release, row.releases, row.generation)
        name = row.name
        for flag, value in values.items():
            if flag == "truncation":
                flipped.truncation = int(value)
                if value != row.truncation:
                    name += f"+truncation={TRUNCATIONS[int(value)]}"
            else:
                setattr(flipped, flag, bool(value))
                if bool(value) != getattr(row, flag):
                    name += ("+" if value else "-") + flag
        flipped.name = name
        return flipped

    def __repr__(self) -> str:
        return f"Profile({self.name})"


RELEASES: Final[dict[str, tuple[str, ...]]] = {
    ZK: (*ONLY_ZK, *BOTH),
    KRAFT: (*BOTH, *ONLY_KRAFT),
}
"""Every release that can be named, oldest first: those with ZooKeeper, and those with KRaft."""

OTHER_DEFAULTS: Final[dict[str, tuple[str, ...]]] = {ZK: ("2.5.0",), KRAFT: ("3.8.0",)}
"""Releases from which on a configuration has another default, where no flag changes as well."""


def _code_mode(code: str) -> str:
    return ZK if code[0] == "Z" else KRAFT


def _behaviours(mode: str) -> list[list[str]]:
    """Return the releases of a mode, parted where anything changes."""
    groups: list[list[str]] = []
    last: object = None
    for text in RELEASES[mode]:
        release = release_of(text)
        defaults = [release >= release_of(since) for since in OTHER_DEFAULTS[mode]]
        flags = [flag.value(mode, release) for flag in FLAG_LIST]
        now = (truncation_of(release), flags, defaults)
        if now != last:
            groups.append([])
        groups[-1].append(text)
        last = now
    return groups


def _row(mode: str, releases: list[str]) -> Profile:
    """Return a behaviour's profile, named by its code, else its last release.

    It is "3.5.2-zk" where the release has KRaft, too.
    """
    last = releases[-1]
    own = [code for code in CODES if _code_mode(code) == mode]
    name = next((code for code in own if CODES[code] in releases), "")
    shared = mode == ZK and last in BOTH
    # Scripts are written for codes: another behaviour plays the lines of the next code.
    script = next((code for code in own if release_of(CODES[code]) >= release_of(last)), own[-1])
    return Profile(
        name or (f"{last}-zk" if shared else last),
        mode,
        release_of(last),
        tuple(releases),
        name or script,
    )


PROFILES: Final[dict[str, Profile]] = {
    row.name: row for mode in (ZK, KRAFT) for row in (_row(mode, g) for g in _behaviours(mode))
}
"""Every behaviour, oldest first; those with ZooKeeper before those with KRaft."""

GENERATIONS: Final[dict[str, Profile]] = {
    name: row for name, row in PROFILES.items() if name in CODES
}
"""Those that have a code: enough to see every change of the protocol side by side."""


def _addresses() -> dict[str, str]:
    """Release -> profile: "3.9.1", "3.9.1-zk", "3.9.1-kraft", and "3.9" for the last of 3.9.

    Where both kinds of controller exist, a bare release means KRaft.
    """
    addresses: dict[str, str] = {}
    for row in PROFILES.values():
        for text in row.releases:
            parts = text.split(".")
            for size in range(2, len(parts) + 1):
                short = ".".join(parts[:size])
                addresses[short] = addresses[f"{short}-{row.mode}"] = row.name
    for row in PROFILES.values():  # 0.8.1 is a release, though 0.8.1.1 is the last of its line
        for text in row.releases:
            addresses[text] = addresses[f"{text}-{row.mode}"] = row.name
    addresses["latest"] = next(reversed(PROFILES))
    return addresses


ADDRESSES: Final = _addresses()

_BASE: Final = re.compile(r"[0-9][0-9.]*(?:-(?:zk|kraft)(?![a-z_0-9]))?|[^+-]*")
_FLIP: Final = re.compile(r"([+-])([a-z_0-9]+)(?:=([A-Z0-9_]+))?")


DIGITS_LIKE: Final = str.maketrans("OlI", "011")
"""Letters that look like digits: S6O is S60."""


def nearest(word: str, words: list[str]) -> str:
    """Return the end of a sentence that rejects `word`: the closest of `words`, if any is close."""
    word = word[:60]
    typed = word.translate(DIGITS_LIKE)
    close = [typed] if typed in words else difflib.get_close_matches(word, words, 1, 0.5)
    return phrase("; did you mean {0}?", close[0]) if close else "."


def _unknown(base: str) -> str:
    """Return the sentence for what is neither a code nor a release."""
    if base[:1].isdigit():
        near = nearest(base, list(ADDRESSES))
        return phrase("There is no release {0} of Kafka{1}", base[:40], near)
    return phrase("There is no profile {0}{1}", base[:40], nearest(base, [*CODES, "latest"]))


def get_profile(name: str) -> Profile:
    """Return the profile of a code or release, with its flips.

    "K39+elr" and "0.10.2.2+truncation=HW" have flips.  Raises InputError "unknown" for a profile or
    a flag that does not exist.
    """
    match = _BASE.match(name)
    base = match[0] if match is not None else ""
    row = PROFILES.get(base) or PROFILES.get(ADDRESSES.get(base, ""))
    if row is None:
        raise InputError("unknown", _unknown(base))
    if base == name:
        return row
    rest = name[len(base) :]
    changes: dict[str, bool | int] = {}
    position = 0
    while position < len(rest):
        match = _FLIP.match(rest, position)
        if match is None:
            raise InputError(
                "invalid",
                "In profile {0}, flips are written like +elr or -strict_min_isr.",
                name[:80],
            )
        sign, flag, value = match.groups()
        if flag == "truncation":
            if sign != "+" or value not in TRUNCATIONS:
                kinds = ", ".join(TRUNCATIONS)
                raise InputError(
                    "invalid", "Truncation is set like +truncation=HW, one of {0}.", kinds
                )
            changes[flag] = TRUNCATIONS.index(value)
        elif flag in FLAGS and not FLAGS[flag].modelled:
            raise InputError("impossible", "No rule here asks for {0}; it cannot be flipped.", flag)
        elif flag in FLAGS and value is None:
            changes[flag] = sign == "+"
            if changes[flag] and not FLAGS[flag].exists_in(row.mode):
                era = ERAS[FLAGS[flag].mode]
                raise InputError(
                    "impossible",
                    "{0} needs {1}; {2} runs on {3}. Leave it out.",
                    flag,
                    era,
                    row.name,
                    ERAS[row.mode],
                )
        else:
            raise InputError(
                "unknown", "There is no flag {0}{1}", flag[:40], nearest(flag, list(FLAGS))
            )
        position = match.end()
    return row.with_flags(changes)


def quorum_refusal(profile: Profile) -> str:
    """Return why a profile has no quorum of voters; "" if it has one."""
    if profile.kraft:
        return ""
    return "Only KRaft has a quorum of voters; play it on a KRaft profile such as K39."


def group_refusal(
    profile: Profile, static: bool = False, cooperative: bool = False, reconciling: bool = False
) -> str:
    """Return why a profile plays no groups, or none with these members; "" if it does."""
    if profile.release < (0, 10, 1):
        return "Consumer groups are played as of Kafka 0.10.1 (KIP-62); take a later release."
    if static and profile.release < (2, 3):
        return "Static members (group.instance.id) exist as of Kafka 2.3; take a later release."
    if cooperative and profile.release < (2, 4):
        return "The assignor cooperative-sticky exists as of Kafka 2.4; take a later release."
    if reconciling and profile.release < (4, 0):
        return "group.protocol: consumer is played as of Kafka 4.0 (KIP-848); take a later release."
    return ""
