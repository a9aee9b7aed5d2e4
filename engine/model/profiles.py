"""Profiles: which Kafka is played.  One entry a flag; the rows follow from the releases.

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
from engine.model.errors import BadInput
from engine.model.releases import BOTH, CODES, ONLY_KRAFT, ONLY_ZK, span

Release = tuple[int, ...]
"""(3, 9, 1); a shorter one stands before all that begin with it, so (3, 9) is where 3.9 begins."""

HW: Final = 0  # G0: cut back to the own high watermark
KIP101: Final = 1  # G1: ask where the own last epoch ends
KIP279: Final = 2  # G2: ask for the pair (epoch, end), in several rounds
KIP279_FENCED: Final = 3  # G3: the same, and every request says which epoch it believes in
FETCH: Final = 4  # G4: the leader detects divergence in the Fetch itself
TRUNCATIONS: Final = ("HW", "KIP101", "KIP279", "KIP279_FENCED", "FETCH")

ZK: Final = "zk"
KRAFT: Final = "kraft"
ERAS: Final = {ZK: "ZooKeeper", KRAFT: "KRaft"}

_NEVER: Final[Release] = (99,)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Flag:
    """One switch of the protocol.  True in each of the `spans` of releases [since, until), of which
    a bug may have several: one for each line of releases.  Only in `mode` if that is set.

    `modelled` false: told for completeness; no rule of the engine asks, so it cannot be flipped.
    """

    __slots__ = ("meaning", "mode", "modelled", "name", "source", "spans")

    def __init__(
        self,
        name: str,
        since: Release,
        source: str,
        meaning: str,
        until: Release = _NEVER,
        mode: str = "",
        modelled: bool = True,
        then: tuple[tuple[Release, Release], ...] = (),
    ) -> None:
        self.name = name
        self.modelled = modelled
        self.spans = ((since, until), *then)
        self.mode = mode
        self.source = source
        self.meaning = meaning

    def value(self, mode: str, release: Release) -> bool:
        """Is the flag true in this release of this mode?"""
        return self.exists_in(mode) and any(since <= release < until for since, until in self.spans)

    def exists_in(self, mode: str) -> bool:
        """Can the flag be true in this mode at all?"""
        return self.mode in ("", mode)


def _r(text: str) -> Release:
    """ "2.0.1" -> (2, 0, 1); "0.10.2.2" -> (0, 10, 2, 2)."""
    return tuple(int(part) for part in text.split("."))


_FLAG_LIST: Final[tuple[Flag, ...]] = (
    # -- who is in sync --------------------------------------------------------------------
    Flag("lag_messages", _r("0.8"), "KIP-16",
         "A follower more than replica.lag.max.messages behind leaves the ISR.", _r("0.9")),
    Flag("half_period_expiry", _r("0.10.2"), "KAFKA-4485",
         "isr-expiration runs every half lag time instead of every lag time."),
    Flag("caughtup_prev_fetch", _r("0.10.2"), "KAFKA-4485",
         "Reaching the LEO of the previous fetch also counts as caught up."),
    Flag("leo_equal_is_insync", _r("2.1"), "control-plane 4.3",
         "A follower whose LEO equals the leader's is never expired."),
    Flag("join_needs_epoch_start", _r("2.0.1"), "KAFKA-7128",
         "To join the ISR a follower must also reach the leader's epoch start."),
    Flag("alter_partition", _r("2.7"), "KIP-497",
         "ISR changes are proposed to the controller; meanwhile the maximal ISR counts."),
    Flag("isr_propagation", _r("0.9"), "control-plane 4.6",
         "ISR changes reach the controller by batched notification znodes.", _r("2.7"), ZK),
    Flag("isr_eligibility", _r("3.3"), "KIP-841",
         "Fenced, leaving or dead followers are refused in the ISR."),
    Flag("ahead_is_not_controller", _r("3.3"), "KIP-841",
         "A leader ahead of the controller is told that it speaks to an old one."),
    Flag("isr_broker_epoch", _r("3.5"), "KIP-903",
         "Leader and controller compare the broker epochs of followers.", mode=KRAFT),
    # -- high watermark --------------------------------------------------------------------
    Flag("hw_waits_for_caughtup", _r("0.10.2"), "KAFKA-4485",
         "HW also waits for non-members that are caught up in time."),
    Flag("hw_waits_only_for_eligible", _r("3.6"), "KAFKA-15021",
         "... but only for those that would be eligible to join."),
    Flag("strict_min_isr", _r("3.7"), "KAFKA-15583",
         "HW stands still while the committed ISR is below min.insync.replicas."),
    Flag("cap_min_isr_to_rf", _r("3.7"), "KAFKA-15583",
         "The effective min ISR is never more than the number of replicas."),
    Flag("hw_clamped_on_truncate", _r("2.4"), "data-plane 15",
         "HW lives in the log: truncation lowers it, a response is clamped to the log."),
    Flag("offset_not_available", _r("2.2"), "KIP-207",
         "List-offsets is refused until HW reaches the leader's epoch start."),
    Flag("hw_sent_at_once", _r("2.4"), "KIP-392, KAFKA-9952",
         "A follower's waiting fetch is answered as soon as there is a higher HW to tell.",
         _r("2.6")),
    Flag("textbook_response_hw", _NEVER, "teaching switch",
         "Never true in Kafka today: the response carries the HW after the fetch's own effect."),
    Flag("position_noted_per_partition", _r("3.3"), "KAFKA-13837",
         "A leader notes a follower's position as it reads each partition, not after all."),
    # -- epochs and truncation -------------------------------------------------------------
    Flag("epoch_entry_at_election", _r("2.0.1"), "KAFKA-7415",
         "A new leader notes (epoch, LEO) at once, not with its first batch."),
    Flag("monotonic_epoch_cache", _r("2.0.1"), "KAFKA-7415",
         "A new epoch entry drops the entries it contradicts."),
    Flag("cache_cleaned_by_noop_truncate", _r("2.6.1"), "KAFKA-10706",
         "Truncating to the log end still drops epoch entries at or past it."),
    Flag("old_format_clears_epochs", _r("2.2.1"), "data-plane 15",
         "Records of a format without epochs clear the epoch cache."),
    Flag("answers_divergence", _r("2.7"), "KIP-595",
         "A fetch that names its last epoch is told where the logs part; followers ask from 2.8."),
    Flag("fetch_epoch_check", _r("2.1"), "KIP-320",
         "Requests carry the leader epoch they believe in; another one is refused."),
    Flag("refetch_on_missed_epoch", _r("2.0.1"), "KAFKA-7164",
         "A follower reconciles again when the same leader's epoch advanced by two or more."),
    Flag("refetch_on_new_epoch", _r("2.1"), "KAFKA-7164",
         "A follower reconciles again in every new leader epoch."),
    Flag("diverging_skips_follower_update", _r("2.7.2"), "KAFKA-13141",
         "A diverging fetch does not count as the follower's position.",
         _r("2.8.0"), then=((_r("2.8.1"), _NEVER),)),
    Flag("out_of_range_is_fatal", _r("0.8"), "KAFKA-7414",
         "A follower past the leader's end halts its broker unless unclean election is on.",
         _r("2.0.1")),
    Flag("drops_newer_epoch_batches", _r("3.9.1"), "KAFKA-18723",
         "Batches of a newer epoch than the fetch asked in are dropped by the follower.",
         _r("4.0.0"), then=((_r("4.0.1"), _NEVER),)),
    Flag("fair_order", _r("0.10.1"), "KIP-74",
         "Fetch answers have a limit and an order: the first batch always fits, and who got "
         "records or an error goes to the end."),
    Flag("failed_partitions", _r("2.3"), "KIP-461",
         "An unexpected error costs the fetcher one partition; before, the whole thread ends."),
    Flag("unknown_follower_error", _r("3.3"), "KAFKA-13837",
         "A fetch from a replica outside the assignment is an error."),
    # -- elections and liveness ------------------------------------------------------------
    Flag("broker_generation", _r("2.2"), "KIP-380",
         "Control requests carry the broker epoch: a bounce cannot pass unnoticed."),
    Flag("keeps_last_isr_member", _r("1.1"), "KAFKA-5083",
         "The last member stays in the ISR when it dies, also where unclean election is on.",
         mode=ZK),
    Flag("leader_recovery_state", _r("3.2"), "KIP-704",
         "Unclean election marks the partition RECOVERING."),
    Flag("shrink_bumps_leader_epoch", _r("3.3"), "control-plane 3.7",
         "A smaller ISR starts a new leader epoch.", _r("3.6"), KRAFT),
    Flag("periodic_unclean", _r("3.9"), "control-plane 3.6",
         "Leaderless partitions are re-tried every five minutes if unclean is on.", mode=KRAFT),
    Flag("same_incarnation_keeps_epoch", _r("3.9"), "control-plane 1.4",
         "A process that registers again keeps its broker epoch.", mode=KRAFT),
    Flag("unclean_default", _r("0.8"), "KIP-106",
         "unclean.leader.election.enable is true unless said otherwise.", _r("0.11")),
    Flag("fence_check_periodic", _r("4.0"), "control-plane 1.9",
         "Sessions are checked every eighth of the timeout, not at the very instant.", mode=KRAFT),
    Flag("elr_available", _r("4.0"), "KIP-966",
         "The feature eligible.leader.replicas.version exists.", mode=KRAFT),
    Flag("elr", _r("4.1"), "KIP-966",
         "Eligible leader replicas are on for new clusters.", mode=KRAFT),
    # -- operations ------------------------------------------------------------------------
    Flag("dir_failure_kraft", _r("3.7"), "KIP-858",
         "Heartbeats report offline log directories; before, the broker halts.", mode=KRAFT),
    Flag("dir_failure_zk", _r("1.0"), "KIP-112",
         "A failed log directory costs its own replicas; before, the broker halts.", mode=ZK),
    Flag("future_replicas", _r("1.1"), "KIP-113",
         "A log can move to another directory of its broker."),
    Flag("reassign_needs_all_targets", _r("3.8"), "control-plane 0.2",
         "A reassignment completes only with all targets in the ISR.", mode=KRAFT),
    Flag("consumer_epochs", _r("2.3"), "KIP-320",
         "A consumer keeps the epoch of its position and asks whether it still holds."),
    Flag("follower_reads", _r("2.4"), "KIP-392",
         "Consumers that know of it may read from a follower."),
    Flag("reads_only_in_isr", _r("3.3.2"), "KAFKA-14372",
         "Consumers are sent only to followers in the ISR."),
    Flag("fetch_sessions", _r("1.1"), "KIP-227",
         "Fetches say only what changed, answers only what is new; where a scenario asks for it."),
    Flag("idempotent_producer", _r("0.11"), "KIP-98",
         "A retried batch is recognised by its sequence number."),
    Flag("evicts_producers", _r("0.11"), "KIP-360",
         "A producer is forgotten once all its records lie below the log start.", _r("2.4")),
    Flag("unknown_producer_starts_at_zero", _r("0.11"), "KIP-360",
         "A producer that the log does not know has to begin at sequence number 0.", _r("2.5")),
    Flag("unknown_producer_error", _r("1.0"), "KAFKA-5793",
         "... else it is told UNKNOWN_PRODUCER_ID, not that numbers are out of order.", _r("2.5")),
)  # fmt: skip

FLAGS: Final[dict[str, Flag]] = {flag.name: flag for flag in _FLAG_LIST}

_TRUNCATION_SINCE: Final[tuple[tuple[Release, int], ...]] = (
    (_r("2.8"), FETCH),  # KIP-595 wire change, used by replica fetchers since KAFKA-10554
    (_r("2.1"), KIP279_FENCED),  # KIP-320
    (_r("2.0"), KIP279),
    (_r("0.11"), KIP101),
    (_r("0.8"), HW),
)


def _truncation_of(release: Release) -> int:
    return next(kind for since, kind in _TRUNCATION_SINCE if release >= since)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Profile:
    """A named bundle of flags.  Every flag of FLAGS is an attribute; nothing changes after
    construction, so handlers may keep a reference."""

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
    textbook_response_hw: bool
    position_noted_per_partition: bool
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
    drops_newer_epoch_batches: bool
    fair_order: bool
    failed_partitions: bool
    unknown_follower_error: bool
    broker_generation: bool
    keeps_last_isr_member: bool
    leader_recovery_state: bool
    shrink_bumps_leader_epoch: bool
    periodic_unclean: bool
    same_incarnation_keeps_epoch: bool
    unclean_default: bool
    fence_check_periodic: bool
    elr_available: bool
    elr: bool
    dir_failure_kraft: bool
    dir_failure_zk: bool
    future_replicas: bool
    reassign_needs_all_targets: bool
    consumer_epochs: bool
    follower_reads: bool
    reads_only_in_isr: bool
    idempotent_producer: bool
    evicts_producers: bool
    unknown_producer_starts_at_zero: bool
    unknown_producer_error: bool
    fetch_sessions: bool

    def __init__(
        self, name: str, mode: str, release: Release, releases: tuple[str, ...], generation: str
    ) -> None:
        self.name = name
        self.base = name
        self.mode = mode
        self.release = release
        self.releases = releases
        self.generation = generation
        self.truncation = _truncation_of(release)
        for flag in _FLAG_LIST:
            setattr(self, flag.name, flag.value(mode, release))

    @property
    def kraft(self) -> bool:
        """Is the metadata kept in a KRaft log (else in ZooKeeper)?"""
        return self.mode == KRAFT

    @property
    def stands_for(self) -> str:
        """What people call it: "Kafka 3.9.1", "Kafka 0.10.2", "Kafka 4.1 – 4.4", and its flags.

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
        """Is it ZooKeeper's half of releases that have KRaft as well?"""
        return self.mode == ZK and self.releases[-1] in BOTH

    def flags(self) -> dict[str, bool | int]:
        """Every flag with its value, in the order of the table; truncation first."""
        values: dict[str, bool | int] = {"truncation": self.truncation}
        for name in FLAGS:
            values[name] = bool(getattr(self, name))
        return values

    def with_flags(self, changes: dict[str, bool | int]) -> Profile:
        """The same profile with some flags set; its name says which differ from the row."""
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
    """The releases of a mode, parted where anything changes."""
    groups: list[list[str]] = []
    last: object = None
    for text in RELEASES[mode]:
        release = _r(text)
        defaults = [release >= _r(one) for one in OTHER_DEFAULTS[mode]]
        flags = [flag.value(mode, release) for flag in _FLAG_LIST]
        now = (_truncation_of(release), flags, defaults)
        if now != last:
            groups.append([])
        groups[-1].append(text)
        last = now
    return groups


def _row(mode: str, releases: list[str]) -> Profile:
    """A behaviour goes by its code, else by its last release; "3.5.2-zk" where KRaft has it too."""
    last = releases[-1]
    own = [code for code in CODES if _code_mode(code) == mode]
    name = next((code for code in own if CODES[code] in releases), "")
    shared = mode == ZK and last in BOTH
    # Scripts are written for codes: another behaviour plays the lines of the next code.
    script = next((code for code in own if _r(CODES[code]) >= _r(last)), own[-1])
    return Profile(
        name or (f"{last}-zk" if shared else last),
        mode,
        _r(last),
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
    found: dict[str, str] = {}
    for row in PROFILES.values():
        for text in row.releases:
            parts = text.split(".")
            for size in range(2, len(parts) + 1):
                short = ".".join(parts[:size])
                found[short] = found[f"{short}-{row.mode}"] = row.name
    return found


ADDRESSES: Final = _addresses()

_BASE: Final = re.compile(r"[0-9][0-9.]*(?:-(?:zk|kraft)(?![a-z_0-9]))?|[^+-]*")
_FLIP: Final = re.compile(r"([+-])([a-z_0-9]+)(?:=([A-Z0-9_]+))?")


def nearest(word: str, words: list[str]) -> str:
    """The end of a sentence that rejects `word`: which of `words` was probably meant."""
    close = difflib.get_close_matches(word[:60], words, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else "."


def _unknown(base: str) -> str:
    """The sentence for what is neither a code nor a release."""
    if base[:1].isdigit():
        near = nearest(base, list(ADDRESSES))
        return f"There is no release {base[:40]} of Kafka" + near
    return f"There is no profile {base[:40]}" + nearest(base, list(CODES))


def get_profile(name: str) -> Profile:
    """The profile of that code or release, flips included ("K39+elr", "0.10.2.2+truncation=HW").
    Raises BadInput "unknown" for a profile or a flag that does not exist."""
    match = _BASE.match(name)
    base = match[0] if match is not None else ""
    row = PROFILES.get(base) or PROFILES.get(ADDRESSES.get(base, ""))
    if row is None:
        raise BadInput("unknown", _unknown(base))
    if base == name:
        return row
    rest = name[len(base) :]
    changes: dict[str, bool | int] = {}
    position = 0
    while position < len(rest):
        match = _FLIP.match(rest, position)
        if match is None:
            raise BadInput(
                "invalid",
                f"In profile {name[:80]}, flips are written like +elr or -strict_min_isr.",
            )
        sign, flag, value = match.groups()
        if flag == "truncation":
            if sign != "+" or value not in TRUNCATIONS:
                kinds = ", ".join(TRUNCATIONS)
                raise BadInput("invalid", f"Truncation is set like +truncation=HW, one of {kinds}.")
            changes[flag] = TRUNCATIONS.index(value)
        elif flag in FLAGS and not FLAGS[flag].modelled:
            raise BadInput("impossible", f"No rule here asks for {flag}; it cannot be flipped.")
        elif flag in FLAGS and value is None:
            changes[flag] = sign == "+"
            if changes[flag] and not FLAGS[flag].exists_in(row.mode):
                era = ERAS[FLAGS[flag].mode]
                raise BadInput(
                    "impossible",
                    f"{flag} needs {era}; {row.name} runs on {ERAS[row.mode]}. Leave it out.",
                )
        else:
            raise BadInput("unknown", f"There is no flag {flag[:40]}" + nearest(flag, list(FLAGS)))
        position = match.end()
    return row.with_flags(changes)
