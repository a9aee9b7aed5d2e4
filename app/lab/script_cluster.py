"""A cluster that plays one run after the other, each on a topic of its own."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable

from app.lab.cluster import RealCluster, wait_until
from app.lab.configuration import long_session_ms
from app.lab.laboratory import Wish, choose_ports, find_tools, ports_of, topic_configs
from app.lab.playing import Player
from app.lab.processes import Processes
from app.lab.quorum import QuorumCluster
from app.lab.recording import LabRecording, made_of
from app.lab.releases import release_of
from app.lab.stage import UNREACHABLE, LabStage
from app.lab.trouble import LabError
from engine.sim.run import Run

Tell = Callable[[str], None]


class ScriptCluster:
    """Cluster that starts with the first run and is kept for the next ones.

    One that does not get back to its beginning, or whose broker died by itself, is ended, and the
    next run starts another.  As a context manager, nothing is left at the end.
    """

    def __init__(self, wish: Wish, brokers: list[int], tell: Tell, voters: int = 0) -> None:
        self.wish = wish
        self.voters = voters
        self.release = release_of(wish.kafka)
        self.brokers = brokers
        self.tell = tell
        self.tools = find_tools(self.release, wish.jars, tell)
        self._open = contextlib.ExitStack()
        self._cluster: RealCluster | None = None
        self._topics = 0

    def __enter__(self) -> ScriptCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the brokers and remove their files."""
        self._cluster = None
        self._open.close()

    def play(self, run: Run) -> LabRecording:
        """Return the recording of a run.  Raises LabError."""
        cluster = self._cluster or self._start()
        self._topics += 1
        replicas = list(run.scenario.partitions[0])
        stage = LabStage(cluster, f"chance{self._topics}", replicas, topic_configs(run.scenario))
        try:
            made = made_of(run, stage, Player(stage, run, lambda line: None).play())
        except BaseException:
            self.close()
            raise
        try:
            tidy(stage)
        except (LabError, *UNREACHABLE):
            self.close()
        return made

    def _start(self) -> RealCluster:
        release, voters = self.release, self.voters
        base = choose_ports(self.wish.port, ports_of(release, len(self.brokers), voters))
        processes = self._open.enter_context(Processes(self.wish.keep))
        given = release, self.brokers, self.tools, processes, base
        cluster = (
            QuorumCluster(*given, voters)
            if voters
            else RealCluster(*given, long_session_ms(release))
        )
        self._open.callback(cluster.close)
        try:
            cluster.start_all(self.tell)
        except BaseException:
            self.close()
            raise
        self._cluster = cluster
        return cluster


def tidy(stage: LabStage) -> None:
    """Let everything flow, start brokers that are down, and delete the topic.  Raises LabError."""
    cluster, hand = stage.cluster, stage.cluster.hand
    hand.let_go()
    with hand.change():
        hand.floors.clear()
        hand.notes.clear()
    for node in sorted(cluster.paused):
        cluster.kill(abs(node), signal.SIGCONT)
    cluster.paused.clear()
    if stage.quorum:
        stage.quorum.start_missing()
    elif not cluster.controller_alive:
        cluster.start_controller()
    down = [broker for broker in cluster.brokers if not cluster.alive(broker)]
    for broker in down:
        if cluster.metadata.live(broker):
            cluster.end_session(broker)
        cluster.start(broker)
    for broker in cluster.brokers:
        cluster.await_up(broker)
    error = cluster.controller_client().delete_topic(stage.topic)
    if error != "NONE":
        raise LabError(f"The topic was not deleted: {error}.")
    wait_until(lambda: stage.record() is None, 10)
