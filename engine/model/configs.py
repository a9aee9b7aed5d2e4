"""Configuration: every name the engine obeys, its default in each release, and its bounds.

control-plane 12, data-plane 1.1, 4.2, 9.  Names with dots are Kafka's; names with underscores are
the engine's own parameters of the model (how long a metadata commit takes, and so on).
All times are whole milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.model import quotas
from engine.model.compiling import mypyc_attr
from engine.model.declared import declared
from engine.model.errors import InputError
from engine.model.profiles import FLAGS, Profile, Release, nearest

NEVER: Final = 2**53 - 1  # "Long.MAX": off.  Still an exact integer in a browser.
UNLIMITED: Final = NEVER
MOST_LIST: Final = 2_000  # characters of a list

_HOUR: Final = 3_600_000
WEEK_MS: Final = 7 * 24 * _HOUR
REMOTE: Final = "remote.storage.enable"
TIERED_SINCE: Final[Release] = (3, 6)
VOTERS_CHANGE_SINCE: Final[Release] = (3, 9)
AS_RETENTION: Final = -2  # local.retention.*: the value of retention.*

Value = int | str
"""Value of a configuration: a number, or the text of a list."""


@declared
class Config:
    """One configuration name.

    unit: "ms", "records", "replicas", "bytes", "%", "boolean", "list", ... ; scope: "topic",
    "broker", "controller", "cluster", "producer" or "engine".  `before` holds (release, value): the
    default in releases before that one, oldest first.  `flag` names a profile flag that is the
    default.
    """

    name: str
    default: Value
    unit: str
    scope: str
    meaning: str
    low: int = 0
    high: int = NEVER
    before: tuple[tuple[Release, int], ...] = ()
    flag: str = ""

    def default_in(self, profile: Profile) -> Value:
        """Return the default value in a cluster of this profile."""
        if self.flag:
            return int(getattr(profile, self.flag))
        for release, value in self.before:
            if profile.release < release:
                return value
        return self.default

    def check(self, value: object, where: str = "") -> Value:
        """Return the value as an integer, or the text of a list.

        Raises InputError when it is of another kind or out of bounds.
        """
        if self.unit == "list":
            if isinstance(value, str) and len(value) <= MOST_LIST and quotas.is_valid_list(value):
                return value.replace(" ", "")
            raise InputError("invalid", "{0} is * or a list like 0:1,0:2.", self.name, where=where)
        if self.unit == "boolean":
            if isinstance(value, bool) or value in (0, 1):
                return int(bool(value))
            if isinstance(value, str) and value.lower() in ("true", "false"):
                return int(value.lower() == "true")
            raise InputError("invalid", "{0} is either true or false.", self.name, where=where)
        number = as_int(value)
        if number is None:
            raise InputError(
                "invalid", "{0} is a whole number ({1}).", self.name, self.unit, where=where
            )
        if not self.low <= number <= self.high:
            high = "any size" if self.high == NEVER else str(self.high)
            raise InputError(
                "invalid",
                "{0} must lie between {1} and {2}.",
                self.name,
                self.low,
                high,
                where=where,
            )
        return number


def as_int(value: object) -> int | None:
    """Return a whole number given as a number or as its digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) <= 20 and value.removeprefix("-").isdecimal():
        return int(value)
    return None


_OLD_LAG: Final = (((2, 5, 0), 10_000),)
_OLD_ZK_SESSION: Final = (((2, 5, 0), 6_000),)

_LIST: Final[tuple[Config, ...]] = (
    # -- replication -----------------------------------------------------------------------
    Config("min.insync.replicas", 1, "replicas", "topic",
           "acks=all is refused while fewer replicas are in sync.", 1, 40),
    Config("unclean.leader.election.enable", 0, "boolean", "topic",
           "May a replica outside the ISR lead when nobody else can?", flag="unclean_default"),
    Config("unclean.leader.election.interval.ms", 300_000, "ms", "controller",
           "How often leaderless partitions are re-tried (3.9 and later).", 1_000, 24 * _HOUR),
    Config("replica.lag.time.max.ms", 30_000, "ms", "broker",
           "A follower not caught up for longer leaves the ISR.", 100, _HOUR, _OLD_LAG),
    Config("replica.lag.max.messages", 4_000, "records", "broker",
           "A follower further behind leaves the ISR (0.8 only).", 1, 1_000_000),
    Config("replica.fetch.wait.max.ms", 500, "ms", "broker",
           "How long a leader may hold a follower's fetch that finds nothing.", 0, 60_000),
    Config("num.replica.fetchers", 1, "threads", "broker",
           "How many threads fetch from each leader. Before 1.1 read when a broker starts.", 1, 16),
    Config("replica.fetch.min.bytes", 1, "bytes", "broker",
           "A follower's fetch waits at the leader until this many bytes are there.", 0,
           1_000_000_000),
    Config("replica.fetch.max.bytes", 1_048_576, "bytes", "broker",
           "The most a follower's fetch asks for of each partition.", 0),
    Config("replica.fetch.response.max.bytes", 10_485_760, "bytes", "broker",
           "The most that one answer to a follower carries (0.10.1 and later).", 0),
    Config("replica.fetch.backoff.ms", 1_000, "ms", "broker",
           "A follower's pause after a fetch that failed.", 1, 60_000),
    Config("replica.high.watermark.checkpoint.interval.ms", 5_000, "ms", "broker",
           "How often the high watermarks are written to disk.", 10, 24 * _HOUR),
    Config("replica.selector.class", 0, "boolean", "broker",
           "Does a leader send consumers to a follower in their rack (RackAwareReplicaSelector)?"),
    Config("flush.messages", NEVER, "records", "topic",
           "Force the log to disk after this many records; by default never.", 1),
    Config("flush.ms", NEVER, "ms", "topic",
           "Force the log to disk after this long; by default never. Read when a broker starts.",
           10),
    Config("segment.records", 1_000_000, "records", "topic",
           "Start a new segment after this many records (the engine counts records).", 1),
    Config("retention.ms", WEEK_MS, "ms", "topic",
           "Segments whose newest record is older are deleted; -1 keeps them for ever.", -1),
    Config("retention.bytes", -1, "bytes", "topic",
           "The oldest segments beyond this size of the log are deleted; -1 keeps them.", -1),
    Config("remote.storage.enable", 0, "boolean", "topic",
           "Are closed segments copied to remote storage (KIP-405; 3.6 and later)?"),
    Config("local.retention.ms", -2, "ms", "topic",
           "Copied segments whose newest record is older leave the broker; -2: as retention.ms.",
           -2),
    Config("local.retention.bytes", -2, "bytes", "topic",
           "Copied segments beyond this size leave the broker; -2: as retention.bytes.", -2),
    Config("remote.log.manager.task.interval.ms", 30_000, "ms", "broker",
           "How often segments are copied to remote storage, and deleted there.", 10, 24 * _HOUR),
    Config("log.retention.check.interval.ms", 300_000, "ms", "broker",
           "How often old segments are looked for.", 10, 24 * _HOUR),
    Config("log.flush.start.offset.checkpoint.interval.ms", 60_000, "ms", "broker",
           "How often raised log starts are written to disk (0.11 and later).", 10, 24 * _HOUR),
    Config("message.max.records", 1_000_000, "records", "topic",
           "The largest batch accepted (the engine counts records).", 1),
    # -- replication quotas ----------------------------------------------------------------
    Config("leader.replication.throttled.rate", NEVER, "bytes/s", "broker",
           "How much a leader sends of throttled replicas; by default any amount.", 1),
    Config("follower.replication.throttled.rate", NEVER, "bytes/s", "broker",
           "How much a follower fetches of throttled replicas; by default any amount.", 1),
    Config("leader.replication.throttled.replicas", "", "list", "topic",
           "partition:broker, ... or *: where the leader's rate holds."),
    Config("follower.replication.throttled.replicas", "", "list", "topic",
           "partition:broker, ... or *: where the follower's rate holds."),
    Config("replication.quota.window.num", 11, "samples", "broker",
           "Over how many samples a rate is measured. Read when a broker starts.", 2, 1_000),
    Config("replication.quota.window.size.seconds", 1, "s", "broker",
           "How long each sample is. Read when a broker starts.", 1, 3_600),
    Config("max.incremental.fetch.session.cache.slots", 1_000, "sessions", "broker",
           "How many fetch sessions a broker keeps. Read when a broker starts.", 0, 100_000),
    # -- liveness and the controller -------------------------------------------------------
    Config("zookeeper.session.timeout.ms", 18_000, "ms", "broker",
           "ZooKeeper forgets a broker that is silent for this long.", 10, _HOUR, _OLD_ZK_SESSION),
    Config("broker.session.timeout.ms", 9_000, "ms", "controller",
           "The KRaft controller fences a broker that is silent for this long.", 10, _HOUR),
    Config("broker.heartbeat.interval.ms", 2_000, "ms", "broker",
           "How often a broker reports to the KRaft controller.", 1, _HOUR),
    Config("controller.quorum.fetch.timeout.ms", 2_000, "ms", "controller",
           "A voter without an answer of its leader for this long becomes a candidate.", 10, _HOUR),
    Config("controller.quorum.request.timeout.ms", 2_000, "ms", "controller",
           "A request to a voter that has no response for this long is given up.", 10, _HOUR),
    Config("controller.quorum.election.timeout.ms", 1_000, "ms", "controller",
           "An election fails after this long; a random part of it is added.", 10, _HOUR),
    Config("controller.quorum.election.backoff.max.ms", 1_000, "ms", "controller",
           "The longest pause between two elections.", 10, _HOUR),
    Config("metadata.max.idle.interval.ms", 500, "ms", "controller",
           "How often the leader of a quorum appends a NoOp record, so that brokers learn what is "
           "committed. 0: never.", 0, _HOUR),
    Config("controlled.shutdown.enable", 1, "boolean", "broker",
           "Does a stopping broker hand over its leaderships first?",
           flag="controlled_shutdown_default"),
    Config("controlled.shutdown.max.retries", 3, "attempts", "broker",
           "How often a ZooKeeper-era broker asks to be released.", 0, 100),
    Config("controlled.shutdown.retry.backoff.ms", 5_000, "ms", "broker",
           "The pause between these attempts.", 1, _HOUR),
    Config("auto.leader.rebalance.enable", 1, "boolean", "broker",
           "Does leadership return to the preferred replica by itself?",
           flag="leader_rebalance_default"),
    Config("leader.imbalance.check.interval.seconds", 300, "s", "controller",
           "How often the preferred replicas are looked at.", 1, 86_400),
    Config("leader.imbalance.per.broker.percentage", 10, "%", "controller",
           "Imbalance a ZooKeeper-era controller tolerates; KRaft ignores it.", 0, 100),
    Config("eligible.leader.replicas.version", 0, "level", "cluster",
           "1 switches eligible leader replicas on (4.0 and later).", 0, 1, flag="elr"),
    Config("kraft.version", 0, "level", "cluster",
           "1: operators add and remove voters of the quorum (3.9 and later).", 0, 1),
    Config("replica.alter.log.dirs.io.max.bytes.per.second", NEVER, "bytes/s", "broker",
           "What moves between directories may copy each second (the engine counts records).", 1),
    Config("log.dir.failure.timeout.ms", 30_000, "ms", "broker",
           "A KRaft broker that cannot report a failed disk halts after this long (3.8 and later).",
           1, NEVER),
    # -- clients ---------------------------------------------------------------------------
    Config("request.timeout.ms", 30_000, "ms", "producer",
           "How long an acks=all write may wait for its replicas.", 1, 24 * _HOUR),
    Config("retry.backoff.ms", 100, "ms", "producer",
           "A client's pause before it tries again.", 1, 60_000),
    Config("delivery.timeout.ms", 120_000, "ms", "producer",
           "A producer gives up a record it could not deliver for this long.", 1, 24 * _HOUR),
    Config("fetch.max.wait.ms", 500, "ms", "consumer",
           "How long a consumer's fetch that finds nothing may wait.", 0, 60_000),
    Config("metadata.max.age.ms", 300_000, "ms", "consumer",
           "How long a consumer reads from the follower it was sent to.", 0, 24 * _HOUR),
    Config("session.timeout.ms", 45_000, "ms", "consumer",
           "A group's coordinator removes a member that is silent for this long.", 10, _HOUR,
           (((3, 0), 10_000),)),
    Config("heartbeat.interval.ms", 3_000, "ms", "consumer",
           "How often a member of a group sends a heartbeat to the coordinator.", 1, _HOUR),
    Config("max.poll.interval.ms", 300_000, "ms", "consumer",
           "A member that does not poll for this long leaves its group.", 1, 24 * _HOUR),
    Config("auto.commit.interval.ms", 5_000, "ms", "consumer",
           "How often a member of a group that commits by itself does so, when it polls.",
           1, 24 * _HOUR),
    Config("group.consumer.session.timeout.ms", 45_000, "ms", "broker",
           "A member with group.protocol=consumer that is silent for this long is removed.",
           10, _HOUR),
    Config("group.consumer.heartbeat.interval.ms", 5_000, "ms", "broker",
           "How often a member with group.protocol=consumer sends a heartbeat.", 1, _HOUR),
    # -- the engine's own parameters -------------------------------------------------------
    Config("fetch_max_records", 500, "records", "engine",
           "The most records one fetch answer carries.", 1, 100_000),
    Config("fetch_sessions", 0, "boolean", "engine",
           "Do fetchers and consumers keep sessions (1.1 and later)? They cost a run time."),
    Config("record_bytes", 1_000, "bytes", "engine",
           "The size of a record, as quotas and retention count it.", 1, 1_000_000_000),
    Config("commit_ms", 0, "ms", "engine",
           "From a controller's decision until the metadata log has committed it.", 0, 60_000),
    Config("md_delay", 0, "ms", "engine",
           "From a committed metadata record until a broker applies it.", 0, 60_000),
    Config("registration_backoff_ms", 100, "ms", "engine",
           "First pause of a broker whose registration was refused; doubles.", 1, 60_000),
)  # fmt: skip


@declared
class Limits:
    """F-5.  Bytes that a fetch wants: at least, of each partition, and of all together."""

    at_least: int
    partition: int
    response: int


_DYNAMIC: Final[dict[str, Release]] = {
    "num.replica.fetchers": (1, 1),
    "leader.replication.throttled.rate": (0, 10, 1),
    "follower.replication.throttled.rate": (0, 10, 1),
    "replica.alter.log.dirs.io.max.bytes.per.second": (1, 1),
}
"""Settings of a broker that follow a change at run time, with the release since when."""

CATALOGUE: Final[dict[str, Config]] = {config.name: config for config in _LIST}


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Configs:
    """The configuration of one cluster, settled.

    Not changed in place: `changed` makes another, so copies of a cluster may share one.
    """

    def __init__(
        self, profile: Profile, settings: Mapping[str, Value], given: tuple[str, ...] = ()
    ) -> None:
        self.values = settings
        self.given = given  # names with a setting of their own, sorted
        values = {name: value for name, value in settings.items() if isinstance(value, int)}
        self.min_insync_replicas = values["min.insync.replicas"]
        self.unclean = values["unclean.leader.election.enable"] != 0
        self.unclean_interval_ms = values["unclean.leader.election.interval.ms"]
        self.lag_time_max_ms = values["replica.lag.time.max.ms"]
        self.lag_max_messages = values["replica.lag.max.messages"]
        # isr-expiration: every half lag time, every lag time before 0.10.2 (CP-ISR-SHRINK)
        self.isr_check_ms = max(1, self.lag_time_max_ms // (2 if profile.half_period_expiry else 1))
        self.fetch_wait_max_ms = values["replica.fetch.wait.max.ms"]
        self.fetch_backoff_ms = values["replica.fetch.backoff.ms"]
        self.fetch_max_records = values["fetch_max_records"]
        self.fetchers = values["num.replica.fetchers"]
        self.record_bytes = values["record_bytes"]
        self.fetch_limits = Limits(
            values["replica.fetch.min.bytes"],
            values["replica.fetch.max.bytes"],
            # a response as a whole has a limit, and keeps an order, since KIP-74
            values["replica.fetch.response.max.bytes"] if profile.fair_order else UNLIMITED,
        )
        self.hw_checkpoint_ms = values["replica.high.watermark.checkpoint.interval.ms"]
        self.flush_messages = values["flush.messages"]
        self.flush_ms = values["flush.ms"]
        self.segment_records = values["segment.records"]
        self.retention_ms = values["retention.ms"]
        # in records, which have one size: as many as it takes to fill the bytes
        self.retention_records = _records(values, "retention.bytes")
        self._set_tier(profile, values)
        self.retention_check_ms = values["log.retention.check.interval.ms"]
        self.log_start_checkpoint_ms = values["log.flush.start.offset.checkpoint.interval.ms"]
        self.message_max_records = values["message.max.records"]
        if profile.kraft:
            self.session_timeout_ms = values["broker.session.timeout.ms"]
        else:
            self.session_timeout_ms = values["zookeeper.session.timeout.ms"]
        self.heartbeat_ms = values["broker.heartbeat.interval.ms"]
        # CP-KR-FENCE: at the very instant up to 3.9, within an eighth of the timeout since 4.0
        self.fence_check_ms = self.session_timeout_ms // 8 if profile.fence_check_periodic else 0
        self.registration_backoff_ms = values["registration_backoff_ms"]
        self.controlled_shutdown = values["controlled.shutdown.enable"] != 0
        self.shutdown_retries = values["controlled.shutdown.max.retries"]
        self.shutdown_backoff_ms = values["controlled.shutdown.retry.backoff.ms"]
        self.auto_rebalance = values["auto.leader.rebalance.enable"] != 0
        self.max_idle_ms = values["metadata.max.idle.interval.ms"]
        self.imbalance_check_ms = values["leader.imbalance.check.interval.seconds"] * 1_000
        self.imbalance_percentage = values["leader.imbalance.per.broker.percentage"]
        # the feature is ignored by releases that do not have it, so one scenario suits them all
        can_elr = profile.elr_available or profile.elr
        self.elr = can_elr and values["eligible.leader.replicas.version"] != 0
        self.dynamic_voters = (
            profile.release >= VOTERS_CHANGE_SINCE and values["kraft.version"] != 0
        )
        self.request_timeout_ms = values["request.timeout.ms"]
        self.retry_backoff_ms = values["retry.backoff.ms"]
        self.delivery_timeout_ms = values["delivery.timeout.ms"]
        self.consumer_wait_ms = values["fetch.max.wait.ms"]
        self.metadata_max_age_ms = values["metadata.max.age.ms"]
        self.rack_aware_reads = profile.follower_reads and values["replica.selector.class"] != 0
        rate = values["replica.alter.log.dirs.io.max.bytes.per.second"]
        self.dir_move_rate = None if rate == NEVER else rate
        self.dir_failure_timeout_ms = values["log.dir.failure.timeout.ms"]
        self.commit_ms = values["commit_ms"]
        self.md_delay = values["md_delay"]

    def _set_tier(self, profile: Profile, values: Mapping[str, int]) -> None:
        self.can_tier = profile.release >= TIERED_SINCE
        self.remote_storage = values["remote.storage.enable"] != 0
        self.remote_task_ms = values["remote.log.manager.task.interval.ms"]
        self.local_retention_ms = values["local.retention.ms"]
        if self.local_retention_ms == AS_RETENTION:
            self.local_retention_ms = self.retention_ms
        self.local_retention_records = _records(values, "local.retention.bytes")
        if values["local.retention.bytes"] == AS_RETENTION:
            self.local_retention_records = self.retention_records

    def changed(self, profile: Profile, name: str, value: object) -> Configs:
        """Return a copy with one name set, as an operator does while the cluster runs.

        Raises InputError for an unknown name, a value out of bounds, or values that contradict.
        """
        values = dict(self.values)
        values[name] = checked(name, value)
        self._refuse_late(name)
        return consistent(Configs(profile, values, tuple(sorted({*self.given, name}))))

    def changed_default(self, profile: Profile, name: str, value: object) -> Configs:
        """Return a copy with another value for all topics that have no setting of their own."""
        value = checked(name, value)
        self._refuse_late(name)
        if name in self.given:
            return self
        return consistent(Configs(profile, {**self.values, name: value}, self.given))

    def _refuse_late(self, name: str) -> None:
        if name == REMOTE:
            raise InputError("impossible", "{0} holds for a whole run; set it under configs.", name)

    def has(self, name: str, value: object) -> bool:
        """Check whether this very value is set already, other than by default."""
        return name in self.given and self.values[name] == checked(name, value)


def _records(values: Mapping[str, int], name: str) -> int:
    """Return as many records as fill that many bytes, or -1 for any number."""
    return -(-values[name] // values["record_bytes"]) if values[name] >= 0 else -1


def checked(name: str, value: object, where: str = "") -> Value:
    """Return the value of a configuration name.  Raises InputError with a sentence."""
    config = CATALOGUE.get(name)
    if config is None:
        hint = nearest(name, list(CATALOGUE))
        raise InputError(
            "unknown", "There is no configuration {0}{1}", name[:60], hint, where=where
        )
    return config.check(value, where)


def build(profile: Profile, overrides: Mapping[str, Value] | None = None) -> Configs:
    """Return the defaults of a profile with the overrides laid over them.

    Raises InputError for an unknown name, a value out of bounds, or values that contradict.
    """
    values = {name: config.default_in(profile) for name, config in CATALOGUE.items()}
    for name, value in (overrides or {}).items():
        values[name] = checked(name, value)
    return consistent(Configs(profile, values, tuple(sorted(overrides or ()))))


def for_topic(profile: Profile, cluster: Configs, own: Mapping[str, Value]) -> Configs:
    """Return the configuration of a cluster with a topic's own settings laid over it."""
    return Configs(profile, {**cluster.values, **own}, tuple(sorted(own)))


def consistent(configs: Configs) -> Configs:
    """Return `configs`.  Raises InputError for contradictions (`KafkaConfig.validateValues`)."""
    if configs.fetch_wait_max_ms > configs.lag_time_max_ms:
        raise InputError(
            "invalid", "replica.fetch.wait.max.ms must not exceed replica.lag.time.max.ms."
        )
    if configs.remote_storage and not configs.can_tier:
        raise InputError("impossible", "Tiered storage is played as of Kafka 3.6 (KIP-405).")
    return configs


def is_read_only(name: str, profile: Profile) -> bool:
    """Check whether a broker reads a setting only at its start (not in `AllDynamicConfigs`).

    `DynamicBrokerConfig.AllDynamicConfigs` lists the others.
    """
    if CATALOGUE[name].scope not in ("broker", "controller"):
        return False
    since = _DYNAMIC.get(name)
    return since is None or profile.release < since


assert all(config.flag in FLAGS for config in _LIST if config.flag)
