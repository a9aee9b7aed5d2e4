"""Thread at work at a cue, and the call chain from its run loop to the method that acts.

Chains that begin in the middle are led back to a run loop through another chain of the same
release; where several ways lead there, or none is in the index, a gap says so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from engine.catalogue.sourcemap import card_of
from engine.lens.source import Chain, SourcePlace, profile_of, source
from engine.model.profiles import FETCH, HW, KIP101, KIP279, KIP279_FENCED, KRAFT, ZK

REASONS: Final = {
    "outside": "No part of Kafka does it: a fault, an operator's hand, or an observer.",
    "absent": "This release has no such rule.",
    "chosen": "The scenario chose it by hand: the controller of this release places differently.",
    "halt": "The process stops itself with Runtime.halt, which is the JVM's.",
}
"""Reasons for a cue without a chain: no other text may be shown."""

GAPS: Final = {
    "event": "it waited in the queue of events for its turn",
    "task": "it was scheduled, and runs when its time has come",
    "answer": "it waited for an answer",
    "callback": "it is called back when the work before it is done",
    "purgatory": "the request waited in the purgatory",
    "replay": "the records that it made are replayed",
    "interface": "it is reached through an interface",
    "way": "several ways lead here; the frames between are left out",
}
"""Waits between a frame and the one before it."""

_OWN_GAPS: Final = (
    ("ControllerWriteEvent.run", "event"),
    ("ControllerEventThread.doWork", "event"),
    ("EventHandler.run", "event"),
    ("QuorumMetaLogListener.", "event"),
    ("MetadataLoader.", "interface"),
    ("ReplicaManager.start", "task"),
    ("LogManager.startup", "task"),
    ("KafkaApis.", "callback"),
    ("ZookeeperLeaderElector.", "callback"),
    ("DelayedOperation", "purgatory"),
    ("ExpiredOperationReaper.", "purgatory"),
    ("Watchers.", "purgatory"),
    ("AlterIsrManagerImpl.", "answer"),
    ("DefaultAlter", "answer"),
    ("Fetcher.", "answer"),
    ("OffsetFetcher.", "answer"),
    ("Sender.", "answer"),
    ("PartitionChangeBuilder.", "replay"),
    ("Election.", "interface"),
    ("Log.", "interface"),
    ("UnifiedLog.", "interface"),
    ("ReplicaAlterLogDirsThread.", "interface"),
)
"""By the frame before the gap."""

RUN: Final = "ShutdownableThread.run"
LOOPS: Final[dict[str, tuple[str, ...]]] = {
    "fetcher": (RUN, "AbstractFetcherThread.doWork"),
    "alterdirs": (RUN, "AbstractFetcherThread.doWork"),
    "handler": ("KafkaRequestHandler.run", "KafkaApis.handle"),
    "config": (RUN,),
    "dirfail": (RUN, "LogDirFailureHandler.doWork"),
    "reaper": (RUN, "ExpiredOperationReaper.doWork"),
    "controller": (RUN, "ControllerEventThread.doWork"),
    "alter": (RUN, "InterBrokerSendThread.doWork"),
    "quorum": ("EventHandler.run",),
    "raft": (RUN,),
    "observer": (RUN,),
    "publisher": ("EventHandler.run",),
    "lifecycle": ("EventHandler.run",),
    "producer": ("Sender.run",),
}
"""The run loop of each kind of thread; the others begin where their chains do."""

CLIENTS: Final = ("consumer", "producer")
CONTROLLERS: Final = ("controller", "quorum", "zkclient")

_BEGINNINGS: Final = frozenset(
    (*(loop[0] for loop in LOOPS.values()), "ReplicaManager.startup", "LogManager.startup",
     "ReplicaManager.startHighWaterMarksCheckPointThread",
     "ReplicaManager.startHighWatermarkCheckPointThread", "KafkaServer.startup",
     "KafkaServer.shutdown", "BrokerServer.shutdown", "BrokerServer.startup",
     "QuorumMetaLogListener.handleLeaderChange", "ZookeeperLeaderElector.elect",
     "BrokerChangeListener.handleChildChange", "BrokerChangeListener.doHandleChildChange")
)  # fmt: skip

_OTHERS: Final[dict[str, tuple[str, ...]]] = {
    "L-7": ("L-8",),
    "L-14": ("T-1", "T-0"),
    "S-9": ("S-9.rejected",),
    "CP-ISR": ("S-9",),
    "CP-ALTER": ("S-9.rejected",),
    "CP-7.7.delete": ("CP-7.7.deleted",),
    "CP-8.4.offline": ("CP-8.4.event",),
}
"""Chains that stand for a cue where it has none of its own in a release."""

_ONLY: Final[dict[str, str]] = {
    "CP-8.4.assign": KRAFT,
    "CP-10.deposed": KRAFT,
    "CP-10.discarded": KRAFT,
    "CP-DECOMMISSION.forget": KRAFT,
    "CP-PLACE-KR": KRAFT,
    "CP-8.4.event": ZK,
    "CP-7.7.ineligible": ZK,
    "CP-PLACE-ZK": ZK,
    "CP-PLACE-ZK-RACK": ZK,
}
"""Cues that one kind of controller has, and the other does not."""

_NOBODY: Final = {("CP-10.down", ZK), ("CP-DECOMMISSION", ZK), ("CP-DECOMMISSION", KRAFT)}
"""Cues of cards with classes without a thread: a controller is gone; a plan is made by hand."""

_THREADS: Final = (
    (("T-1",), "fetcher"),
    (("P-2", "P-4", "C-5", "H-9", "CP-12", "CP-PLACE-ZK"), "handler"),
    (("C-4",), "consumer"),
    (("CP-SHUTDOWN", "CP-8.2"), "main"),
    (("CP-ELECT-ADMIN", "CP-REASSIGN", "CP-7.7", "CP-8.4"), "controller"),
)
"""Threads that act where a release has the card's method, and the index has no chain to it."""


ALONG: Final[dict[str, tuple[str, ...]]] = {
    "L-14": ("T-0", "T-1", "T-2", "T-4", "F-9"),
}
"""Cues that go along with one of others: at a step that has both, the other's stack is theirs."""

_ROLE: Final = ("CP-MAKE-LEADER", "CP-MAKE-FOLLOWER", "CP-KR-APPLY")
WITHIN: Final[dict[str, tuple[str, ...]]] = {
    "L-7": ("L-9",),
    "H-2": _ROLE,
    "H-2.min_isr": _ROLE,
    "P-4.answer": _ROLE,
    "S-2.epoch_check": _ROLE,
    "CP-ISR": ("CP-ELECT-ZK", "CP-ELECT-KR", "CP-ELECT-ADMIN", "CP-KR-SHUTDOWN", "CP-KR-FENCE",
               "CP-KR-UNFENCE", "CP-ZK-BROKERS", "CP-REASSIGN"),
}  # fmt: skip
"""Cues that usually have a thread of their own, but at a step that has one of these were reached
by it: a leader that deletes records is no fetcher."""


_TRUNCATES: Final = {HW: "T-0", KIP101: "T-1", KIP279: "T-2", KIP279_FENCED: "T-2", FETCH: "T-4"}
_SAME_IN: Final[dict[str, dict[str, str]]] = {
    KRAFT: {"CP-ELECT-ZK": "CP-ELECT-KR", "CP-ZK-BROKERS": "CP-KR-FENCE",
            "CP-SHUTDOWN": "CP-KR-SHUTDOWN", "CP-LISR.stale": "CP-KR-APPLY"},
    ZK: {"CP-ELECT-KR": "CP-ELECT-ZK", "CP-KR-FENCE": "CP-ZK-BROKERS",
         "CP-KR-SHUTDOWN": "CP-SHUTDOWN", "CP-KR-UNFENCE": "CP-ZK-BROKERS"},
}  # fmt: skip


def counterpart(cue: str, release: str, mode: str) -> str:
    """Return the cue by which another release does the same, such as truncate or elect."""
    rule, dot, rest = cue.partition(".")
    if rule in _TRUNCATES.values():
        method = _TRUNCATES[profile_of(release, mode).truncation]
        return f"{method}{dot}{rest}"
    return _SAME_IN[mode].get(cue, cue)


class Frame(NamedTuple):
    """A method on the stack.

    `gap`: what was waited for before it ("" for a direct call); `calls`: the line of its file at
    which the next one is called, 0 if not known.
    """

    name: str
    place: SourcePlace | None
    gap: str
    calls: int

    @property
    def file(self) -> str:
        """The file of the method, "" if it is not known."""
        return self.place.file if self.place else ""


class Stack(NamedTuple):
    """Stack of a release at a cue: frames, outermost first, or the key of a reason.

    `acting`: the deepest frame that the rule's card names.
    """

    cue: str
    release: str
    mode: str
    thread: str
    frames: tuple[Frame, ...]
    acting: int
    reason: str

    @property
    def where(self) -> str:
        """ "broker", "controller", "voter" (of a quorum) or "client"."""
        if self.thread == "raft":
            return "voter"
        if self.thread in CLIENTS:
            return "client"
        return "controller" if self.thread in CONTROLLERS else "broker"


@lru_cache(maxsize=4096)
def stack(cue: str, release: str, mode: str) -> Stack:
    """Return the stack of a cue in an exact release under a mode ("zk", "kraft").

    Raises KeyError for a release that is not in the index.
    """
    source().number(release)
    card = card_of(cue)
    if card is None or card.outside or (cue, mode) in _NOBODY:
        return _none(cue, release, mode, "outside")
    names = card.classes(profile_of(release, mode))
    if _ONLY.get(cue, mode) != mode:
        return _none(cue, release, mode, "chosen" if cue.startswith("CP-PLACE") else "absent")
    if not names:
        return _none(cue, release, mode, "absent")
    chain = chain_of(cue, release, mode)
    if chain is None:
        return _by_card(cue, release, mode, names)
    thread, steps = _led_back(chain, release, mode)
    return _stack(cue, release, mode, _in_release(thread, release), steps, names)


def reason(key: str) -> str:
    """Return the sentence of a reason.  Raises KeyError for one that is not in the list."""
    return REASONS[key]


def chain_of(cue: str, release: str, mode: str) -> Chain | None:
    """Return the chain of a cue, of what stands for it, or of the rule that it is a part of."""
    name = cue
    while name:
        aliases = [source().aliases[name]] if name in source().aliases else []
        for rule in (name, *aliases, *_OTHERS.get(name, ())):
            chain = _chain(rule, release, mode)
            if chain is not None:
                return chain
        name = name.rpartition(".")[0]
    return None


def _chain(rule: str, release: str, mode: str) -> Chain | None:
    at = source().number(release)
    for chain in source().chains.get(rule, ()):
        if chain.since <= at <= chain.until and chain.mode in ("", mode):
            return chain
    return None


DEEPEST: Final = 2
"""Most chains that may stand before one another."""

_ALONE: Final = frozenset(("CP-ELECT-NEW",))
"""Rules whose chains share frames with a cause that is not theirs."""

Steps = list[tuple[str, str]]
"""(frame, the gap before it)"""


def _steps(chain: Chain, end: int = -1) -> Steps:
    frames = chain.frames if end < 0 else chain.frames[:end]
    return [
        (name, _gap(chain.frames[at - 1]) if at in chain.later else "")
        for at, name in enumerate(frames)
    ]


def _gap(before: str) -> str:
    for start, kind in _OWN_GAPS:
        if before.startswith(start):
            return kind
    return "way"


def _led_back(chain: Chain, release: str, mode: str, depth: int = 0) -> tuple[str, Steps]:
    """Return the thread and the steps from its run loop."""
    steps = _steps(chain)
    first = chain.frames[0]
    if first in _BEGINNINGS:
        return chain.thread, steps
    if source().call(release, RUN, first):
        return chain.thread, [(RUN, ""), *steps]
    before = _before(first, chain, release, mode, depth)
    if before is not None:
        thread, frames = before
        return thread, frames + steps[1:]
    loop = _loop(_in_release(chain.thread, release), release)
    return chain.thread, [*loop, (first, "way" if loop else ""), *steps[1:]]


def _before(
    name: str, chain: Chain, release: str, mode: str, depth: int
) -> tuple[str, Steps] | None:
    """Return the frames of other chains up to `name`.

    It is the shortest way from a run loop, of the same thread where there is one.
    """
    if depth == DEEPEST or chain.rule in _ALONE:
        return None
    chains = []
    for rule in source().chains:
        other = _chain(rule, release, mode)
        if other is None or other is chain or name not in other.frames[1:]:
            continue
        thread, steps = _led_back(other, release, mode, depth + 1)
        if steps[0][0] not in _BEGINNINGS:
            continue
        at = [step for step, _ in steps].index(name)
        chains.append((thread != chain.thread, at, rule, thread, steps[: at + 1]))
    if not chains:
        return None
    *_, thread, steps = min(chains, key=lambda entry: entry[:3])
    return thread, steps


def _in_release(thread: str, release: str) -> str:
    """Return the release's name of a thread: before 0.11 ZooKeeper's client was the controller."""
    other = {"controller": "zkclient", "zkclient": "controller"}.get(thread, thread)
    return thread if source().thread(release, thread) else other


def _loop(thread: str, release: str) -> Steps:
    """Return the run loop of a thread, as far as the release has it."""
    return [(name, "") for name in LOOPS.get(thread, ()) if source().has(release, name)]


def _by_card(cue: str, release: str, mode: str, names: list[str]) -> Stack:
    """Return the run loop, a gap, and the method that the card names last."""
    thread = next((key for rules, key in _THREADS if cue.startswith(rules)), "handler")
    thread = "quorum" if thread == "controller" and mode == KRAFT else _in_release(thread, release)
    present = [name for name in names if source().has(release, name)]
    if not present:
        return _none(cue, release, mode, "halt")
    loop = _loop(thread, release)
    steps = [*loop, (present[-1], "way" if loop else "")]
    return _stack(cue, release, mode, thread, steps, names)


def _stack(cue: str, release: str, mode: str, thread: str, steps: Steps, names: list[str]) -> Stack:
    frames = _frames(release, steps)
    acting = max(
        (at for at, frame in enumerate(frames) if frame.name in names), default=len(frames) - 1
    )
    return Stack(cue, release, mode, thread, frames, acting, "")


def _frames(release: str, steps: Steps) -> tuple[Frame, ...]:
    index = source()
    frames = []
    for at, (name, gap) in enumerate(steps):
        after, waited = steps[at + 1] if at + 1 < len(steps) else ("", "")
        line = index.call(release, name, after) if after and not waited else 0
        frames.append(Frame(name, index.where(release, name), gap, line))
    return tuple(frames)


def _none(cue: str, release: str, mode: str, why: str) -> Stack:
    return Stack(cue, release, mode, "", (), -1, why)


def within(leading: Stack, own: Stack) -> Stack:
    """Return the acting frames of `own`, reached by the thread of `leading`."""
    if leading.reason or own.reason:
        return own
    names = [frame.name for frame in leading.frames]
    acts = own.frames[own.acting]
    if acts.name in names:
        at = names.index(acts.name)
        return own._replace(thread=leading.thread, frames=leading.frames[: at + 1], acting=at)
    frames = (*leading.frames, acts._replace(gap="way"), *own.frames[own.acting + 1 :])
    return own._replace(thread=leading.thread, frames=frames, acting=len(leading.frames))


BUILD: Final = "PartitionChangeBuilder.build"


def completing(leading: Stack, own: Stack) -> Stack:
    """Return the stack of an election in the change that completes a reassignment.

    The leader's AlterPartition asked for it, and no broker that came or went.
    """
    names, other = ([frame.name for frame in each.frames] for each in (leading, own))
    if BUILD not in names or BUILD not in other:
        return own
    at, begin = names.index(BUILD), other.index(BUILD)
    frames = (*leading.frames[:at], *own.frames[begin:])
    frames = (*frames[:at], frames[at]._replace(gap=leading.frames[at].gap), *frames[at + 1 :])
    return own._replace(frames=frames, acting=own.acting - begin + at)


def of_client(own: Stack) -> Stack:
    """Return the consumer's stack of what a fetcher and a consumer both do.

    The consumer's own code calls it when the answer is there.
    """
    acts = own.frames[own.acting]._replace(gap="answer")
    frames = (acts, *own.frames[own.acting + 1 :])
    return own._replace(thread="consumer", frames=frames, acting=0)


RESIZE: Final = "AbstractFetcherManager.resizeThreadPool"


def resized(own: Stack) -> Stack:
    """Return the stack that assigns threads after their number changed at run time (KIP-226)."""
    begin = next((at for at, frame in enumerate(own.frames) if frame.name.endswith(_ADDS)), -1)
    if begin < 0 or not source().has(own.release, RESIZE):
        return own
    thread = "publisher" if own.mode == KRAFT else "config"
    loop = _loop(thread, own.release)
    steps = [*loop, (RESIZE, "way" if loop else ""), *((f.name, "") for f in own.frames[begin:])]
    acting = own.acting - begin + len(loop) + 1
    frames = _frames(own.release, steps)
    return own._replace(thread=thread, frames=frames, acting=acting)


_ADDS: Final = ".addFetcherForPartitions"

# -- threads --------------------------------------------------------------------------------------

_BESIDE_THE_TABLE: Final = {
    "consumer": "ConsumerFetcherThread-<consumer>-<fetcher>-<leader>",
    "config": "/config/changes-event-process-thread",
}
"""0.8: the consumer of Scala had fetcher threads of its own.  ZooKeeper, since 1.1: changed
configurations are applied by the thread that ZkNodeChangeNotificationListener starts
(ChangeEventProcessThread, named after the znode that it watches)."""

_PURGATORIES: Final = {"P": "Produce", "S": "Fetch", "H": "Fetch", "L": "DeleteRecords"}


def thread_name(of: Stack, node: Any = None, leader: Any = None, fetcher: int = 0) -> str:
    """Return the JVM's name of the stack's thread, known parts filled in; "" where it has none.

    `fetcher`: which of a broker's threads for that leader (F-1), -1 where it is not known.  What a
    run does not know stays as a <place>: which of several request handlers it was, for one.
    """
    name = source().thread(of.release, of.thread) or _BESIDE_THE_TABLE.get(of.thread, "")
    filled = {"<purgatory>": _PURGATORIES.get(of.cue[0], "<purgatory>")}
    if fetcher >= 0:
        filled["<fetcher>"] = str(fetcher)
    if isinstance(node, int):
        filled["<broker>"] = filled["<node>"] = str(node)
    if isinstance(leader, int) and leader >= 0:
        filled["<leader>"] = str(leader)
    for place, value in filled.items():
        name = name.replace(place, value)
    return name
