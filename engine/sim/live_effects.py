"""Effects of a handler, carried out at once."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from engine.checks.ledger import Ledger
from engine.model.broker import Broker
from engine.model.compiling import mypyc_attr
from engine.model.copying import shallow
from engine.model.effects import Effects
from engine.model.messages import PRODUCE, Message
from engine.sim.kernel import TIMER, Kernel
from engine.sim.network import Network


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Wires(Effects):
    """Effects that are carried out at once: nothing a handler does can depend on them.

    Listeners find the messages of the event in `sends`.
    """

    __slots__ = ("_incarnations", "_kernel", "_network", "ledger")

    def __init__(self, cues: bool, kernel: Kernel, network: Network, ledger: Ledger) -> None:
        Effects.__init__(self, cues)
        self._kernel = kernel
        self._network = network
        self.ledger = ledger
        self._incarnations: dict[int, Broker] = {}

    def watch(self, brokers: dict[int, Broker]) -> None:
        """Use the incarnations of these brokers: a timer carries the one that set it."""
        self._incarnations = brokers

    def twin(self, kernel: Kernel, network: Network, brokers: dict[int, Broker]) -> Wires:
        """Return a copy over another kernel and network."""
        twin = shallow(self)
        twin.now, twin.ledger = self.now, self.ledger
        twin._kernel, twin._network, twin._incarnations = kernel, network, brokers
        twin.sends, twin.timers = self.sends.copy(), self.timers.copy()
        twin.cues = None if self.cues is None else self.cues.copy()
        twin.touched = self.touched.copy()
        return twin

    def send(self, message: Message) -> None:
        if message.kind == PRODUCE:
            self.ledger.sent += 1
        if self.cues is not None:
            self.sends.append(message)
        self._network.send(message)

    def give_up(self, node: int, corr: int) -> bool:
        """CP-RAFT-TIMEOUT.  Close the connection of a request; False if it has its response."""
        request = self._network.time_out(node, corr)
        if request is None:
            return False
        self.cue("CP-RAFT-TIMEOUT", node, "request", request.kind, request.dst)
        return True

    def timer(self, node: int, delay: int, kind: int, data: Any = None) -> None:
        incarnation = self._incarnations[node].machine.incarnation if node >= 0 else 0
        kernel = self._kernel
        kernel.seq = seq = kernel.seq + 1
        heappush(kernel.pending, (kernel.now + delay, TIMER, node, seq, (kind, data, incarnation)))
