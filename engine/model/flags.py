"""Flags: what a release of Kafka does otherwise, each with the releases in which it is true."""

from __future__ import annotations

from typing import Final

from engine.model.compiling import mypyc_attr

Release = tuple[int, ...]
"""(3, 9, 1); a shorter one stands before all that begin with it, so (3, 9) is where 3.9 begins."""

HW: Final = 0  # G0: cut back to its own high watermark
KIP101: Final = 1  # G1: ask where its own last epoch ends
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
    """One switch of the protocol.

    True in each of the `spans` of releases [since, until), of which a bug may have several: one for
    each line of releases.  Only in `mode` if that is set.

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
        """Return the flag in this release of this mode."""
        return self.exists_in(mode) and any(since <= release < until for since, until in self.spans)

    def exists_in(self, mode: str) -> bool:
        """Check whether the flag can be true in this mode at all."""
        return self.mode in ("", mode)


def release_of(text: str) -> Release:
    """Convert "2.0.1" to (2, 0, 1) and "0.10.2.2" to (0, 10, 2, 2)."""
    return tuple(int(part) for part in text.split("."))


_r = release_of

FLAG_LIST: Final[tuple[Flag, ...]] = (
    # -- in-sync replicas ------------------------------------------------------------------
    Flag("lag_messages", _r("0.8"), "KIP-16",
         "A follower more than replica.lag.max.messages behind leaves the ISR.", _r("0.9")),
    Flag("half_period_expiry", _r("0.10.2"), "KAFKA-4485",
         "isr-expiration runs every half lag time instead of every lag time."),
    Flag("caughtup_prev_fetch", _r("0.10.2"), "KAFKA-4485",
         "Reaching the LEO of the previous fetch also counts as caught up."),
    Flag("leo_equal_is_insync", _r("2.1"), "control-plane 4.3, KAFKA-7152",
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
    Flag("retention_waits_for_hw", _r("0.11.0.1"), "KAFKA-5634",
         "Retention deletes only segments that the high watermark has passed."),
    Flag("textbook_response_hw", _r("1.0.0"), "KAFKA-7104",
         "An answer that leaves at once carries the HW as this very fetch has moved it.",
         _r("1.0.2"), then=((_r("1.1.0"), _r("1.1.1")),)),
    Flag("position_noted_per_partition", _r("3.3"), "KAFKA-13837",
         "A leader notes a follower's position as it reads each partition, not after all."),
    Flag("stranger_spoils_fetch", _r("0.8.1"), "KAFKA-5758",
         "A fetch that names a partition of which its sender is no replica fails as a whole.",
         _r("1.0")),
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
    Flag("out_of_range_is_fatal", _r("0.8.2"), "KAFKA-7414",
         "A follower past the leader's end halts its broker unless unclean election is on.",
         _r("2.0.1")),
    Flag("out_of_range_drops_all", _r("0.8"), "KAFKA-2143",
         "A follower out of range whose log is not longer than the leader's drops all of it.",
         _r("0.9.0.1")),
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
    Flag("broker_generation", _r("2.2"), "KIP-380, KAFKA-7235",
         "Control requests carry the broker epoch: a bounce cannot pass unnoticed."),
    Flag("keeps_last_isr_member", _r("1.1"), "KAFKA-5083",
         "The last member stays in the ISR when it dies, also where unclean election is on.",
         mode=ZK),
    Flag("unclean_noticed_at_once", _r("2.1"), "KAFKA-6835",
         "Unclean election that is switched on for a topic elects leaderless partitions at once.",
         mode=ZK),
    Flag("controller_writes_fenced", _r("2.1"), "KAFKA-6082",
         "ZooKeeper refuses the writes of a controller that was replaced.",
         mode=ZK),
    Flag("new_controller_takes_offline", _r("2.3"), "KAFKA-3143",
         "A new controller first takes dead replicas out of the ISR, then it elects.", mode=ZK),
    Flag("leader_recovery_state", _r("3.2"), "KIP-704",
         "Unclean election marks the partition RECOVERING."),
    Flag("shrink_bumps_leader_epoch", _r("3.3"), "control-plane 3.7",
         "A smaller ISR starts a new leader epoch.", _r("3.6"), KRAFT),
    Flag("periodic_unclean", _r("3.9"), "control-plane 3.6",
         "Leaderless partitions are re-tried every five minutes if unclean is on.", mode=KRAFT),
    Flag("same_incarnation_keeps_epoch", _r("3.9"), "control-plane 1.4, KAFKA-16952",
         "A process that registers again keeps its broker epoch.", mode=KRAFT),
    Flag("fenced_has_no_session", _r("3.3"), "KAFKA-19047",
         "A fenced broker has no session: after a controlled shutdown it registers at once.",
         _r("4.0"), KRAFT),
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
    Flag("future_keeps_old_epoch", _r("2.1"), "KAFKA-9654",
         "A log on its way to another directory is not told a new leader epoch, and is fenced.",
         _r("2.5")),
    Flag("reassign_needs_all_targets", _r("3.8"), "KAFKA-15665",
         "A reassignment completes only with all targets in the ISR.", mode=KRAFT),
    Flag("reassign_spares_out_of_sync", _r("4.3"), "KAFKA-19975",
         "... unless at least as many join as leave: then only those that join must be in the ISR.",
         mode=KRAFT),
    Flag("consumer_epochs", _r("2.3"), "KIP-320",
         "A consumer keeps the epoch of its position and asks whether it still holds."),
    Flag("follower_reads", _r("2.4"), "KIP-392",
         "Consumers that know of it may read from a follower."),
    Flag("reads_only_in_isr", _r("3.3.2"), "KAFKA-14372",
         "Consumers are sent only to followers in the ISR."),
    Flag("delete_records", _r("0.11"), "KIP-107",
         "Clients may delete records; fetches and answers carry the log start."),
    Flag("elect_unclean", _r("2.4"), "KIP-460",
         "An operator may ask for an unclean election of one partition."),
    Flag("fetch_sessions", _r("1.1"), "KIP-227",
         "Fetches say only what changed, answers only what is new; where a scenario asks for it."),
    Flag("idempotent_producer", _r("0.11"), "KIP-98",
         "A retried batch is recognised by its sequence number."),
    Flag("evicts_producers", _r("0.11"), "KIP-360, KAFKA-7190",
         "A producer is forgotten once all its records lie below the log start.", _r("2.4")),
    Flag("unknown_producer_starts_at_zero", _r("0.11"), "KIP-360",
         "A producer that the log does not know has to begin at sequence number 0.", _r("2.5")),
    Flag("unknown_producer_error", _r("1.0"), "KAFKA-5793",
         "... else it is told UNKNOWN_PRODUCER_ID, not that numbers are out of order.", _r("2.5")),
    # -- bugs of single releases -----------------------------------------------------------
    Flag("isr_change_leaves_hw", _r("2.7"), "KAFKA-13091",
         "A confirmed change of the ISR moves no high watermark; the next append or fetch does.",
         _r("3.1")),
    Flag("isr_write_not_recognised", _r("0.8"), "KAFKA-1382",
         "A leader does not recognise its own ISR write whose answer it missed; later ones fail.",
         _r("0.8.2"), ZK),
    Flag("leaving_leader_not_told", _r("1.1"), "KAFKA-7482",
         "In a controlled shutdown the leader that leaves is not told that another one leads.",
         _r("2.1"), ZK),
    Flag("leaving_leader_stays", _r("3.0"), "KAFKA-14296",
         "A broker in controlled shutdown does not step down where another one is elected.",
         _r("3.3.2"), KRAFT),
    Flag("waiting_outlives_leading", _r("0.8"), "KAFKA-2960",
         "A broker that stops leading leaves its waiting produces and fetches in the purgatory.",
         _r("0.10"), ZK),
    Flag("late_refusal_stops", _r("2.1.0"), "KAFKA-7786",
         "A refusal of an older leader epoch that comes late ends the fetching of the partition.",
         _r("2.1.1"), ZK),
    Flag("sessions_age_from_start", _r("1.1"), "KAFKA-9137",
         "A fetch session is stale by its age, however recently it was used.",
         _r("2.3.2"), then=((_r("2.4.0"), _r("2.4.1")),)),
    Flag("deposed_takes_epoch", _r("0.8"), "KAFKA-1096",
         "A controller that was replaced takes the new controller epoch for its own.",
         _r("0.8.2"), ZK),
    Flag("session_forgets_epoch", _r("2.1"), "KAFKA-9338",
         "Within a fetch session the leader epoch of a request is not checked.",
         _r("2.5")),
    Flag("failed_dir_remade", _r("3.7.0"), "KAFKA-16234",
         "Replicas of a failed log directory are made again, empty, in another one.",
         _r("3.7.1"), KRAFT),
    Flag("mark_before_cut", _r("2.8"), "KAFKA-14704",
         "A follower takes the high watermark of a diverging answer before it truncates.",
         _r("3.4.1")),
    Flag("stale_answer_cuts", _r("2.8"), "KAFKA-18991",
         "A diverging answer to a fetch of an older leader epoch still truncates.",
         _r("3.9.1"), then=((_r("4.0.0"), _r("4.0.1")),)),
    Flag("follower_checks_sequences", _r("0.11.0.0"), "KAFKA-6003",
         "A follower refuses a batch whose producer it does not know unless that begins at 0.",
         _r("0.11.0.2")),
    Flag("refuses_straddling_batch", _r("0.11"), "KAFKA-6975",
         "A replica that begins inside a batch refuses that batch.",
         _r("1.0.2"), then=((_r("1.1.0"), _r("1.1.1")),)),
    Flag("stray_blocks_replica", _r("3.0"), "KAFKA-14616",
         "At a start the log of a deleted topic keeps a new one of that name from being made.",
         _r("3.7"), KRAFT),
    Flag("unclean_setting_ignored", _r("3.0"), "KAFKA-12670",
         "unclean.leader.election.enable is ignored; only an operator can force an election.",
         _r("3.9"), KRAFT),
    Flag("dir_failure_gives_up", _r("3.8"), "KAFKA-15649",
         "A broker that cannot report a failed directory within log.dir.failure.timeout.ms halts.",
         mode=KRAFT),
    Flag("keeps_removed_replicas", _r("0.8.0"), "KAFKA-1097",
         "Leader and followers never drop a replica from the assignment they know.",
         _r("0.8.1"), ZK),
    Flag("silent_at_the_end_stays", _r("0.8.0"), "KAFKA-1170",
         "A follower at the leader's end is never late, however long it is silent.",
         _r("0.8.1"), ZK),
    Flag("lost_requests_not_repeated", _r("0.8.0"), "KAFKA-1187",
         "The controller does not send a control request again that a broken link swallowed.",
         _r("0.8.1"), ZK),
    Flag("lost_answers_not_repeated", _r("0.8.0"), "KAFKA-1738",
         "The controller does not send a control request again that was sent but not answered.",
         _r("0.8.2"), ZK),
    Flag("cancel_not_obeyed", _r("2.6"), "KAFKA-13972",
         "A replica does not stop when a reassignment is cancelled in the leader epoch it knows.",
         _r("3.4.1"), ZK),
    Flag("given_up_move_stays", _r("3.7.0"), "KAFKA-16297",
         "The controller is not told that a move to another directory was given up.",
         _r("3.7.1"), KRAFT),
    Flag("last_leader_unchecked", _r("4.0.0"), "KAFKA-19522",
         "The last known leader is elected whether it is alive or not.",
         _r("4.0.1"), KRAFT),
    Flag("moved_log_forgets_epochs", _r("2.8"), "KAFKA-20961",
         "A log that moved to another directory forgets epochs without records."),
    Flag("dead_target_ends_move", _r("0.8"), "KAFKA-4214",
         "A new controller drops a reassignment with a target that is down.",
         _r("0.10.1"), ZK),
    Flag("quota_covers_in_sync", _r("0.10.1.0"), "KAFKA-4313",
         "The leader's quota holds back followers that are in sync, too.",
         _r("0.10.1.1"), ZK),
    Flag("swap_needs_like_segments", _r("1.1"), "KAFKA-8002",
         "A copied log takes over only if its last segment begins where the present one's does.",
         _r("2.2"), ZK),
    Flag("error_counts_as_position", _r("0.8.2"), "KAFKA-8400",
         "A fetch that ends in an error makes the leader forget the follower's position.",
         _r("2.4"), ZK),
    Flag("copy_begins_at_current_hw", _r("1.1"), "KAFKA-9087",
         "After a restart the copying thread begins at the mark of the present log.",
         _r("3.5")),
    Flag("full_truncation_keeps_hw", _r("2.4.0"), "KAFKA-9491",
         "Dropping the whole log leaves the high watermark where it was.",
         _r("2.4.1"), ZK),
    Flag("second_term_forgets", _r("0.8"), "KAFKA-2721",
         "A leader that is elected again forgets the positions of its followers.",
         _r("0.9"), ZK),
    Flag("delete_fails_on_failed_disk", _r("1.1"), "KAFKA-7313",
         "Deleting any replica fails on a broker with a failed log directory.",
         _r("2.1"), ZK),
    Flag("fenced_counts_as_heard", _r("4.0.0"), "KAFKA-19130",
         "A new active controller counts fenced brokers as just heard of.",
         _r("4.0.1"), KRAFT),
    Flag("default_noticed_late", _r("2.0"), "KAFKA-7976",
         "Unclean election switched on for all topics elects nobody at once.",
         _r("2.2.1"), ZK),
    Flag("waiting_fetch_throttled", _r("0.10.1.0"), "KAFKA-6937",
         "The fetch of an in-sync follower that waits is not woken while the quota is used up.",
         _r("1.0.2"), ZK, then=((_r("1.1.0"), _r("1.1.1")),)),
    Flag("controlled_shutdown_default", _r("0.8.2"), "KAFKA-1298",
         "controlled.shutdown.enable is true unless said otherwise."),
    Flag("leader_rebalance_default", _r("0.8.2"), "KAFKA-1305",
         "auto.leader.rebalance.enable is true unless said otherwise."),
    Flag("lost_proposal_stays", _r("2.7"), "KAFKA-12686",
         "An ISR proposal made after a new leader epoch is lost with the answer to the one before.",
         _r("3.0")),
    Flag("diverges_below_start", _r("2.7.0"), "KAFKA-12996",
         "A fetch from below the log start is first told where the logs part.",
         _r("2.7.2"), then=((_r("2.8.0"), _r("2.8.1")),)),
    Flag("reassignment_hides_epoch", _r("0.8"), "KAFKA-9212",
         "Metadata name the former leader epoch when a reassignment begins.",
         _r("2.4"), ZK),
    Flag("mark_outside_is_unknown", _r("0.8.2"), "KAFKA-3978",
         "A new leader whose high watermark lies below its log has the high watermark -1.",
         _r("1.0.2"), ZK),
    Flag("preferred_order_stays", _r("0.8.1"), "KAFKA-1365",
         "An order for a preferred election stays noted, and the next one of the partition fails.",
         _r("0.8.1.1"), ZK),
    Flag("abandoned_copy_fails_dir", _r("3.7.0"), "KAFKA-16082",
         "A copy whose old directory is gone at the start costs its own directory, too.",
         _r("3.7.1"), KRAFT),
    Flag("marks_lose_their_turn", _r("1.1"), "KAFKA-12330",
         "In a fetch session a partition that only gets a new high watermark goes to the end.",
         _r("3.0")),
    Flag("idle_lag_unknown", _r("2.5"), "KAFKA-15080",
         "A follower without records to copy does not know its lag and counts as behind.",
         _r("3.5.1")),
    Flag("follower_redirects", _r("2.6"), "KAFKA-13778",
         "A follower that led before sends consumers on by the positions it remembers.",
         _r("3.3")),
    Flag("local_start_stays", _r("3.6"), "KAFKA-15695",
         "A follower that begins after the remote part does not move its local log start.",
         _r("3.7")),
    Flag("static_rejoin_not_written", _r("2.3"), "KAFKA-10284",
         "A coordinator writes nothing when a new process takes the place of a static member.",
         _r("2.6.1"), ZK),
    Flag("polls_while_joining", _r("2.5"), "KIP-429",
         "A member that keeps partitions during a cooperative rebalance reads them meanwhile."),
    Flag("group_timeout_is_unavailable", _r("4.0"), "KIP-848",
         "A coordinator answers COORDINATOR_NOT_AVAILABLE if its record is not committed in time.",
         mode=KRAFT),
    # -- the KRaft quorum ------------------------------------------------------------------
    Flag("leader_checks_quorum", _r("3.7"), "KAFKA-15489",
         "A quorum leader that no majority fetches from resigns.", mode=KRAFT),
    Flag("begin_epoch_repeated", _r("3.9"), "KIP-853",
         "A quorum leader repeats BeginQuorumEpoch, as a heartbeat.", mode=KRAFT),
    Flag("pre_vote", _r("4.0"), "KIP-996",
         "A voter asks for pre-votes before it enters a new epoch as candidate.", mode=KRAFT),
    Flag("election_backoff", _r("3.3"), "KAFKA-18345",
         "A candidate that a majority refuses waits a short random time, longer each time.",
         _r("4.1"), KRAFT),
    Flag("quorum_mark_at_once", _r("4.1"), "KIP-1166",
         "A voter's waiting fetch is answered as soon as there is a higher mark to tell.",
         mode=KRAFT),
)  # fmt: skip

FLAGS: Final[dict[str, Flag]] = {flag.name: flag for flag in FLAG_LIST}

_TRUNCATION_SINCE: Final[tuple[tuple[Release, int], ...]] = (
    (_r("2.8"), FETCH),  # KIP-595 wire change, used by replica fetchers since KAFKA-10554
    (_r("2.1"), KIP279_FENCED),  # KIP-320
    (_r("2.0"), KIP279),
    (_r("0.11"), KIP101),
    (_r("0.8"), HW),
)


def truncation_of(release: Release) -> int:
    return next(kind for since, kind in _TRUNCATION_SINCE if release >= since)
