"""The rules that cues name: how much each matters, what tells it, why, and where Kafka does it.

`moment`: 3 a leadership change, lost data; 2 truncation, ISR, faults, HW, answers to clients;
1 records appended, a follower's end learnt; 0 routine.
"""

from __future__ import annotations

from typing import Final


class Rule:
    """One rule or sub-step.  `say` and `why` are keys of the catalogue.

    `say` is a sentence about {b}, the node, {a}, the old, and {o}, the new value.  It is "" where
    there is nothing to tell, or where the sentence needs more: then consequences.py makes it.
    """

    __slots__ = ("id", "kafka", "moment", "say", "title", "why")

    def __init__(
        self, id: str, moment: int, say: str, title: str, kafka: str, why: str = ""
    ) -> None:
        self.id = id
        self.moment = moment
        self.say = say
        self.title = title
        self.kafka = kafka
        self.why = why


_LIST: Final = (
    # -- log -----------------------------------------------------------------------------------
    Rule("L-3", 1, "", "Append as leader", "Partition.appendRecordsToLeader"),
    Rule("L-3.refused", 2, "", "A write is refused",
         "Partition.appendRecordsToLeader", "why.refused"),
    Rule("L-4", 1, "", "Append as follower",
         "Partition.appendRecordsToFollowerOrFutureReplica", "why.verbatim"),
    Rule("L-7", 1, "log.start", "Raise the log start", "UnifiedLog.maybeIncrementLogStartOffset"),
    Rule("L-8", 2, "log.retention", "Old segments are deleted", "UnifiedLog.deleteOldSegments",
         "why.retention"),
    Rule("L-9", 2, "log.delete", "Records are deleted", "ReplicaManager.deleteRecords",
         "why.delete"),
    Rule("L-10", 1, "log.flush", "Flush", "UnifiedLog.flush"),
    Rule("L-11", 2, "", "Power loss", "", "why.power"),
    Rule("L-11.lost", 0, "", "Records that were only in memory", ""),
    Rule("L-12", 2, "shutdown.clean", "Clean shutdown", "ReplicaManager.shutdown", "why.clean"),
    Rule("L-13", 1, "log.load", "Load and recovery", "LogLoader.load", "why.load"),
    Rule("L-14", 0, "", "Records that were cut", "UnifiedLog.truncateTo"),
    Rule("L-16", 2, "log.offline", "A log directory fails",
         "ReplicaManager.handleLogDirFailure", "why.offline_disk"),
    Rule("E-5", 1, "", "Where did an epoch end?",
         "LeaderEpochFileCache.endOffsetFor", "why.epoch"),
    # -- high watermark ------------------------------------------------------------------------
    Rule("H-2", 2, "", "The leader raises its high watermark",
         "Partition.maybeIncrementLeaderHW", "why.hw"),
    Rule("H-2.min_isr", 1, "hw.frozen", "The high watermark is frozen below min ISR",
         "Partition.maybeIncrementLeaderHW", "why.frozen"),
    Rule("H-4", 0, "", "A follower takes the leader's mark",
         "UnifiedLog.maybeUpdateHighWatermark", "why.follow"),
    Rule("H-7", 0, "", "The high watermark is written to disk",
         "ReplicaManager.checkpointHighWatermarks"),
    # -- serving -------------------------------------------------------------------------------
    Rule("S-2.epoch_check", 2, "", "The request does not fit this broker",
         "Partition.fetchRecords", "why.fenced"),
    Rule("S-3", 2, "", "The logs diverge", "Partition.readRecords", "why.diverge"),
    Rule("S-4", 1, "", "The fetch tells where the follower's log ends",
         "Partition.updateFollowerFetchState", "why.ack"),
    Rule("S-5", 0, "", "The fetch waits for bytes", "ReplicaManager.fetchMessages",
         "why.parked"),
    Rule("S-7", 2, "", "A follower may join the ISR", "Partition.maybeExpandIsr",
         "why.expand"),
    Rule("S-7.epoch_start", 1, "", "Too early to join the ISR",
         "Partition.maybeExpandIsr", "why.too_early"),
    Rule("S-8", 2, "", "A follower is out of sync", "Partition.maybeShrinkIsr",
         "why.shrink"),
    Rule("S-9", 2, "", "The ISR change is confirmed",
         "Partition.handleAlterPartitionUpdate", "why.committed"),
    Rule("S-9.rejected", 2, "", "The ISR change is refused",
         "Partition.handleAlterPartitionError", "why.rejected"),
    Rule("S-9.pending", 2, "", "The ISR change stays pending",
         "Partition.handleAlterPartitionError", "why.pending"),
    # -- produce and consume -------------------------------------------------------------------
    Rule("P-2", 2, "", "acks=1 is answered after the append", "ReplicaManager.appendRecords",
         "why.ack1"),
    Rule("P-4", 0, "", "acks=all waits", "DelayedProduce", "why.waits"),
    Rule("P-4.answer", 2, "", "A waiting produce is answered",
         "DelayedProduce.tryComplete", "why.waits"),
    Rule("P-7", 1, "", "A duplicate is answered and not written again",
         "ProducerAppendInfo.checkSequence", "why.duplicate"),
    Rule("P-7.refused", 2, "", "A sequence number does not follow",
         "ProducerAppendInfo.checkSequence"),
    Rule("C-2", 1, "", "What a consumer may see", "Partition.fetchRecords",
         "why.visible"),
    # -- quotas --------------------------------------------------------------------------------
    Rule("Q-2", 1, "", "The leader's replication quota is used up", "ReplicaManager.readFromLog",
         "why.quota"),
    Rule("Q-3", 1, "", "The follower's replication quota is used up",
         "ReplicaFetcherThread.shouldFollowerThrottle", "why.quota"),
    # -- fetch sessions ------------------------------------------------------------------------
    Rule("X-3", 2, "", "A session is not known, or out of step", "FetchManager.newContext",
         "why.session_error"),
    Rule("X-4", 0, "", "An answer with the news only",
         "IncrementalFetchContext.updateAndGenerateResponseData", "why.session"),
    Rule("X-5", 1, "", "A session is opened", "FetchSessionCache.maybeCreateSession",
         "why.session"),
    Rule("X-5.evicted", 2, "", "A session gives way", "FetchSessionCache.tryEvict", "why.evicted"),
    Rule("X-6", 2, "", "The fetcher begins anew", "FetchSessionHandler.handleResponse",
         "why.session_error"),
    # -- fetcher -------------------------------------------------------------------------------
    Rule("F-2", 0, "", "Fetching starts", "AbstractFetcherManager.addFetcherFor"),
    Rule("F-8", 1, "", "Back off and retry",
         "AbstractFetcherThread.handlePartitionsWithErrors"),
    Rule("F-8.failed", 2, "", "The partition has failed here",
         "AbstractFetcherThread.markPartitionFailed", "why.failed"),
    Rule("F-9", 2, "", "Out of range",
         "AbstractFetcherThread.fetchOffsetAndTruncate", "why.range"),
    Rule("F-9.kept", 0, "", "Nothing to cut", "UnifiedLog.truncateTo"),
    Rule("F-9.halt", 3, "fetcher.halt", "The broker halts",
         "ReplicaFetcherThread.handleOffsetOutOfRange", "why.halt"),
    Rule("F-10", 2, "", "Fenced", "AbstractFetcherThread.onPartitionFenced",
         "why.fenced"),
    # -- truncation ----------------------------------------------------------------------------
    Rule("T-0", 2, "", "Truncation to the own high watermark",
         "ReplicaManager.makeFollowers", "why.trunc.hw"),
    Rule("T-0.kept", 1, "trunc.kept", "Nothing to cut", "UnifiedLog.truncateTo"),
    Rule("T-1", 2, "", "Truncation to an epoch's end (KIP-101)",
         "ReplicaFetcherThread.maybeTruncate", "why.trunc.epoch"),
    Rule("T-1.kept", 1, "trunc.kept", "Nothing to cut", "UnifiedLog.truncateTo"),
    Rule("T-2", 2, "", "Truncation by epoch and end (KIP-279)",
         "AbstractFetcherThread.getOffsetTruncationState", "why.trunc.epoch"),
    Rule("T-2.kept", 1, "trunc.kept", "Nothing to cut", "UnifiedLog.truncateTo"),
    Rule("T-4", 2, "", "Truncation on fetch (KIP-595)",
         "AbstractFetcherThread.truncateOnFetchResponse", "why.trunc.epoch"),
    Rule("T-4.kept", 1, "trunc.kept", "Nothing to cut", "UnifiedLog.truncateTo"),
    # -- controller ----------------------------------------------------------------------------
    Rule("CP-ELECT-KR", 3, "", "The controller elects", "PartitionChangeBuilder.build",
         "why.elect"),
    Rule("CP-ELECT-ZK", 3, "", "The controller elects",
         "PartitionLeaderElectionAlgorithms", "why.elect"),
    Rule("CP-ELECT-ADMIN", 1, "admin.elect", "An operator asks for an election",
         "AdminClient.electLeaders"),
    Rule("CP-ISR", 2, "", "The recorded ISR changes", "PartitionChangeBuilder.build",
         "why.isr"),
    Rule("CP-ELR", 2, "", "The eligible leader replicas change",
         "PartitionChangeBuilder.maybePopulateTargetElr", "why.elr"),
    Rule("CP-ALTER", 2, "", "AlterPartition is refused",
         "ReplicationControlManager.alterPartition", "why.alter"),
    Rule("CP-KR-FENCE", 2, "", "A silent broker is fenced",
         "ReplicationControlManager.handleBrokerFenced", "why.fence"),
    Rule("CP-KR-UNFENCE", 2, "", "A broker is unfenced",
         "ReplicationControlManager.handleBrokerUnfenced", "why.unfence"),
    Rule("CP-KR-SHUTDOWN", 2, "", "Controlled shutdown",
         "ReplicationControlManager.handleBrokerInControlledShutdown", "why.leaving"),
    Rule("CP-KR-APPLY", 0, "", "Metadata is applied",
         "BrokerMetadataPublisher.onMetadataUpdate"),
    Rule("CP-KR-HB", 1, "member.running", "The broker runs", "BrokerLifecycleManager"),
    Rule("CP-ZK-BROKERS", 2, "", "A session has expired",
         "KafkaController.processBrokerChange", "why.fence"),
    Rule("CP-REG", 1, "", "A broker registers",
         "ClusterControlManager.registerBroker"),
    Rule("CP-MAKE-LEADER", 3, "", "A broker becomes leader", "Partition.makeLeader",
         "why.lead"),
    Rule("CP-MAKE-FOLLOWER", 1, "", "A broker becomes follower",
         "Partition.makeFollower"),
    Rule("CP-STOP-REPLICA", 1, "replica.stopped", "A replica stops", "ReplicaManager.stopReplicas"),
    Rule("CP-SHUTDOWN", 2, "fault.shutdown", "Controlled shutdown",
         "BrokerServer.shutdown", "why.leaving"),
    Rule("CP-REASSIGN", 2, "", "An operator asks for other replicas",
         "AdminClient.alterPartitionReassignments", "why.reassign"),
    Rule("CP-REASSIGN.done", 2, "", "A reassignment ends",
         "PartitionReassignmentReplicas.maybeCompleteReassignment"),
    Rule("CP-PLACE-SIMPLE", 2, "", "The textbook's placement", "", "why.place"),
    Rule("CP-PLACE-ZK", 2, "", "Placement of the ZooKeeper era",
         "AdminUtils.assignReplicasToBrokersRackUnaware", "why.place.zk"),
    Rule("CP-PLACE-ZK-RACK", 2, "", "Rack-aware placement",
         "AdminUtils.assignReplicasToBrokersRackAware", "why.place.rack"),
    Rule("CP-PLACE-KR", 2, "", "The striped placer", "StripedReplicaPlacer.place",
         "why.place.rack"),
    Rule("CP-ELECT-NEW", 2, "", "A new partition", "ReplicationControlManager.createTopic",
         "why.new"),
    Rule("CP-7.7.delete", 2, "", "A topic is to be deleted", "AdminClient.deleteTopics"),
    Rule("CP-7.7.ineligible", 2, "", "The deletion has to wait",
         "TopicDeletionManager.markTopicIneligibleForDeletion", "why.ineligible"),
    Rule("CP-7.7.deleted", 2, "", "A topic is gone", "ReplicationControlManager.deleteTopic",
         "why.deleted"),
    Rule("CP-KR-APPLY.stray", 2, "", "A stray log is deleted",
         "BrokerMetadataPublisher.initializeManagers", "why.stray"),
    Rule("CP-DECOMMISSION", 2, "", "A broker is to leave for good", "", "why.decommission"),
    Rule("CP-DECOMMISSION.forget", 2, "", "A broker is forgotten",
         "ClusterControlManager.unregisterBroker"),
    Rule("CP-12", 2, "", "A configuration changes", "ConfigurationControlManager",
         "why.config"),
    # -- faults --------------------------------------------------------------------------------
    Rule("CP-8.1.kill", 2, "fault.kill", "Process crash", "", "why.kill"),
    Rule("CP-8.1.power", 2, "", "Machine crash", ""),
    Rule("CP-8.1.wipe", 2, "fault.wipe", "Empty disks", "", "why.wipe"),
    Rule("CP-8.2.start", 2, "fault.start", "Restart", "", "why.start"),
    Rule("CP-8.3.pause", 2, "fault.pause", "Pause", "", "why.pause"),
    Rule("CP-8.3.resume", 2, "fault.resume", "Resume", "", "why.resume"),
    Rule("CP-8.5.cut", 2, "", "A link is cut", "", "why.cut"),
    Rule("CP-8.5.heal", 2, "", "A link is healed", "", "why.heal"),
    Rule("CP-8.5.drop", 2, "", "A message is lost", "", "why.drop"),
    Rule("CP-8.5.hold", 1, "", "Messages are held", ""),
    Rule("CP-8.5.release", 1, "", "Held messages go on", ""),
    Rule("CP-8.5.delay", 1, "", "A message comes later", ""),
    Rule("CP-8.5.duplicate", 2, "", "A request is sent again", "", "why.duplicate"),
    Rule("CP-8.6.slow", 1, "", "A slow link", ""),
    Rule("CP-8.6.lose", 1, "", "A lossy link", ""),
    Rule("CP-8.6.slow_disk", 2, "", "A slow disk", "", "why.disk"),
    Rule("CP-8.6.writes", 0, "", "A slow disk writes", ""),
    Rule("CP-8.7.jump", 2, "", "A clock jumps", "", "why.jump"),
    Rule("CP-5.4.hold", 1, "", "Held back", ""),
    Rule("CP-5.4.release", 1, "", "Released", ""),
    Rule("CP-10.down", 3, "controller.down", "No active controller", "", "why.no_controller"),
    Rule("CP-10.discarded", 2, "controller.discarded", "Uncommitted metadata is gone",
         "RaftManager", "why.discarded"),
    Rule("CP-10.up", 2, "", "A new controller", "QuorumController", "why.controller"),
)  # fmt: skip

RULES: Final[dict[str, Rule]] = {rule.id: rule for rule in _LIST}
