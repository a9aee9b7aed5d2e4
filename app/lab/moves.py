"""Each move of the playground that real brokers can play, and how.

A move is parsed by the engine's own grammar; here its arguments become deeds.  A function returns
what is worth reporting, such as an operator's error.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from app.kafka.fetches import ALTER_PARTITION, FETCH
from app.lab import disk
from app.lab.client import Connection, KafkaClient
from app.lab.cluster import K, wait_until
from app.lab.configuration import word_of
from app.lab.facts import LabPartition
from app.lab.links import CONTROLLER
from app.lab.member_moves import OF_MEMBERS
from app.lab.metadata import ZooKeeperMetadata
from app.lab.stage import UNREACHABLE, LabStage
from engine.controlplane import election
from engine.model.errors import InputError
from engine.moves.moves import Args, Move

Deed = Callable[[LabStage, Args], "str | None"]

DEEDS: Final[dict[str, Deed]] = {}

WAITING: Final = "waiting"
PRODUCER_PATIENCE_MS: Final = 30_000
CONTROLLER_ACTS_S: Final = 45  # under ZooKeeper its thread to the lost broker ends first, in 30 s
ZOOKEEPER_FORGETS_S: Final = 13.0
METADATA_FETCH_S: Final = 0.8
"""A metadata fetch that is on its way waits at most 500 ms at the controller."""
LEAVING_S: Final = 4.0
"""After this time the fetches that keep a broker from ending under ZooKeeper are broken."""
BY_HAND: Final = ("fetch", "ask", "fetching", "hold", "release", "detect")
SETTINGS: Final = (
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "retention.ms",
    "retention.bytes",
)
"""Settings of topics; the others of the playground are the brokers' own and need a restart."""


def deed(name: str) -> Callable[[Deed], Deed]:
    def register(function: Deed) -> Deed:
        DEEDS[name] = function
        return function

    return register


def why_not(move: Move, zookeeper: bool, voters: int = 0, groups: bool = False) -> str:
    """Return why real brokers cannot play a move; "" where they can.

    `voters`: the number of controllers where there are several; `groups`: whether there are any.
    """
    args, name = move.args, move.verb.name
    if name not in (OF_MEMBERS.keys() | DEEDS.keys() if groups else DEEDS):
        return "it has no counterpart outside the model"
    if args.get("tp", 0) != 0 and not (groups and name == "produce"):
        return "only groups have several partitions in the laboratory, and records are sent to them"
    if move.limit >= 0:
        return "a real move cannot be stopped in its middle"
    if name in ("hold", "release") and "broker" not in args:
        return "only “md” and “alter” can be held"
    if name == "produce" and "how" in args:
        return "its producer does not retry"
    if name == "produce" and args["acks"] == 0:
        return "nobody hears what became of it"
    if name == "set" and args["key"] not in SETTINGS:
        return f"only these change while brokers run: {', '.join(SETTINGS)}"
    if name == "set" and args.get("level", "topic") != "topic":
        return "only the topic's own settings are changed"
    if name == "set":
        try:
            word_of(args["key"], args["value"])
        except InputError as error:
            return error.sentence.rstrip(".")
    if name == "elect" and zookeeper and args["kind"] != election.PREFERRED:
        return "under ZooKeeper only “elect preferred” can be asked for"
    if name in ("pause", "resume") and args["broker"] == CONTROLLER and not voters:
        return "there is one controller"
    if name == "bounce" and args["broker"] < CONTROLLER:
        return "a controller takes seconds to start: write “shutdown” and “restart”"
    if voters and name in BY_HAND:
        return "with several controllers followers fetch by themselves"
    if name in ("cut", "heal") and not args["both"]:
        return "links are cut in both directions"
    ends = [args.get("a"), args.get("b")]
    if any(end is not None and end < CONTROLLER for end in ends) and not voters:
        return "clients are not cut off"
    if name == "bounce" and args["power"]:
        return "power fails with “power”"
    return ""


# -- clients ---------------------------------------------------------------------------------------


@deed("produce")
def _produce(stage: LabStage, args: Args) -> None:
    partition = stage.others.get(args["tp"], stage.own)
    to = stage.must_record(partition).leader if args["to"] is None else args["to"]
    client = stage.cluster.client(to)
    for value in args["values"]:
        stage.answers[value] = (WAITING, -1)
    for value in args["values"]:
        before = stage.log_end(to, partition)
        _send(stage, client, to, value, args["acks"], partition)
        wait_until(partial(_has_arrived, stage, to, value, before, partition), 7, 0.03)
    if args["acks"] == 1 or stage.quorum:
        seconds = 5 if args["acks"] == 1 else 0.5
        wait_until(lambda: all(stage.answers[v][0] != WAITING for v in args["values"]), seconds)
    else:
        time.sleep(0.5)


def _has_arrived(
    stage: LabStage, to: int, value: str, before: int, partition: LabPartition
) -> bool:
    return stage.log_end(to, partition) != before or stage.answers[value][0] != WAITING


def _send(
    stage: LabStage, client: KafkaClient, to: int, value: str, acks: int, partition: LabPartition
) -> None:
    """Send a record by a connection of its own.

    A broker reads no second request of a connection before the first is answered, and with acks=all
    that may take long.
    """
    given = stage.topic, value, acks, PRODUCER_PATIENCE_MS, partition.index
    try:
        connection = Connection(client.port, timeout_s=60)
        client.send_produce(connection, *given)
    except OSError:
        stage.answers[value] = ("DISCONNECTED", -1)
        return

    def hear() -> None:
        end = time.monotonic() + 6
        try:
            with connection:
                answer = client.receive_produced(connection)
                while _has_not_heard(stage, to, answer.error, partition) and time.monotonic() < end:
                    time.sleep(0.2)
                    client.send_produce(connection, *given)
                    answer = client.receive_produced(connection)
                stage.answers[value] = (answer.error, answer.offset)
        except UNREACHABLE:
            stage.answers[value] = ("DISCONNECTED", -1)

    threading.Thread(target=hear, daemon=True).start()


def _has_not_heard(stage: LabStage, broker: int, error: str, partition: LabPartition) -> bool:
    """Check whether the broker leads without knowing it yet."""
    if error not in ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"):
        return False
    record = stage.record(partition)
    return record is not None and record.leader == broker


@deed("read")
def _read(stage: LabStage, args: Args) -> str:
    leader = stage.must_record().leader
    error, hw, values = stage.cluster.client(leader).read(stage.topic, stage.log_start(leader))
    return f"{error} hw {hw}: {' '.join(values)}"


# -- time ------------------------------------------------------------------------------------------


@deed("settle")
def _settle(stage: LabStage, args: Args) -> str:
    return "" if stage.settle() else "not at rest within 40 s"


@deed("advance")
def _advance(stage: LabStage, args: Args) -> None:
    since = stage.paced if stage.quorum else time.monotonic()
    time.sleep(max(0.0, since + args["ms"] / 1_000 - time.monotonic()))
    if stage.groups:
        stage.groups.advance(args["ms"])
    stage.paced = time.monotonic()


@deed("at")
def _at(stage: LabStage, args: Args) -> None:
    time.sleep(max(0.0, args["ms"] / 1_000 - (time.monotonic() - stage.began)))


@deed("fetching")
def _fetching(stage: LabStage, args: Args) -> None:
    stage.by_hand(not args["auto"])


@deed("detect")
def _detect(stage: LabStage, args: Args) -> str:
    broker, metadata = args["broker"], stage.cluster.metadata
    if stage.cluster.session_ms:
        stage.cluster.end_session(broker)
    noticed = wait_until(lambda: not metadata.live(broker), 45, 0.1)

    def is_out(partition: LabPartition) -> bool:
        record = stage.must_record(partition)
        return record.leader != broker and (broker not in record.isr or record.isr == (broker,))

    wait_until(lambda: all(map(is_out, stage.partitions)), CONTROLLER_ACTS_S, 0.1)
    time.sleep(0.4)
    stage.informed()
    return "" if noticed else "the controller has not noticed"


# -- fetch rounds ----------------------------------------------------------------------------------


@deed("fetch")
def _fetch(stage: LabStage, args: Args) -> str:
    said = ""
    for _ in range(args["times"]):
        said = _round(stage, args["broker"], keep=False)
    return said


@deed("ask")
def _ask(stage: LabStage, args: Args) -> str:
    return _round(stage, args["broker"], keep=True)


def _round(stage: LabStage, broker: int, keep: bool) -> str:
    """Let one fetch of a follower pass; with `keep` its response stays on its way."""
    belief = stage.belief(broker)
    if belief is None or belief.leader in (-1, broker):
        return f"broker {broker} follows nobody"
    leader, hand = belief.leader, stage.cluster.hand
    link = hand.link(broker, leader)
    if not stage.wait_for(lambda: link.waiting or link.asks_epoch, 10):
        return "no fetch came"
    delivered, held = link.delivered, len(link.kept)
    with hand.change():
        link.credits, link.keep_next, link.asks_epoch = 1, keep, False
    if keep:
        passed = stage.wait_for(lambda: len(link.kept) > held, 5)
    else:
        passed = stage.wait_for(lambda: link.delivered > delivered, 5)
        # The answer has been worked on when the next fetch comes.
        stage.wait_for(lambda: link.waiting or link.asks_epoch, 2)
    with hand.change():
        link.credits, link.keep_next = 0, False
    return "" if passed else "no answer came"


# -- faults ----------------------------------------------------------------------------------------


@deed("kill")
def _kill(stage: LabStage, args: Args) -> None:
    if args["broker"] != CONTROLLER:
        stage.cluster.keep_controller_apart()
    stage.cluster.kill(K if args["broker"] == CONTROLLER else args["broker"])
    stage.cluster.paused.discard(args["broker"])


@deed("shutdown")
def _shutdown(stage: LabStage, args: Args) -> None:
    broker, cluster = args["broker"], stage.cluster
    ended = threading.Event()

    def break_fetches() -> None:
        # Its fetcher threads end only between two fetches, and theirs wait for a move.
        while not ended.wait(LEAVING_S):
            cluster.hand.break_fetches(broker)

    if not cluster.release.kraft:
        threading.Thread(target=break_fetches, daemon=True).start()
    try:
        cluster.kill(broker, signal.SIGTERM)
    finally:
        ended.set()
    stage.informed()
    time.sleep(0.2)


@deed("restart")
def _restart(stage: LabStage, args: Args) -> str:
    cluster, broker = stage.cluster, args["broker"]
    said = ""
    if not cluster.controller_alive and (
        broker == CONTROLLER or isinstance(cluster.metadata, ZooKeeperMetadata)
    ):
        cluster.start_controller()
        if isinstance(cluster.metadata, ZooKeeperMetadata):
            time.sleep(ZOOKEEPER_FORGETS_S)  # the sessions of the dead end
            said = "" if broker == CONTROLLER else "ZooKeeper was started first"
    if broker != CONTROLLER:
        cluster.start(broker)
        cluster.await_up(broker)
        stage.acted = stage.paced = time.monotonic()
    stage.informed()
    time.sleep(0.5)
    return said


@deed("bounce")
def _bounce(stage: LabStage, args: Args) -> None:
    """Restart a broker's process; under ZooKeeper the controller does not notice.

    It is frozen while the broker's old session ends and its new one begins.  The old session is
    closed at once, so that the controller's own does not expire meanwhile.  A KRaft broker waits
    for the end of its old session, and gives up after a minute, so a long session is ended, too.
    """
    cluster, broker = stage.cluster, args["broker"]
    metadata = cluster.metadata
    sleeper = metadata.controller() if isinstance(metadata, ZooKeeperMetadata) else None
    if sleeper is not None:
        cluster.kill(sleeper, signal.SIGSTOP)
    cluster.kill(broker)
    if sleeper is not None or cluster.session_ms:
        cluster.end_session(broker)
        wait_until(lambda: not metadata.live(broker), 40)
    cluster.start(broker)
    cluster.await_up(broker)
    if sleeper is not None:
        time.sleep(1)
        cluster.kill(sleeper, signal.SIGCONT)
    time.sleep(3)
    stage.informed(4)


@deed("power")
def _power(stage: LabStage, args: Args) -> None:
    """Cut off what the model had not flushed; Kafka writes checkpoints through."""
    broker = args["broker"]
    stage.cluster.keep_controller_apart()
    stage.cluster.kill(broker)
    disk.cut_from(stage.directory(broker), stage.flushed.get(broker, 0))


@deed("flush")
def _flush(stage: LabStage, args: Args) -> None:
    """Do nothing: a power failure of the laboratory spares what the model has flushed."""


@deed("checkpoint")
def _checkpoint(stage: LabStage, args: Args) -> None:
    time.sleep(0.5)  # it happens by itself


@deed("wipe")
def _wipe(stage: LabStage, args: Args) -> None:
    shutil.rmtree(stage.directory(args["broker"]), ignore_errors=True)
    folder = stage.cluster.log_directory(args["broker"])  # a new disk was never shut down cleanly
    (folder / ".kafka_cleanshutdown").unlink(missing_ok=True)


@deed("pause")
def _pause(stage: LabStage, args: Args) -> None:
    stage.cluster.paused.add(args["broker"])
    stage.cluster.kill(args["broker"], signal.SIGSTOP)
    # A fetch that waits for a move would pass while its sender is paused.
    stage.cluster.hand.break_fetches(args["broker"])


@deed("resume")
def _resume(stage: LabStage, args: Args) -> None:
    broker, hand = args["broker"], stage.cluster.hand
    with hand.change():
        hand.floors.clear()  # a deposed leader answers fetches of an old epoch until it is informed
        hand.paused.discard(broker)
    stage.cluster.kill(broker, signal.SIGCONT)
    wait_until(lambda: stage.cluster.metadata.live(broker), 25)
    stage.informed()
    time.sleep(0.5)


@deed("cut")
def _cut(stage: LabStage, args: Args) -> None:
    cluster = stage.cluster
    cluster.hand.cut(cluster.end_of(args["a"]), cluster.end_of(args["b"]))


@deed("heal")
def _heal(stage: LabStage, args: Args) -> None:
    hand = stage.cluster.hand
    named = [stage.cluster.end_of(args[end]) for end in ("a", "b") if args[end] is not None]
    ends = [(named[0], named[1])] if named else hand.cuts()
    with hand.change():
        hand.floors.clear()  # a deposed leader answers fetches of an old epoch until it is informed
    for node, other in ends:
        hand.heal(node, other)
    if stage.quorum:
        return  # what follows is a matter of time, which the script lets pass
    for broker in stage.running():
        if hand.passes(broker, CONTROLLER):
            wait_until(partial(stage.cluster.metadata.live, broker), 30)
    stage.informed()
    time.sleep(0.6)


@deed("hold")
def _hold(stage: LabStage, args: Args) -> None:
    stage.cluster.hand.hold(args["broker"], _held_kind(args), True)
    if args["metadata"]:
        time.sleep(METADATA_FETCH_S)


@deed("release")
def _release(stage: LabStage, args: Args) -> None:
    stage.cluster.hand.hold(args["broker"], _held_kind(args), False)
    time.sleep(0.7)
    if args["metadata"]:
        stage.informed()


def _held_kind(args: Args) -> int:
    """Return the kind of request to hold: a KRaft broker fetches metadata as it fetches records."""
    return FETCH if args["metadata"] else ALTER_PARTITION


# -- operators -------------------------------------------------------------------------------------


@deed("elect")
def _elect(stage: LabStage, args: Args) -> str:
    if args["broker"] is not None:
        return _elect_one(stage, args["broker"])
    metadata = stage.cluster.metadata
    if stage.cluster.release.numbers >= (2, 4, 0):
        unclean = args["kind"] == election.UNCLEAN
        error = stage.cluster.controller_client().elect(stage.topic, unclean)
    else:
        assert isinstance(metadata, ZooKeeperMetadata)
        metadata.elect_preferred(stage.topic)
        error = "NONE"
    time.sleep(0.5)
    stage.informed()
    return "" if error == "NONE" else error


def _elect_one(stage: LabStage, broker: int) -> str:
    """Elect a replica by putting it first, electing the preferred one, and restoring the order.

    The epochs of the two reorderings are the laboratory's own.
    """
    before = stage.must_record()
    order = list(before.replicas)
    preferred = [broker, *(other for other in order if other != broker)]
    client = stage.cluster.controller_client()
    for listed in (preferred, order):
        if preferred != order:
            client.reassign(stage.topic, listed)
            wait_until(partial(_is_ordered, stage, tuple(listed)), 10)
        if listed is preferred:
            error = client.elect(stage.topic, unclean=False)
    after = stage.must_record()
    # An election is one partition epoch and one leader epoch; the rest are the reorderings.
    elected = after.leader_epoch != before.leader_epoch
    stage.adjusted.partition_epoch += after.partition_epoch - before.partition_epoch - elected
    time.sleep(0.4)
    stage.informed()
    return "" if error == "NONE" else error


def _is_ordered(stage: LabStage, replicas: tuple[int, ...]) -> bool:
    return stage.must_record().replicas == replicas


@deed("reassign")
def _reassign(stage: LabStage, args: Args) -> str:
    target = None if args["target"] is None else list(args["target"])
    error = stage.cluster.controller_client().reassign(stage.topic, target)
    time.sleep(0.8)
    stage.informed()
    return "" if error == "NONE" else error


@deed("set")
def _set(stage: LabStage, args: Args) -> str:
    key, value = args["key"], word_of(args["key"], args["value"])
    error = stage.cluster.controller_client().set_config(stage.topic, key, value, stage.configs)
    time.sleep(0.8)
    stage.informed()
    if error == "NONE":
        stage.configs[key] = value
    return "" if error == "NONE" else error


@deed("delete")
def _delete(stage: LabStage, args: Args) -> str:
    """Delete records; wait until followers, which learn of it by their next fetch, have too."""
    client = stage.cluster.client(stage.must_record().leader)
    heard: list[Any] = []

    def ask() -> None:
        with contextlib.suppress(*UNREACHABLE):  # the leader may die before followers have deleted
            heard.append(client.delete_records(stage.topic, args["offset"]))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(1.0)
    stage.has_deleted = True
    return json.dumps(heard[0]) if heard and heard[0] != "NONE" else ""
