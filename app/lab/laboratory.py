"""The whole laboratory: fetch a release, start a cluster, play a run, end everything."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.batch.runners.java import JavaMissingError, find_java
from app.lab import configuration
from app.lab.cluster import RealCluster, Tools, free_block, taken_in
from app.lab.configuration import Ports
from app.lab.jars import find_jars, home_of
from app.lab.playing import Player, must_be_playable
from app.lab.processes import Processes
from app.lab.quorum import QuorumCluster
from app.lab.recording import LabRecording, made_of
from app.lab.releases import KafkaRelease, release_of
from app.lab.stage import LabStage
from app.lab.trouble import LabError
from engine.moves import moves
from engine.recordings.following import OF_THE_TOPIC
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """Options of the command line.  `port` 0: any free ones."""

    kafka: str
    jars: Path | None = None
    keep: Path | None = None
    port: int = 0


def played_on(wish: Wish, run: Run) -> Run:
    """Return the run as the model plays it under the release's own profile."""
    return replace(run, profile=release_of(wish.kafka).profile)


def play(wish: Wish, run: Run, tell: Tell) -> LabRecording:
    """Return the recording of a run on real brokers.  Raises LabError with one sentence."""
    release = release_of(wish.kafka)
    run = played_on(wish, run)
    must_be_playable(run, release)
    tools = find_tools(release, wish.jars, tell)
    if run.scenario.groups and not tools.java.with_name("javac").exists():
        raise LabError(
            f"Members of groups are Java programs, and {tools.java.parent.parent} has no compiler "
            "for them: install a JDK, or set JAVA_HOME to one."
        )
    brokers = [broker.id for broker in run.scenario.brokers]
    voters = len(run.scenario.quorum)
    base = choose_ports(wish.port, ports_of(release, len(brokers), voters))
    with Processes(wish.keep) as processes:
        cluster = (
            QuorumCluster(release, brokers, tools, processes, base, voters)
            if voters
            else RealCluster(release, brokers, tools, processes, base)
        )
        cluster.lag_ms = lag_ms(run)
        cluster.groups = len(run.scenario.groups)
        try:
            cluster.start_all(tell)
            tell(f"Kafka {release.version} is up; played beside the model's {run.profile}:")
            made = _recorded(cluster, run, tell)
            cluster.keep_archive()
            return made
        finally:
            cluster.close()
            tell("The brokers are being ended.")


def _recorded(cluster: RealCluster, run: Run, tell: Tell) -> LabRecording:
    scenario = run.scenario
    configs = topic_configs(scenario)
    name = "".join(letter for letter in scenario.code or scenario.slug if letter.isalnum())
    stage = LabStage(cluster, name or "run", list(scenario.partitions[0]), configs)
    stage.add_groups(scenario)
    return made_of(run, stage, Player(stage, run, tell).play())


def topic_configs(scenario: Scenario) -> dict[str, str]:
    """Return the settings of the topic as CreateTopics takes them."""
    return {
        name: configuration.word_of(name, scenario.configs[name])
        for name in OF_THE_TOPIC
        if name in scenario.configs
    }


def lag_ms(run: Run) -> int:
    """Return the lag time of the brokers: the scenario's where the script lets that time pass.

    Else it is so long that no follower, which fetches only by a move, is ever late.
    """
    lag = run.scenario.configs.get(configuration.LAG, configuration.LAG_MS)
    played = (moves.parse(line, run.scenario.brokers) for line in run.lines())
    passes = any(move.verb.name == "advance" and move.args["ms"] >= lag for move in played)
    return int(lag) if passes else configuration.LAG_MS


def ports_of(release: KafkaRelease, brokers: int, voters: int = 0) -> int:
    """Return how many ports a cluster needs; under ZooKeeper it has one more broker."""
    return Ports.needed(brokers + (0 if release.kraft else 1), voters)


def choose_ports(first: int, needed: int) -> int:
    """Return `first`, or for 0 the first of `needed` free ports in a row.  Raises LabError."""
    if first == 0:
        return free_block(needed)
    taken = taken_in(first, needed)
    if taken is not None:
        raise LabError(
            f"Port {taken} is taken, and {first} to {first + needed - 1} are needed; choose "
            "others with --port, or leave it out for free ones."
        )
    return first


def find_tools(release: KafkaRelease, jars: Path | None, tell: Tell) -> Tools:
    """Return Java and the jars of a release.  Raises LabError."""
    try:
        java = find_java(user="Kafka")
    except JavaMissingError as error:
        raise LabError(str(error)) from None
    place = find_jars(release, jars, os.environ, tell).resolve()
    # An archive of classes fits one Java and one class path.
    fits = hashlib.sha256(f"{java.home} {java.version} {place}".encode()).hexdigest()[:12]
    archive = home_of(release, os.environ) / f"classes-{fits}.jsa"
    return Tools(java.home / "bin" / "java", place, archive)
