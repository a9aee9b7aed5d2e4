"""The property files of a laboratory's nodes.

What differs from a cluster in use, on purpose: high watermarks are checkpointed every 200 ms, so
that disks tell them; a slow follower leaves the ISR after ten minutes, so that only moves do it;
fetch sessions are off, so that every fetch is whole; sessions are short.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.lab.client import HOST
from app.lab.releases import KafkaRelease
from engine.model.configs import CATALOGUE, Value, checked

Properties = dict[str, str | int]

KRAFT_SESSION_MS: Final = 18_000
ZOOKEEPER_SESSION_MS: Final = 10_000
LONG_SESSION_MS: Final = 60_000
"""Session timeout where the laboratory ends sessions itself, so that a slow machine ends none.

From 4.0 on a restart waits for the old session (KAFKA-19047), so those stay short.
"""
USUAL_SESSION_MS: Final = 9_000
USUAL_HEARTBEAT_MS: Final = 2_000
"""What Kafka and the model set, for scripts that let a session pass by the clock."""
FETCH_WAIT_MS: Final = 100
LAG: Final = "replica.lag.time.max.ms"
LAG_MS: Final = 600_000

LOG4J: Final = """\
log4j.rootLogger=INFO, F
log4j.appender.F=org.apache.log4j.FileAppender
log4j.appender.F.File=${highwater.log}
log4j.appender.F.layout=org.apache.log4j.PatternLayout
log4j.appender.F.layout.ConversionPattern=[%d{yyyy-MM-dd HH:mm:ss,SSS}] %p %m (%c)%n
log4j.logger.state.change.logger=TRACE
log4j.logger.kafka.controller=TRACE
log4j.logger.org.apache.zookeeper=WARN
log4j.logger.org.apache.kafka.clients=WARN
"""
LOG4J2: Final = """\
status = error
appender.F.type = File
appender.F.name = F
appender.F.fileName = ${sys:highwater.log}
appender.F.layout.type = PatternLayout
appender.F.layout.pattern = [%d{yyyy-MM-dd HH:mm:ss,SSS}] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.F.ref = F
logger.states.name = state.change.logger
logger.states.level = TRACE
logger.clients.name = org.apache.kafka.clients
logger.clients.level = WARN
"""


class Ports:
    """Assignment of ports.  All are in one block from `base` on."""

    def __init__(self, base: int, brokers: list[int], voters: list[int] | None = None) -> None:
        self.controller = base
        self._voters = voters or []
        self._base = base
        self._place = {broker: number for number, broker in enumerate(brokers)}
        self._count = len(brokers)

    @staticmethod
    def needed(brokers: int, voters: int = 0) -> int:
        return 2 + 5 * brokers + 2 * voters

    def _of(self, broker: int, role: int) -> int:
        return self._base + 1 + role * self._count + self._place[broker]

    def client(self, broker: int) -> int:
        """Return the port for the laboratory and other clients."""
        return self._of(broker, 0)

    def replication(self, broker: int) -> int:
        """Return the port on which the broker listens for other brokers."""
        return self._of(broker, 1)

    def proxy(self, broker: int) -> int:
        """Return the port that the broker advertises to other brokers."""
        return self._of(broker, 2)

    def to_controller(self, broker: int) -> int:
        """Return the port that the broker takes for the controller's, or ZooKeeper's."""
        return self._of(broker, 3)

    def for_members(self, broker: int) -> int:
        """Return the port at which members of groups reach the broker."""
        return self._of(broker, 4)

    @property
    def advertised(self) -> int:
        """Port that a KRaft controller advertises, to all alike.

        From 3.9 on brokers fetch metadata from there (KIP-853), not from their configured address.
        """
        return self._base + 1 + 5 * self._count

    def voter(self, node: int) -> int:
        """Return the port on which a voter listens."""
        return self.advertised + 1 + self._voters.index(node)

    def voter_proxy(self, node: int) -> int:
        """Return the port at which all other nodes reach a voter."""
        return self.voter(node) + len(self._voters)


def long_session_ms(release: KafkaRelease) -> int:
    """Return the session timeout of a cluster whose sessions the laboratory ends."""
    return KRAFT_SESSION_MS if release.numbers >= (4, 0, 0) else LONG_SESSION_MS


def model_settings(release: KafkaRelease) -> dict[str, int]:
    """Return the settings of such a cluster that the model has, too."""
    session = "broker" if release.kraft else "zookeeper"
    return {
        "replica.fetch.wait.max.ms": FETCH_WAIT_MS,
        LAG: LAG_MS,
        f"{session}.session.timeout.ms": long_session_ms(release),
    }


def broker(
    release: KafkaRelease,
    number: int,
    ports: Ports,
    directory: Path,
    controller: int,
    session_ms: int = 0,
    groups: int = 0,
) -> Properties:
    """Return the server.properties of a broker; its log directory is `directory`.

    `groups`: how many partitions __consumer_offsets has.
    """
    client, own, shown = ports.client(number), ports.replication(number), ports.proxy(number)
    met = ports.for_members(number) if groups else client
    properties: Properties = {
        "log.dirs": str(directory),
        "listeners": f"CLIENT://{HOST}:{client},REPLICATION://{HOST}:{own}",
        "advertised.listeners": f"CLIENT://{HOST}:{met},REPLICATION://{HOST}:{shown}",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT",
        "inter.broker.listener.name": "REPLICATION",
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 2,
        "log.cleaner.enable": "false",
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": max(1, groups),
        # A commit, or a generation, waits for followers that fetch only by a move.
        "offsets.commit.timeout.ms": 600_000,
        "group.initial.rebalance.delay.ms": 0,
        "replica.high.watermark.checkpoint.interval.ms": 200,
        "log.flush.offset.checkpoint.interval.ms": 500,
        "log.flush.start.offset.checkpoint.interval.ms": 200,
        "replica.fetch.wait.max.ms": FETCH_WAIT_MS,
        "replica.fetch.backoff.ms": 200,
        # A fetch that is held must not end as a timeout.
        "replica.socket.timeout.ms": 600_000,
        LAG: LAG_MS,
        "max.incremental.fetch.session.cache.slots": 0,
    }
    if release.numbers < (1, 0, 0):
        properties["delete.topic.enable"] = "true"
    if release.checkpoints_early:
        # Checkpoints are written from then on, instead of 30 s after a start.
        properties["log.initial.task.delay.ms"] = 200
    if release.kraft:
        properties |= {
            "process.roles": "broker",
            "node.id": number,
            "controller.quorum.voters": f"{controller}@{HOST}:{ports.to_controller(number)}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": (
                "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "broker.session.timeout.ms": session_ms or KRAFT_SESSION_MS,
            "broker.heartbeat.interval.ms": 1_000,
            # A request to the controller that is held must not end as a timeout.  ZooKeeper's
            # controller would wait as long for a paused broker, before it acts.
            "request.timeout.ms": 60_000,
        }
    else:
        properties |= {
            "broker.id": number,
            "zookeeper.connect": f"{HOST}:{ports.to_controller(number)}",
            "zookeeper.session.timeout.ms": session_ms or ZOOKEEPER_SESSION_MS,
            "controlled.shutdown.retry.backoff.ms": 1_000,
        }
    return properties


def kraft_controller(
    release: KafkaRelease, number: int, ports: Ports, directory: Path, session_ms: int = 0
) -> Properties:
    properties: Properties = {
        "process.roles": "controller",
        "node.id": number,
        "controller.quorum.voters": f"{number}@{HOST}:{ports.controller}",
        "listeners": f"CONTROLLER://{HOST}:{ports.controller}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": (
            "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "log.dirs": str(directory),
        "broker.session.timeout.ms": session_ms or KRAFT_SESSION_MS,
        "broker.heartbeat.interval.ms": 1_000,
        # No-op records would make the metadata log grow while nothing happens.
        "metadata.max.idle.interval.ms": 0,
        "auto.leader.rebalance.enable": "false",
    }
    if release.tells_endpoints:
        properties["advertised.listeners"] = f"CONTROLLER://{HOST}:{ports.advertised}"
    return properties


def zookeeper(ports: Ports, directory: Path) -> Properties:
    return {
        "tickTime": 500,
        "dataDir": str(directory),
        "clientPort": ports.controller,
        "clientPortAddress": HOST,
        "maxClientCnxns": 0,
        "admin.enableServer": "false",
        "minSessionTimeout": 1_000,
        "maxSessionTimeout": 60_000,
    }


def word_of(name: str, value: Value) -> str:
    """Return the value of a setting as Kafka writes it.

    A scenario has a number, a move text: a truth is 0 or 1 there, and true or false here.  Raises
    InputError for a value that the setting cannot have.
    """
    value = checked(name, value)
    return str(bool(value)).lower() if CATALOGUE[name].unit == "boolean" else str(value)


def to_text(properties: Properties) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items())


SHOWN: Final = (
    "replica.fetch.wait.max.ms",
    LAG,
    "broker.session.timeout.ms",
    "zookeeper.session.timeout.ms",
)
"""What a recording says of the settings."""
