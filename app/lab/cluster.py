"""A cluster of one release on loopback: brokers, and a KRaft controller or ZooKeeper.

Under ZooKeeper one more broker, which has no replica of the run, is the controller: so no kill of
the run hits the controller, which the model does not know as a broker.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.lab import configuration
from app.lab.client import HOST, KafkaClient
from app.lab.configuration import Ports
from app.lab.links import CONTROLLER, LinkControls, Node
from app.lab.metadata import KraftMetadata, Metadata, ZooKeeperMetadata
from app.lab.processes import Processes
from app.lab.proxy import Proxy
from app.lab.releases import KafkaRelease
from app.lab.trouble import LabError

K: Final = "K"
UP_WITHIN_S: Final = 240.0
LOG_STARTS_S: Final = 31.0
"""Before 3.8 log start offsets are written from 30 s after a start on (LogManager.startup)."""
LISTENS_WITHIN_S: Final = 60.0
LOWEST_PORT: Final = 20_000
HIGHEST_PORT: Final = 32_000
CLUSTER_ID: Final = "aGlnaHdhdGVyLWxhYi0wMQ"
OPEN: Final = ("java.nio", "sun.nio.ch", "java.lang", "java.util", "java.util.concurrent")
"""What releases of the time of Java 8 reach into."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Programs and files that a cluster is started from.

    The java program, a directory of jars, and where an archive of loaded classes may lie, which
    halves the time that a start takes.
    """

    java: Path
    jars: Path
    archive: Path


def wait_until(is_so: Callable[[], bool], seconds: float, pause: float = 0.05) -> bool:
    """Wait until the condition holds, at most `seconds`; return whether it does."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
    return True


class RealCluster:
    """Running cluster of one release; see the module.

    `brokers` are those of the run; `log_directory` tells where each keeps its logs; `voters` are
    the controllers, where there are several.
    """

    def __init__(
        self,
        release: KafkaRelease,
        brokers: list[int],
        tools: Tools,
        processes: Processes,
        base: int,
        session_ms: int = 0,
        voters: Sequence[int] = (),
    ) -> None:
        self.release = release
        self.brokers = brokers
        self.tools = tools
        self.processes = processes
        self.session_ms = session_ms
        """Session timeout where the laboratory ends sessions itself (`end_session`), or 0."""
        self.lag_ms = configuration.LAG_MS
        self.groups = 0
        self.controller_id = max(brokers) + 100
        self.apart = [] if release.kraft else [max(brokers) + 1]
        self.everyone = brokers + self.apart
        self.voters = list(voters)
        self.ports = Ports(base, self.everyone, self.voters)
        self.hand = LinkControls()
        self._proxies = list(self._listen())
        self._metadata: Metadata | None = None
        self._makes_archive = False
        self._home = processes.directory
        self.wanted: set[str] = set()
        """Processes that should be alive; one that is not has died by itself."""
        self.paused = self.hand.paused
        """Brokers whose process is stopped by SIGSTOP."""
        self._up_since: dict[int, float] = {}

    def _listen(self) -> list[Proxy]:
        proxies = []
        if self.release.tells_endpoints:
            shown = self.ports.advertised
            proxies.append(self._proxy(shown, self.ports.controller, CONTROLLER))
        for broker in self.everyone:
            between = self.ports.proxy(broker), self.ports.replication(broker), broker
            proxies.append(self._proxy(between[0], between[1], target=broker))
            port = self.ports.to_controller(broker)
            raw = not self.release.kraft
            proxies.append(
                self._proxy(port, self.ports.controller, CONTROLLER, source=broker, raw=raw)
            )
        return proxies

    def _proxy(
        self, port: int, onward: int, target: int, source: int | None = None, raw: bool = False
    ) -> Proxy:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            raise LabError(
                f"Port {port} is taken; choose others with --port, or leave it out for free ones."
            ) from None
        return Proxy(self.hand, listener, onward, target, source, raw)

    # -- starting and ending ---------------------------------------------------------------------

    @property
    def metadata(self) -> Metadata:
        assert self._metadata is not None
        return self._metadata

    def log_directory(self, broker: int) -> Path:
        return self._home / f"b{broker}"

    def server_log(self, name: str | int) -> Path:
        return self._home / f"{name}.log"

    def start_all(self, tell: Callable[[str], None]) -> None:
        """Start everything and wait until every broker is there.  Raises LabError."""
        (self._home / "log4j.properties").write_text(
            configuration.LOG4J2 if self.release.log4j2 else configuration.LOG4J
        )
        for broker in self.brokers if self.groups else ():
            port = self.ports.for_members(broker)
            self._proxies.append(self._proxy(port, self.ports.client(broker), target=broker))
        for broker in self.everyone:
            self._write(str(broker), self._broker_properties(broker))
        if self.release.kraft:
            controllers = self._controllers()
            for name, properties in controllers.items():
                self._write(name, properties)
            tell("The directories are formatted …")
            self._format([*controllers, *map(str, self.brokers)])
        self.start_controllers()
        for broker in self.apart:
            tell(f"Broker {broker}, the controller, starts …")
            self.start(broker)
            self.await_up(broker)
        for broker in self.brokers:
            tell(f"Broker {broker} starts …")
            self.start(broker)
        for broker in self.brokers:
            self.await_up(broker)

    def _controllers(self) -> dict[str, configuration.Properties]:
        """Return the properties of each KRaft controller, by the name of its process."""
        properties = configuration.kraft_controller(
            self.release, self.controller_id, self.ports, self._home / "k", self.session_ms
        )
        return {K: properties}

    def start_controllers(self) -> None:
        """Start the KRaft controller, or ZooKeeper."""
        directory = self._home / "k"
        if self.release.kraft:
            self._metadata = KraftMetadata(directory)
            self.start_controller()
        else:
            directory.mkdir()
            self._write(K, configuration.zookeeper(self.ports, directory))
            self.start_controller()
            self._metadata = ZooKeeperMetadata(self.ports.controller)

    def _broker_properties(self, broker: int) -> configuration.Properties:
        directory = self.log_directory(broker)
        properties = configuration.broker(
            self.release,
            broker,
            self.ports,
            directory,
            self.controller_id,
            self.session_ms,
            self.groups,
        )
        return properties | {configuration.LAG: self.lag_ms}

    def settings(self) -> configuration.Properties:
        """Return the settings of a broker that a recording reports."""
        properties = self._broker_properties(self.brokers[0])
        return {name: properties[name] for name in configuration.SHOWN if name in properties}

    def _write(self, name: str, properties: configuration.Properties) -> None:
        (self._home / f"{name}.properties").write_text(configuration.to_text(properties))

    def _format(self, names: list[str]) -> None:
        running = [
            self._java(
                f"format-{name}",
                "kafka.tools.StorageTool",
                ["format", "-t", CLUSTER_ID, "-c", str(self._home / f"{name}.properties")],
            )
            for name in names
        ]
        for name in running:
            if self.processes.running[name].wait() != 0:
                words = self.processes.last_words(name) or "it said nothing"
                raise LabError(f"Kafka {self.release.version} did not format a directory: {words}.")

    def output(self, name: str) -> Path:
        return self._home / f"{name}.out"

    def start_client(self, name: str, program: Path, arguments: list[str]) -> None:
        """Start a Java program of the laboratory, which reads its standard input."""
        self._java(name, str(program), arguments, heap_mb=64, stdin=subprocess.PIPE)
        self.wanted.add(name)

    def _java(
        self,
        name: str,
        main: str,
        arguments: list[str],
        heap_mb: int = 256,
        stdin: int = subprocess.DEVNULL,
    ) -> str:
        log = self.server_log(name)
        form = "log4j2.configurationFile=" if self.release.log4j2 else "log4j.configuration=file:"
        command = [
            str(self.tools.java),
            *self._archive_flags(name, main),
            f"-Xmx{heap_mb}m",
            "-Xms64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-Dzookeeper.jmx.log4j.disable=true",  # reload4j has none of it
            f"-Dhighwater.log={log}",
            f"-D{form}{self._home / 'log4j.properties'}",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPEN),
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            str(self.tools.jars / "*"),
            main,
            *arguments,
        ]
        self.processes.start(name, command, stdin)
        return name

    def _archive_flags(self, name: str, main: str) -> list[str]:
        """Return flags that share loaded classes between brokers and runs (JEP 350)."""
        if main != "kafka.Kafka":
            return []
        if self.tools.archive.exists():
            return [f"-XX:SharedArchiveFile={self.tools.archive}"]
        # A controlled shutdown would change files that the user wants to read as they were.
        if name == str(self.everyone[0]) and not self.processes.keeps:
            self._makes_archive = True
            return [f"-XX:ArchiveClassesAtExit={self._home / 'classes.jsa'}"]
        return []

    def start_controller(self) -> None:
        """Start the KRaft controller, or ZooKeeper; wait until it listens."""
        main = "kafka.Kafka" if self.release.kraft else ZOOKEEPER_MAIN
        self._java(K, main, [str(self._home / f"{K}.properties")], heap_mb=192)
        self.wanted.add(K)

        def listens() -> bool:
            self._must_live(K)
            try:
                socket.create_connection((HOST, self.ports.controller), 1).close()
            except OSError:
                return False
            return True

        if not wait_until(listens, LISTENS_WITHIN_S, 0.1):
            raise LabError(f"Nothing listens on port {self.ports.controller} after a minute.")

    def start(self, broker: int) -> None:
        if isinstance(self._metadata, ZooKeeperMetadata):
            self._metadata.started[broker] = time.time()
        self._up_since.pop(broker, None)
        self._java(str(broker), "kafka.Kafka", [str(self._home / f"{broker}.properties")])
        self.wanted.add(str(broker))

    def await_up(self, broker: int) -> None:
        """Wait until the controller counts a broker as alive and it answers.  Raises LabError."""

        def answers() -> bool:
            self._must_live(str(broker))
            if not self.metadata.live(broker):
                return False
            try:
                self.client(broker).belief("none")
            except OSError:
                return False
            return True

        if not wait_until(answers, UP_WITHIN_S, 0.1):
            raise LabError(
                f"Broker {broker} does not come up within {UP_WITHIN_S:.0f} s; with --keep its log "
                "stays to be read."
            )
        self._up_since.setdefault(broker, time.monotonic())

    def await_log_starts(self, broker: int) -> None:
        """Wait until a broker writes its log start offsets to disk."""
        left = self._up_since[broker] + LOG_STARTS_S - time.monotonic()
        time.sleep(max(0.0, left))

    def check(self) -> None:
        """Raise LabError if a process died that no move has killed."""
        for name in sorted(self.wanted):
            self._must_live(name)

    def _must_live(self, name: str) -> None:
        if self.processes.alive(name):
            return
        words = self.processes.last_words(name)
        raise LabError(f"{self.who(name)} died by itself{': ' + words if words else '.'}")

    def who(self, name: str) -> str:
        """Return the subject of a sentence about a process."""
        if name != K:
            return f"Broker {name}" if name.isdecimal() else f"The client {name}"
        return "The controller" if self.release.kraft else "ZooKeeper"

    def end_of(self, node: int) -> Node:
        """Return the end of a link that a move means by a node."""
        return node

    def alive(self, broker: int) -> bool:
        return self.processes.alive(str(broker))

    @property
    def controller_alive(self) -> bool:
        return self.processes.alive(K)

    def keep_controller_apart(self) -> None:
        """Move ZooKeeper's controller to the broker without replicas, before another one dies."""
        if isinstance(self._metadata, ZooKeeperMetadata) and self.controller_alive:
            self._metadata.move_controller(self.apart[0])

    def kill(self, who: int | str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a broker, or to K."""
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.wanted.discard(str(who))
        self.processes.signal(str(who), number)

    def end_session(self, broker: int) -> None:
        """Make the controller miss a broker now, as the end of its session would.

        KRaft: a heartbeat that asks to be fenced leads to the records of an expired session
        (`ReplicationControlManager.handleBrokerFenced`).  ZooKeeper: its session is closed.
        """
        metadata = self.metadata
        if isinstance(metadata, ZooKeeperMetadata):
            metadata.end_session(broker)
        elif isinstance(metadata, KraftMetadata) and metadata.live(broker):
            controller = KafkaClient(self.ports.controller, self.release)
            controller.fence(broker, metadata.broker_epoch(broker))

    def close(self) -> None:
        """Stop all traffic; the owner of the processes ends them."""
        self.hand.stopped = True
        for proxy in self._proxies:
            proxy.close()
        if self._metadata is not None:
            self._metadata.close()

    def keep_archive(self) -> None:
        """Let the first broker write its archive of classes as it ends, for later starts."""
        if not self._makes_archive or not self.processes.alive(str(self.everyone[0])):
            return
        self.hand.let_go()
        self.kill(self.everyone[0], signal.SIGTERM)
        made = self._home / "classes.jsa"
        if made.exists():
            self.tools.archive.parent.mkdir(parents=True, exist_ok=True)
            draft = self.tools.archive.with_suffix(".draft")
            shutil.move(made, draft)
            draft.replace(self.tools.archive)

    # -- asking ------------------------------------------------------------------------------------

    def client(self, broker: int) -> KafkaClient:
        return KafkaClient(self.ports.client(broker), self.release)

    def controller_client(self) -> KafkaClient:
        """Return a client for requests that only the controller handles."""
        if isinstance(self._metadata, ZooKeeperMetadata):
            controller = self._metadata.controller()
            return self.client(controller if controller in self.everyone else self.apart[0])
        alive = [broker for broker in self.brokers if self.alive(broker)]
        if not alive:
            raise LabError("No broker is alive that could be asked.")
        # A paused broker answers only once it resumes, and one that is cut off cannot forward.
        able = [
            broker
            for broker in alive
            if broker not in self.paused and self.hand.passes(broker, CONTROLLER)
        ]
        return self.client((able or alive)[0])


ZOOKEEPER_MAIN: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def free_block(size: int) -> int:
    """Return the first of `size` free ports in a row.

    Below those that the system assigns by itself.  Raises LabError.
    """
    first = LOWEST_PORT + time.time_ns() // 1_000 % (HIGHEST_PORT - LOWEST_PORT)
    for number in range(LOWEST_PORT, HIGHEST_PORT - size, size):
        base = LOWEST_PORT + (number + first) % (HIGHEST_PORT - LOWEST_PORT - size)
        if taken_in(base, size) is None:
            return base
    raise LabError(f"There are no {size} free ports in a row from {LOWEST_PORT} to {HIGHEST_PORT}.")


def taken_in(base: int, size: int) -> int | None:
    """Return the first port of a block that is in use."""
    ports = range(base, base + size)
    return next((port for port in ports if not _is_free(port)), None)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
