"""The kinds of lines of Kafka's logs that an incident is rebuilt from, 0.10.2 to 4.x.

A kind is recognised by words that stand in no other line; then one expression takes its values.
The expressions are searched for, so that whatever stands around a message does not matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TP: Final = (
    r"(?:\[(?P<topic>[A-Za-z0-9._-]+),\s?(?P<index>\d+)\]|(?P<tp>[A-Za-z0-9._-]+-\d+)(?![\w-]))"
)
_NAMED: Final = r"topicName='(?P<topic>[^']+)', partitionIndex=(?P<index>\d+)"
_IDS: Final = r"[\d, ]*"


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of line: `key` must be in it, `expression` takes its values out of it.

    `ours`: it is about one partition, not about a broker.  `fields`: name(key=value, ...) is taken
    apart, too.  `sure`: a line with this key that the expression does not fit is cut off or spoilt.
    """

    kind: str
    key: bytes
    expression: re.Pattern[str]
    ours: bool = True
    fields: bool = False
    sure: bool = False


def _form(
    kind: str,
    key: str,
    expression: str,
    ours: bool = True,
    fields: bool = False,
    sure: bool = False,
) -> Form:
    return Form(kind, key.encode(), re.compile(expression), ours, fields, sure)


_STATE: Final = r"(?>.*?(?=leader=))(?P<fields>leader=.*)"

FORMS: Final = (
    # -- the record, as a broker or a controller heard, sent or wrote it --------------------------
    _form("record", "eceived LeaderAndIsr request ",
          rf"PartitionState\({_NAMED}, {_STATE}", fields=True),
    _form("record", "eceived LeaderAndIsr request PartitionState(",
          rf"PartitionState\({_STATE} for partition {_TP}", fields=True, sure=True),
    _form("record", "eceived LeaderAndIsr request LeaderAndIsrPartitionState(",
          rf"PartitionState\({_STATE} for partition {_TP}", fields=True, sure=True),
    _form("record", "ached leader info ",
          rf"PartitionState\({_STATE} for partition {_TP}", fields=True),
    _form("record", "ached leader info ",
          r"\(Leader:(?P<leader>-?\d+),ISR:(?P<isr>[\d,]*),LeaderEpoch:(?P<le>\d+),"
          rf"[^ ]*AllReplicas:(?P<set>[\d,]*)\) for partition {_TP}"),
    _form("record", "pdateMetadataPartitionState(",
          rf"PartitionState\({_NAMED}, {_STATE}", fields=True, sure=True),
    _form("record", "Skipped the become-", rf"state change for {_TP} .*?\((?P<fields>.*)",
          fields=True),
    _form("record", "with state LeaderAndIsr(",
          rf"hanged partition {_TP} (?:state )?from .* with state LeaderAndIsr\({_STATE}",
          fields=True, sure=True),
    _form("record", "PartitionRecord for new partition ",
          rf"PartitionRecord for new partition {_TP} .*?PartitionRegistration\((?P<fields>.*)",
          fields=True, sure=True),
    _form("record", "PartitionRegistration(",
          rf"artition {_TP}[^()]{{0,80}}(?:\([^()]{{0,80}}\)[^()]{{0,80}})?"
          r"PartitionRegistration\((?P<fields>.*)",
          fields=True),
    _form("change", "artition change for ",
          rf"artition change for {_TP}(?: with topic ID \S+)?: (?P<changes>.* -> .*)", sure=True),
    _form("assigned", " with assigned replicas ",
          rf"hanged partition {_TP} (?:state )?from .* with assigned replicas "
          r"(?P<replicas>[\d,]+)"),
    _form("sent", "ending become-",
          r"ending become-\w+ LeaderAndIsr request \(Leader:(?P<leader>-?\d+),"
          r"ISR:(?P<isr>[\d,]*),LeaderEpoch:(?P<le>\d+),.*?\) to broker (?P<broker>\d+) "
          rf"for partition {_TP}"),
    _form("sent", "ending become-",
          rf"ending become-\w+ LeaderAndIsr request \w*PartitionState\({_STATE} to broker "
          rf"(?P<broker>\d+) for partition {_TP}", fields=True),
    _form("sent", "ending become-",
          rf"ending become-\w+ LeaderAndIsr request \w*PartitionState\({_NAMED}, {_STATE} to "
          r"broker (?P<broker>\d+)", fields=True),
    _form("sent", "ending become-",
          r"ending become-\w+ LeaderAndIsr request \w*PartitionState\((?>.*?leader=)"
          r"(?P<leader>-?\d++), leaderEpoch=(?P<le>\d++), isr=\[?(?P<isr>[\d, ]*)\]?, "
          rf"(?>.*? to broker )(?P<broker>\d+) for partition {_TP}"),
    # -- a replica --------------------------------------------------------------------------------
    _form("leads", " starts at leader epoch ",
          rf"Leader {_TP} .*?starts at leader epoch (?P<le>\d+) from offset (?P<leo>\d+) with "
          r"(?:partition epoch (?P<pe>\d+), )?high watermark (?P<hw>\d+), ISR \[(?P<isr>[\d, ]*)\]",
          sure=True),
    _form("follows", " starts at leader epoch ",
          rf"Follower {_TP} .*?starts at leader epoch (?P<le>\d+) from offset (?P<leo>\d+) with "
          r"(?:partition epoch (?P<pe>\d+) and )?high watermark (?P<hw>\d+)\. "
          r"(?:Current leader is (?P<leader>-?\d+)|Previous)", sure=True),
    _form("leads", " starts at leader epoch ",
          rf"\] {_TP} starts at leader epoch (?P<le>\d+) from offset (?P<leo>\d+) with "
          r"high watermark (?P<hw>\d+)"),
    _form("leads", " starts at Leader Epoch ",
          rf"(?:\] |: ){_TP} starts at Leader Epoch (?P<le>\d+) from offset (?P<leo>\d+)\."),
    _form("cuts", "with TruncationState(offset=",
          rf"Truncating partition {_TP} with TruncationState\(offset=(?P<to>\d+),"
          r"(?:(?>.*?EpochEndOffset\()(?>.*?leaderEpoch=)(?P<epoch>-?\d+), "
          r"endOffset=(?P<end>-?\d+)\))?", sure=True),
    _form("cuts", " to local high watermark ",
          rf"Truncating partition {_TP} to local high watermark (?P<to>\d+)"),
    _form("cuts", "below high watermark ",
          rf"Truncating {_TP} to offset (?P<to>\d+) below high watermark (?P<hw>\d+)"),
    _form("cuts", "Truncating to offset ", rf"partition={_TP}.*Truncating to offset (?P<to>\d+)"),
    _form("cuts", "Truncating to ",
          rf"partition={_TP}.*Truncating to (?P<to>\d+)(?! has no effect|\d)"),
    _form("cuts", "Truncating log ", rf"Truncating log {_TP} to offset (?P<to>\d+)"),
    _form("grows", "Expanding ISR ",
          rf"Partition {_TP} .*Expanding ISR (?:for partition \S+ )?from (?P<before>[\d,]*) to "
          r"(?P<isr>[\d,]+)", sure=True),
    _form("shrinks", "Shrinking ISR ",
          rf"Partition {_TP} .*Shrinking ISR (?:for partition \S+ )?from (?P<before>[\d,]+) to "
          r"(?P<isr>[\d,]*)(?:\. Leader: \(highWatermark: (?P<hw>\d+), endOffset: (?P<leo>\d+)\)"
          r"(?:\. Out of sync replicas: (?P<lags>[^.]*\)))?)?", sure=True),
    _form("granted", "ISR updated to ",
          rf"Partition {_TP} .*ISR updated to \[?(?P<isr>[\d,]+)\]?(?: \(under-min-isr\))? +and "
          r"(?:zkV|v)ersion updated to \[?(?P<pe>\d+)", sure=True),
    _form("refused", "Cached zkVersion ", rf"Partition {_TP} .*Cached zkVersion \[?(?P<pe>\d+)"),
    _form("loaded", "Completed load of ",
          r"Completed load of Log\((?>.*?topic=)(?P<topic>[^,]+), partition=(?P<index>\d++), "
          r"(?>.*?logStartOffset=)\d++, logEndOffset=(?P<leo>\d+)"),
    _form("loaded", "Completed load of log",
          rf"ompleted load of log {_TP} .* log end offset (?P<leo>\d+)"),
    _form("loaded", "Completed load of log",
          rf"partition={_TP}(?>.*?ompleted load of log ).* log end offset (?P<leo>\d+)"),
    _form("mark", "with initial high watermark ",
          rf"for partition {_TP} with initial high watermark (?P<hw>\d+)"),
    _form("recovers", "Recovering unflushed segment ",
          rf"Recovering unflushed segment \d++.*?(?: in log | recovered for ){_TP}"),
    _form("recovers", "Recovering unflushed segment ",
          rf"partition={_TP}.*Recovering unflushed segment \d+(?=\s|$)"),
    _form("out of range", "out of range",
          rf"offset (?P<own>\d+) for partition {_TP}.*out of range"),
    _form("out of range", "reset its fetch offset",
          rf"partition {_TP} reset its fetch offset from (?P<own>\d+) to current leader "
          r"(?P<leader>\d+)'s latest offset (?P<end>\d+)"),
    _form("out of range", "reset its fetch offset",
          rf"partition {_TP} reset its fetch offset from (?P<own>\d+)"),
    _form("unclean", "potential data loss",
          rf"alive for {_TP}\. Elect leader (?P<leader>\d+)"),
    _form("created", "Created log for partition ",
          rf"Created log for partition {_TP} in (?>.*? with properties \{{)(?P<properties>.*)\}}"),
    # -- a broker ---------------------------------------------------------------------------------
    _form("version", "Kafka version", r"Kafka version ?: (?P<version>\d+(?:\.\d+)+)", False),
    _form("fencing", "Fencing broker ", r"Fencing broker (?P<broker>\d+)", False),
    _form("unfencing", " to unfence has been granted",
          r"request from broker (?P<broker>\d+) to unfence has been granted", False),
    _form("registering", "egistration found for broker ",
          r"No previous registration found for broker (?P<broker>\d+)", False),
    _form("registering", "Registering a new incarnation of broker ",
          r"Registering a new incarnation of broker (?P<broker>\d+)", False),
    _form("failed", "Broker failure callback for ",
          r"Broker failure callback for (?P<brokers>[\d,]+)", False),
    _form("came", "New broker startup callback for ",
          r"New broker startup callback for (?P<brokers>[\d,]+)", False),
    _form("starts", "KafkaServer",
          r"(?:^|[\]|:-]\s+|\b[A-Z]{4,5}\s+|\")starting(?= \(|\s*$|\s*\[|\")", False),
    _form("starts", "to STARTING", r"Transition from SHUTDOWN to STARTING", False),
    _form("stops", "controlled shutdown",
          r"(?:Starting|Beginning) controlled shutdown", False),
    _form("unclean stop", "no clean shutdown file", r"no clean shutdown file was found", False),
    _form("directory fails", "Stopping serving ",
          r"Stopping serving (?:replicas|logs) in dir (?P<directory>\S+)", False),
    _form("dies", "Shutdown broker because ",
          r"Shutdown broker because (?P<why>.*? (?:have failed|failed to|can be created or \w+))",
          False),
    _form("dies", "Shutdown broker because ", r"Shutdown broker because (?P<why>[^()]*)", False),
    _form("directory fails", "in the failed log directory ",
          r"because they are in the failed log directory (?P<directory>\S*[^\s.])", False),
    _form("ends", " shut down completed", r"Server id=\d+\] shut down completed", False),
    _form("dies", "Exiting because log truncation is not allowed",
          r"(?P<why>log truncation is not allowed for partition \S+?),? ", False),
    _form("memory", "OutOfMemoryError",
          r"OutOfMemoryError(?:: (?P<why>[^()\[\]]{0,80}))?", False),
    _form("disk full", "No space left on device", r"No space left on device", False),
    _form("session ends", "zookeeper state changed (Expired)", r"state changed \(Expired\)", False),
    _form("session ends", "has expired", r"session 0x\w{1,20} has expired", False),
    _form("files", "Too many open files", r"Too many open files", False),
    _form("dies", "Exiting Kafka due to ", r"Exiting Kafka due to (?P<why>fatal exception)", False),
)  # fmt: skip

LISTS: Final = ("isr", "set", "replicas", "before", "brokers")
TEXTS: Final = ("topic", "tp", "version", "properties", "fields", "changes", "lags", "why",
                "directory")  # fmt: skip
LAGS: Final = re.compile(r"brokerId: (\d+), endOffset: (-?\d+)")
FIELD: Final = re.compile(
    r"(?<!\w)(\w+)=(?:\w*\[([^\[\]]*)\]|List\(((?:BrokerState\([^)]*\)|[^()])*)\)|(-?[\w, ]*?))"
    r"(?=, \w+=|\)|\])"
)
CHANGE: Final = re.compile(r"(?<!\w)(\w+): (\[[^\]]*\]|[-\w]++) -> (\[[^\]]*\]|[-\w]+)")
BROKER_STATE: Final = re.compile(r"brokerId=(\d+)")
