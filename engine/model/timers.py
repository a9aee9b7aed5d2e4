"""The timers that nodes set for themselves."""

from __future__ import annotations

from typing import Final

FETCHER_WORK: Final = 1  # F-4: a back-off ends; data = (leader, fetcher id)
PURGATORY: Final = 2  # P-4, S-6: the earliest deadline of waiting requests; data = that time
ISR_EXPIRATION: Final = 4  # CP-ISR-SHRINK
HW_CHECKPOINT: Final = 5  # H-7
HEARTBEAT: Final = 6  # CP-KR-HB, or the ping that keeps a ZooKeeper session
FENCE_CHECK: Final = 7  # CP-KR-FENCE, or the expiry of a ZooKeeper session
ALTER_RETRY: Final = 8  # CP-ALTER: send-alter-partition after a top-level error
REGISTER: Final = 9  # CP-KR-REG, CP-ZK-REG: try (again) to register
COMMIT: Final = 10  # the metadata log's majority has it; data = offset
ISR_PROPAGATION: Final = 11  # CP-ISR-ZKPROP: every 2.5 s while there are ISR changes to announce
METADATA_RETRY: Final = 12  # a broker asks the controller for metadata again
SHUTDOWN_RETRY: Final = 13  # CP-ZK-SHUTDOWN, CP-KR-SHUTDOWN: ask again
PREFERRED_CHECK: Final = 14  # CP-PREFERRED
UNCLEAN_CHECK: Final = 15  # CP-UNCLEAN-TRIGGERS, periodic from 3.9
CLIENT_TICK: Final = 16  # a workload producer or consumer acts
CLIENT_RETRY: Final = 17  # retry.backoff.ms is over
LOG_FLUSHER: Final = 18  # L-10: flush.ms
DISK_WRITE: Final = 19  # CP 8.6: a slow disk is done; data = the message it wrote
RETENTION: Final = 20  # L-8: log.retention.check.interval.ms
ASSIGN_RETRY: Final = 23  # KIP-858: report to the controller again where a log is
DIR_FAILURE: Final = 21  # L-16: log.dir.failure.timeout.ms
LOG_START_CHECKPOINT: Final = 24  # L-7: log.flush.start.offset.checkpoint.interval.ms
DIR_MOVE: Final = 22  # D-2: the thread that copies a log to another directory
QUORUM_TIMEOUT: Final = 25  # 10.1: election timeout, fetch timeout or back-off of a voter
VOTER_FETCH: Final = 26  # 10.1: a voter fetches again after a failure; data = `Voter.since`
BEGIN_EPOCH_TICK: Final = 27  # 10.1: a leader announces its epoch again; data = the epoch
PARKED_FETCH: Final = 28  # 10.1: a voter's fetch has waited long enough; data = (voter, corr)
VOTER_RESEND: Final = 29  # 10.1: a request to a voter was lost; data = (kind, voter, `Voter.since`)
GROUP_CHECK: Final = 30  # G-3: a member's session or a rebalance may time out; data = partition
GROUP_BEAT: Final = 31  # G-3: heartbeat.interval.ms of a member; data = its start
GROUP_RETRY: Final = 32  # G-1: retry.backoff.ms of a member is over; data = its start
REMOTE_LOG: Final = 33  # remote.log.manager.task.interval.ms
REMOTE_COPY: Final = 34  # a slow copy ends; data = (partition, leader epoch, base, end)
REMOTE_INDEX: Final = 35  # a slow store answers; data = (leader, fetcher, corr, partition)
CONTROL_RETRY: Final = 36  # 5.1: a control request was lost; data = broker
IDLE_RECORD: Final = 37  # 10.1: metadata.max.idle.interval.ms; an active controller appends NoOp
METADATA_WAIT: Final = 38  # 5.4: a paused broker's fetch has waited long enough; data = (id, corr)
VOTER_STOP: Final = 39  # 10.1: a graceful shutdown has lasted long enough; data = `Voter.stop_at`
REQUEST_TIMEOUT: Final = 40  # 10.1: a paused voter has not answered a request; data = corr

NAMES: Final = {
    FETCHER_WORK: "fetcher",
    PURGATORY: "purgatory",
    ISR_EXPIRATION: "isr-expiration",
    HW_CHECKPOINT: "highwatermark-checkpoint",
    HEARTBEAT: "heartbeat",
    FENCE_CHECK: "session check",
    ALTER_RETRY: "AlterPartition retry",
    REGISTER: "register",
    COMMIT: "metadata commit",
    ISR_PROPAGATION: "isr-change-propagation",
    METADATA_RETRY: "metadata fetch",
    SHUTDOWN_RETRY: "controlled shutdown",
    PREFERRED_CHECK: "auto-leader-rebalance",
    UNCLEAN_CHECK: "unclean election",
    CLIENT_TICK: "client",
    CLIENT_RETRY: "client retry",
    LOG_FLUSHER: "log flusher",
    ASSIGN_RETRY: "directory assignment",
    DIR_FAILURE: "directory failure",
    DIR_MOVE: "log directory move",
    DISK_WRITE: "disk write",
    RETENTION: "log retention",
    LOG_START_CHECKPOINT: "log-start-offset-checkpoint",
    QUORUM_TIMEOUT: "quorum timeout",
    VOTER_FETCH: "voter fetch",
    BEGIN_EPOCH_TICK: "BeginQuorumEpoch",
    PARKED_FETCH: "voter fetch expires",
    VOTER_RESEND: "voter request retry",
    GROUP_CHECK: "group session",
    GROUP_BEAT: "group heartbeat",
    GROUP_RETRY: "group retry",
    REMOTE_LOG: "remote log tasks",
    REMOTE_COPY: "remote copy",
    REMOTE_INDEX: "remote index",
    CONTROL_RETRY: "control request retry",
    IDLE_RECORD: "idle record",
    VOTER_STOP: "voter shutdown",
    REQUEST_TIMEOUT: "request timeout",
    METADATA_WAIT: "metadata fetch expires",
}
