"""Rules of the control plane: membership, elections, the ISR, reassignment, the KRaft quorum."""

from __future__ import annotations

from typing import Final

from engine.story.places import (
    about_node,
    about_word,
    at_node,
    controller,
    link_end,
    new_count,
    new_delay,
    new_directory,
    new_error,
    new_members,
    new_node,
    new_nodes,
    new_number,
    new_partition,
    old_message,
    old_node,
    other_end,
)
from engine.story.rule import Rule, RuleStep

RULES: Final = (
    Rule("CP-ZK-REG", "A broker registers (ZooKeeper)"),
    Rule("CP-ZK-CTRL", "Controller election and fail-over (ZooKeeper)", (
        RuleStep("", "A past controller resigns", 3, "controller.resigns",
                 "KafkaZkClient.retryRequestUntilConnected", "why.resigns"),
        RuleStep("expired", "A past controller resigns", 3, "controller.expired",
                 "KafkaController.onControllerResignation"),
    )),
    Rule("CP-ZK-BROKERS", "The set of brokers changes (ZooKeeper)", (
        RuleStep("", "A session has expired", 2, "", "KafkaController.processBrokerChange",
                 "why.fence"),
        RuleStep("unnoticed", "A bounce goes unnoticed", 2, "member.unnoticed",
                 "KafkaController.processBrokerChange", "why.unnoticed",
                 places={"k": controller, "b": about_node}),
    )),
    Rule("CP-ZK-SHUTDOWN", "Controlled shutdown (ZooKeeper)"),
    Rule("CP-KR-REG", "A broker registers (KRaft)"),
    Rule("CP-KR-HB", "Heartbeats and the two state machines (KRaft)", (
        RuleStep("", "The broker runs", 1, "member.running", "BrokerLifecycleManager"),
    )),
    Rule("CP-KR-FENCE", "Session expiry and fencing", (
        RuleStep("", "A silent broker is fenced", 2, "",
                 "ReplicationControlManager.handleBrokerFenced", "why.fence"),
    )),
    Rule("CP-KR-UNFENCE", "Unfencing", (
        RuleStep("", "A broker is unfenced", 2, "member.unfenced",
                 "ReplicationControlManager.handleBrokerUnfenced", "why.unfence",
                 places={"k": controller, "b": about_node}),
    )),
    Rule("CP-KR-SHUTDOWN", "Controlled shutdown (KRaft)", (
        RuleStep("", "Controlled shutdown", 2, "member.leaving",
                 "ReplicationControlManager.handleBrokerInControlledShutdown", "why.leaving",
                 places={"k": controller, "b": about_node}),
    )),
    Rule("CP-PLACE-SIMPLE", "The textbook's modulo rule", (
        RuleStep("", "The textbook's placement", 2, "topic.place.textbook", "", "why.place",
                 places={"n": new_count, "t": about_word}),
    )),
    Rule("CP-PLACE-ZK", "Placement of the ZooKeeper era", (
        RuleStep("", "", 2, "topic.place.zk", "AdminUtils.assignReplicasToBrokersRackUnaware",
                 "why.place.zk", places={"n": new_count, "t": about_word}),
    )),
    Rule("CP-PLACE-ZK-RACK", "Its rack-aware variant (KIP-36)", (
        RuleStep("", "Rack-aware placement", 2, "topic.place.zk_rack",
                 "AdminUtils.assignReplicasToBrokersRackAware", "why.place.rack",
                 places={"n": new_count, "t": about_word}),
    ), unlit="no scenario places by racks under ZooKeeper"),
    Rule("CP-PLACE-KR", "The striped placer (KRaft)", (
        RuleStep("", "The striped placer", 2, "topic.place.striped", "StripedReplicaPlacer.place",
                 "why.place.rack", places={"n": new_count, "t": about_word}),
    ), unlit="the scenarios of the library say where replicas are"),
    Rule("CP-ELECT-NEW", "A new partition", (
        RuleStep("", "", 2, "", "ReplicationControlManager.createTopic", "why.new"),
    )),
    Rule("CP-ELECT-ZK", "The four strategies of the ZooKeeper era", (
        RuleStep("", "The controller elects", 3, "", "PartitionLeaderElectionAlgorithms",
                 "why.elect", mark="leader"),
    )),
    Rule("CP-ELECT-KR", "The rule of partition changes (KRaft)", (
        RuleStep("", "The controller elects", 3, "", "PartitionChangeBuilder.build", "why.elect",
                 mark="leader"),
    )),
    Rule("CP-PREFERRED", "Preferred leader election"),
    Rule("CP-UNCLEAN-TRIGGERS", "What triggers an unclean election"),
    Rule("CP-ISR-CLOCK", "The follower's clock that the leader keeps"),
    Rule("CP-ISR-SHRINK", "Shrink"),
    Rule("CP-ISR-EXPAND", "Expand"),
    Rule("CP-ALTER", "AlterPartition (KIP-497)", (
        RuleStep("", "AlterPartition is refused", 2, "alter.refused",
                 "ReplicationControlManager.alterPartition", "why.alter",
                 places={"k": controller, "l": old_node, "x": new_error}),
        RuleStep("direct", "The leader's own write of the ISR fails", 2, "alter.direct",
                 "Partition.updateIsr", "why.direct", places={"l": old_node}),
    )),
    Rule("CP-ISR-ZKPROP", "ISR propagation of the ZooKeeper era", (
        RuleStep("", "ISR changes are announced", 2, "isr.propagates",
                 "ReplicaManager.maybePropagateIsrChanges", "why.propagation"),
        RuleStep("known", "Clients see the new ISR", 1, "isr.known",
                 "ReplicaManager.maybeUpdateMetadataCache"),
    )),
    Rule("CP-MINISR", "min.insync.replicas"),
    Rule("CP-ELR", "Eligible leader replicas (KIP-966)", (
        RuleStep("", "The eligible leader replicas change", 2, "",
                 "PartitionChangeBuilder.maybePopulateTargetElr", "why.elr"),
    )),
    Rule("CP-CLEAN-SHUTDOWN", "Was a shutdown clean?"),
    Rule("CP-LISR", "LeaderAndIsr", (
        RuleStep("stale", "A request of a past controller", 2, "controller.stale",
                 "ReplicaManager.becomeLeaderOrFollower", "why.stale_controller"),
        RuleStep("again", "A lost request is sent again", 2, "controller.again",
                 places={"k": controller, "b": about_node}),
    )),
    Rule("CP-KR-APPLY", "A broker applies metadata", (
        RuleStep("", "Metadata is applied", 0, "", "BrokerMetadataPublisher.onMetadataUpdate"),
        RuleStep("stray", "A stray log is deleted", 2, "",
                 "BrokerMetadataPublisher.initializeManagers", "why.stray"),
    )),
    Rule("CP-MAKE-LEADER", "A broker becomes leader", (
        RuleStep("", "", 3, "", "Partition.makeLeader", "why.lead", mark="leader"),
    )),
    Rule("CP-MAKE-FOLLOWER", "A broker becomes follower", (
        RuleStep("", "", 1, "", "Partition.makeFollower"),
    )),
    Rule("CP-REASSIGN-KR", "Reassignment (KRaft)"),
    Rule("CP-REASSIGN-ZK", "Reassignment (ZooKeeper)"),
    Rule("CP-THROTTLE", "Throttled reassignment"),
    Rule("CP-DECOMMISSION", "Retiring a broker", (
        RuleStep("", "A broker is to leave for good", 2, "broker.retire", "", "why.decommission",
                 places={"b": about_node, "n": new_number}),
        RuleStep("forget", "A broker is forgotten", 2, "broker.forgotten",
                 "ReplicationControlManager.unregisterBroker", places={"b": about_node}),
    )),
    Rule("CP-RAFT-VOTE", "Voters elect a leader (KIP-595)", (
        RuleStep("unattached", "A newer epoch without a leader", 1, "",
                 "QuorumState.transitionToUnattached"),
        RuleStep("voted", "A vote", 1, "", "KafkaRaftClient.handleVoteRequest"),
        RuleStep("candidate", "A candidate", 2, "", "QuorumState.transitionToCandidate",
                 "why.voter.candidate"),
        RuleStep("answer", "A vote is refused", 0, "", "QuorumState.canGrantVote"),
    )),
    Rule("CP-RAFT-PREVOTE", "A voter first asks who would vote for it (KIP-996)", (
        RuleStep("prospective", "A voter asks for pre-votes", 2, "",
                 "QuorumState.transitionToProspective", "why.voter.prospective"),
        RuleStep("answer", "A pre-vote", 0, "", "QuorumState.canGrantVote"),
        RuleStep("lost", "No majority of pre-votes", 1, "",
                 "KafkaRaftClient.prospectiveTransitionAfterElectionLoss", "why.voter.lost"),
    )),
    Rule("CP-RAFT-EPOCH", "A leader begins and ends its epoch", (
        RuleStep("leader", "A leader of the quorum", 2, "", "QuorumState.transitionToLeader",
                 "why.voter.leads"),
        RuleStep("follower", "A voter follows", 1, "", "QuorumState.transitionToFollower"),
        RuleStep("resigned", "A leader resigns", 2, "", "QuorumState.transitionToResigned"),
        RuleStep("check", "A leader without a majority", 2, "",
                 "LeaderState.timeUntilCheckQuorumExpires", "why.voter.alone"),
        RuleStep("halt", "A voter has forgotten that it led", 3, "",
                 "QuorumState.transitionToFollower", "why.voter.forgot", mark="fault"),
    )),
    Rule("CP-RAFT-FETCH", "Voters fetch the metadata log", (
        RuleStep("", "A voter appends metadata", 1, "voter.copies",
                 "ReplicatedLog.appendAsFollower"),
        RuleStep("mark", "A voter takes the mark over", 0, "", "FollowerState.updateHighWatermark"),
        RuleStep("truncate", "Uncommitted metadata is cut", 3, "voter.truncates",
                 "ReplicatedLog.truncateToEndOffset", "why.voter.truncates", mark="trunc"),
        RuleStep("halt", "Committed metadata is gone", 3, "",
                 "KafkaRaftClient.handleFetchResponse", "why.voter.halts", mark="fault"),
    )),
    Rule("CP-RAFT-VOTERS", "The voters of the quorum change (KIP-853)", (
        RuleStep("add", "A voter is added", 2, "", "", "why.voter.changed"),
        RuleStep("remove", "A voter is removed", 2, "", "", "why.voter.changed"),
    )),
    Rule("CP-RAFT-TIMEOUT", "A request to the quorum is given up", (
        RuleStep("", "A request has no response", 1, "", "KafkaRaftClient.poll",
                 "why.voter.given_up"),
    )),
    Rule("CP-RAFT-COMMIT", "The quorum commits metadata", (
        RuleStep("append", "The leader appends metadata", 1, "voter.appends",
                 "ReplicatedLog.appendAsLeader"),
        RuleStep("", "A majority has the metadata", 1, "voter.commits",
                 "LeaderState.maybeUpdateHighWatermark", "why.voter.commits"),
    )),
    Rule("CP-RAFT-OBSERVER", "Brokers observe the quorum", (
        RuleStep("", "A broker learns of a leader", 1, "voter.observed",
                 "KafkaRaftClient.maybeHandleCommonResponse", places={"b": at_node, "a": new_node}),
    )),
)  # fmt: skip

BESIDE: Final = (
    Rule("CP-ISR", "The recorded ISR changes", (
        RuleStep("", "", 2, "", "PartitionChangeBuilder.build", "why.isr", mark="isr"),
    )),
    Rule("CP-REG", "A broker registers", (
        RuleStep("", "", 1, "member.registered", "ClusterControlManager.registerBroker",
                 places={"b": at_node, "n": new_number}),
    )),
    Rule("CP-ELECT-ADMIN", "An operator asks for an election", (
        RuleStep("", "", 1, "admin.elect", "AdminClient.electLeaders"),
    )),
    Rule("CP-STOP-REPLICA", "A replica stops", (
        RuleStep("", "", 1, "replica.stopped", "ReplicaManager.stopReplicas"),
    )),
    Rule("CP-SHUTDOWN", "Controlled shutdown", (
        RuleStep("", "", 2, "fault.shutdown", "BrokerServer.shutdown", "why.leaving"),
    )),
    Rule("CP-REASSIGN", "An operator asks for other replicas", (
        RuleStep("", "", 2, "", "AdminClient.alterPartitionReassignments", "why.reassign"),
        RuleStep("done", "A reassignment ends", 2, "reassign.over",
                 "PartitionReassignmentReplicas.maybeCompleteReassignment",
                 places={"i": new_members}),
    )),
    Rule("CP-12", "A configuration changes", (
        RuleStep("", "", 2, "", "ConfigurationControlManager", "why.config"),
    )),
    Rule("CP-5.4", "Delivery of metadata", (
        RuleStep("hold", "Held back", 1, ""),
        RuleStep("release", "Released", 1, ""),
    )),
    Rule("CP-7.7", "A topic is deleted", (
        RuleStep("delete", "A topic is to be deleted", 2, "topic.delete",
                 "AdminClient.deleteTopics", places={"t": about_word}),
        RuleStep("ineligible", "The deletion has to wait", 2, "topic.ineligible",
                 "TopicDeletionManager.markTopicIneligibleForDeletion", "why.ineligible",
                 places={"t": about_word, "w": new_nodes}),
        RuleStep("deleted", "A topic is gone", 2, "topic.deleted",
                 "ReplicationControlManager.deleteTopic", "why.deleted", places={"t": about_word}),
    )),
    Rule("CP-8.1", "A process or a machine crashes", (
        RuleStep("kill", "Process crash", 2, "fault.kill", "", "why.kill", mark="fault"),
        RuleStep("power", "Machine crash", 2, "", mark="fault"),
        RuleStep("wipe", "Empty disks", 2, "", "", "why.wipe", mark="fault"),
        RuleStep("spoil", "An unexpected error in a fetcher", 2, "fault.spoil", mark="fault",
                 places={"b": at_node, "t": new_partition}),
        RuleStep("disk", "Disk failure", 2, "fault.dir", mark="fault",
                 places={"b": at_node, "d": new_directory}),
    )),
    Rule("CP-8.2", "Restart", (
        RuleStep("start", "", 2, "fault.start", "", "why.start", mark="heal"),
    )),
    Rule("CP-8.3", "Pause", (
        RuleStep("pause", "", 2, "fault.pause", "", "why.pause", mark="fault"),
        RuleStep("resume", "Resume", 2, "fault.resume", "", "why.resume", mark="heal"),
    )),
    Rule("CP-8.4", "A log directory fails", (
        RuleStep("event", "A log directory has failed", 1, "disk.event",
                 "KafkaController.processLogDirEventNotification", "why.disk_event",
                 places={"k": controller, "b": about_node}),
        RuleStep("offline", "Replicas are offline", 2, "",
                 "ReplicationControlManager.handleDirectoriesOffline", "why.disk_offline"),
        RuleStep("assign", "Where a replica's log is", 0, "",
                 "ReplicationControlManager.handleAssignReplicasToDirs"),
    )),
    Rule("CP-8.5", "Faults of the network", (
        RuleStep("cut", "A link is cut", 2, "", "", "why.cut", mark="fault"),
        RuleStep("zookeeper", "A broker loses ZooKeeper, or finds it again", 2, "", "",
                 "why.zookeeper", mark="fault"),
        RuleStep("heal", "A link is healed", 2, "fault.heal", "", "why.heal", mark="heal",
                 places={"a": link_end, "b": other_end}),
        RuleStep("drop", "A message is lost", 2, "", "", "why.drop", mark="fault"),
        RuleStep("hold", "Messages are held", 1, ""),
        RuleStep("release", "Held messages go on", 1, "fault.release.way",
                 places={"a": link_end, "b": other_end}),
        RuleStep("delay", "A message comes later", 1, "fault.delay",
                 places={"a": link_end, "b": other_end, "t": old_message, "n": new_delay}),
        RuleStep("duplicate", "A request is sent again", 2, "fault.duplicate", "",
                 "why.duplicate", mark="fault",
                 places={"a": link_end, "b": other_end, "t": old_message}),
    )),
    Rule("CP-8.6", "Slow and lossy links, slow disks", (
        RuleStep("slow", "A slow link", 1, ""),
        RuleStep("lose", "A lossy link", 1, ""),
        RuleStep("slow_disk", "A slow disk", 2, "", "", "why.disk", mark="fault"),
        RuleStep("writes", "A slow disk writes", 0, ""),
        RuleStep("reads", "A slow disk reads", 0, ""),
    )),
    Rule("CP-8.7", "Clocks", (
        RuleStep("jump", "A clock jumps", 2, "", "", "why.jump", mark="fault"),
    )),
    Rule("CP-10", "The controller", (
        RuleStep("down", "No active controller", 3, "controller.down", "", "why.no_controller",
                 mark="fault"),
        RuleStep("deposed", "A past leader of the quorum", 3, "controller.deposed", "",
                 "why.deposed"),
        RuleStep("discarded", "Uncommitted metadata is gone", 2, "controller.discarded",
                 "RaftManager", "why.discarded"),
        RuleStep("up", "A new controller", 2, "controller.up", "QuorumController",
                 "why.controller", mark="heal", places={"n": new_number}),
        RuleStep("killed", "A voter crashes", 2, "voter.killed", "", "why.voter.killed",
                 mark="fault"),
        RuleStep("stopping", "A voter shuts down", 2, "voter.stopping", "",
                 "why.voter.stopping", mark="fault"),
        RuleStep("stopped", "A voter has stopped", 2, "voter.stopped", "",
                 "why.voter.stopped"),
        RuleStep("started", "A voter starts", 2, "voter.started", "", "why.voter.started",
                 mark="heal"),
        RuleStep("blank", "A voter starts with an empty disk", 2, "voter.blank", "",
                 "why.voter.wiped", mark="heal"),
        RuleStep("paused", "A voter freezes", 2, "voter.paused", "", "why.voter.paused",
                 mark="fault"),
        RuleStep("resumed", "A voter goes on", 2, "voter.resumed", "KafkaRaftClient.poll",
                 "why.voter.resumed", mark="heal"),
        RuleStep("wiped", "A voter's disk is empty", 3, "voter.wiped", "", "",
                 mark="fault"),
    )),
)  # fmt: skip
"""Changes without a rule of their own, operators, faults."""
