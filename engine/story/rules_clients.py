"""Rules of clients: producers, consumers and consumer groups."""

from __future__ import annotations

from typing import Final

from engine.story.places import (
    about_node,
    at_node,
    new_error,
    new_node,
    new_number,
    new_offset,
    new_records,
    new_word,
    old_node,
    old_partitions,
    old_records,
    old_word,
    partition,
)
from engine.story.rule import Rule, RuleStep

RULES: Final = (
    Rule("P-1", "The request"),
    Rule("P-2", "What acks means", (
        RuleStep("", "acks=1 is answered after the append", 2, "", "ReplicaManager.appendRecords",
                 "why.ack1", mark="ack"),
    )),
    Rule("P-3", "The flow"),
    Rule("P-4", "When a waiting produce is answered", (
        RuleStep("", "acks=all waits", 0, "produce.waits", "DelayedProduce", "why.waits",
                 places={"b": at_node, "o": new_offset}),
        RuleStep("answer", "A waiting produce is answered", 2, "", "DelayedProduce.tryComplete",
                 "why.waits", mark="ack"),
    )),
    Rule("P-5", "The two errors “not enough replicas”"),
    Rule("P-6", "What the client does"),
    Rule("P-7", "Idempotent producer", (
        RuleStep("", "A duplicate is answered and not written again", 1, "produce.duplicate",
                 "ProducerAppendInfo.checkSequence", "why.duplicate",
                 places={"b": at_node, "m": old_records, "o": new_offset}),
        RuleStep("refused", "A sequence number does not follow", 2, "",
                 "ProducerAppendInfo.checkSequence"),
    )),
    Rule("P-8", "Stories to animate",
         excuse="stories, told by scenarios of the library; no rule of their own"),
    Rule("C-1", "From whom consumers fetch"),
    Rule("C-2", "Visibility", (
        RuleStep("", "What a consumer may see", 1, "", "Partition.fetchRecords", "why.visible"),
    )),
    Rule("C-3", "A position beyond the high watermark",
         unlit="an empty answer without an error changes nothing that could be told"),
    Rule("C-4", "Out of range", (
        RuleStep("exception", "No offset to begin from", 2, "", "OffsetOutOfRangeException",
                 "why.exception"),
    ), unlit="no consumer of the library is without auto.offset.reset"),
    Rule("C-5", "ListOffsets", (
        RuleStep("", "A position is looked up", 1, "read.position",
                 "OffsetFetcher.resetPositionsIfNeeded", places={"c": at_node, "o": new_offset}),
    )),
    Rule("C-6", "Other errors",
         unlit="consumers ask again, which the sentence of the refusal tells"),
    Rule("C-7", "The client detects truncation (KIP-320)", (
        RuleStep("", "A consumer detects truncation", 2, "read.truncated",
                 "SubscriptionState.maybeCompleteValidation", "why.validate",
                 places={"c": at_node, "o": new_offset}),
        RuleStep("valid", "A position still holds", 1, "read.valid",
                 "SubscriptionState.maybeCompleteValidation", "why.validate",
                 places={"c": at_node, "o": new_offset}),
        RuleStep("unknown", "The epoch of a position is unknown", 2, "read.unknown",
                 "OffsetsForLeaderEpochUtils.prepareRequest", "why.validate",
                 places={"c": at_node}),
        RuleStep("exception", "An application must decide", 2, "", "LogTruncationException",
                 "why.exception"),
    )),
    Rule("C-8", "Fetch from a follower (KIP-392)", (
        RuleStep("", "A consumer is sent to a follower", 1, "read.preferred",
                 "ReplicaManager.findPreferredReadReplica", "why.redirect",
                 places={"c": at_node, "b": new_node}),
        RuleStep("left", "A consumer goes back to the leader", 1, "read.left",
                 "FetchCollector.handleInitializeErrors", "why.redirect.left",
                 places={"c": at_node, "b": old_node}),
    )),
    Rule("G-1", "Who coordinates a group"),
    Rule("G-2", "Join, leave, and generations", (
        RuleStep("", "A rebalance begins", 1, "group.rebalance", "", "why.group.rebalance"),
        RuleStep("generation", "A new generation", 2, "group.generation", "",
                 "why.group.generation", places={"b": at_node, "n": new_number}),
    )),
    Rule("G-3", "Sessions of members", (
        RuleStep("", "A member's session is over", 2, "group.expired", "", "why.group.expired",
                 mark="isr", places={"b": at_node, "s": old_word}),
        RuleStep("dies", "A member crashes", 2, "group.dies", "", "why.group.dies", mark="fault",
                 places={"c": at_node}),
        RuleStep("slow", "A member polls too rarely", 2, "group.slow", "", "why.group.slow",
                 mark="isr", places={"c": at_node}),
    )),
    Rule("G-4", "Commit and fetch offsets", (
        RuleStep("auto", "A poll commits by itself", 1, "group.auto", "", "why.group.auto",
                 places={"c": at_node, "n": new_number, "t": partition}),
        RuleStep("refused", "A commit is refused", 2, "group.refused", "", "why.group.refused",
                 places={"b": at_node, "s": old_word, "x": new_error}),
    )),
    Rule("G-5", "Coordinator fail-over, and where members begin", (
        RuleStep("", "A coordinator reads its log", 2, "group.loaded", "", "why.group.loaded"),
        RuleStep("begins", "A member begins", 2, "", "", "why.group.begins"),
        RuleStep("none", "No offset to begin from", 2, "group.begins.nowhere", "",
                 "why.group.begins", places={"c": at_node, "t": partition}),
    )),
    Rule("G-6", "Commit before or after processing", (
        RuleStep("", "Records are processed", 1, "group.processed",
                 places={"c": at_node, "m": new_records}),
    )),
    Rule("G-7", "Static members (KIP-345)", (
        RuleStep("", "A static member comes back", 2, "group.replaced",
                 "", "why.group.replaced",
                 places={"b": at_node, "c": about_node, "s": old_word}),
        RuleStep("stays", "A static member does not leave", 2, "group.stays",
                 "", "why.group.stays",
                 places={"c": at_node, "s": new_word}),
        RuleStep("fenced", "A process is fenced by another", 2, "group.fenced",
                 "", "why.group.fenced", mark="isr",
                 places={"c": at_node, "s": new_word}),
    )),
    Rule("G-8", "Cooperative rebalancing (KIP-429)", (
        RuleStep("", "A member gives up partitions", 2, "group.revoked",
                 "", "why.group.revoked",
                 places={"c": at_node, "t": old_partitions}),
    )),
    Rule("G-9", "Member epochs and reconciliation (KIP-848)", (
        RuleStep("", "A target assignment is computed", 2, "group.target",
                 why="why.group.target", places={"b": at_node, "n": new_number}),
        RuleStep("revokes", "A member gives up what moves", 2, "group.revokes",
                 why="why.group.revokes", places={"c": at_node, "t": old_partitions}),
        RuleStep("fenced", "A member is fenced and joins again", 2, "group.epoch.fenced",
                 why="why.group.epoch.fenced", mark="isr",
                 places={"c": at_node, "x": new_error}),
    )),
)  # fmt: skip
