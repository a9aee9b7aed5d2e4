"""Everything that a copy, a key or a view is made of."""

from __future__ import annotations

from engine.model.broker import Broker
from engine.model.configs import Configs
from engine.model.controller import Controller
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.profiles import Profile
from engine.model.quorum import Quorum
from engine.model.remote_log import RemoteStore
from engine.model.state import LEADER, UP, Replica


@declared
class Cluster:
    """Brokers by id, the controller side, and the names of the partitions.

    `zombie`: a controller that is paused, as it was then; it may have been replaced since.
    `quorum`: the voters, where they are played; `controller` is then the active one of them, or the
    last that was.  `store`: remote storage, which all brokers share (R-1).
    """

    profile: Profile
    configs: Configs
    names: tuple[str, ...]
    controller: Controller = unset()
    zombie: Controller | None = begins(None)
    quorum: Quorum | None = begins(None)
    store: RemoteStore | None = begins(None)
    brokers: dict[int, Broker] = fresh(dict)

    def __post_init__(self) -> None:
        self.controller = Controller(self.profile, self.configs)

    def twin(self, twins: Twins) -> Cluster:
        twin = shallow(self)
        twin.controller = self.controller.copy()
        twin.zombie = self.zombie and self.zombie.copy()
        if self.quorum is not None:
            twin.quorum = self.quorum.copy()
            twin.controller = twin.quorum.controller_of(self.quorum, self.controller)
        twin.store = self.store and twins.of(self.store)
        twin.brokers = {id: broker.twin(twins) for id, broker in self.brokers.items()}
        return twin

    def branch(self) -> Cluster:
        """Return a twin whose brokers are this one's own, as yet (see `World.branch`)."""
        twin = shallow(self)
        twin.controller = self.controller.copy()
        twin.zombie = self.zombie and self.zombie.copy()
        if self.quorum is not None:
            twin.quorum = self.quorum.copy()
            twin.controller = twin.quorum.controller_of(self.quorum, self.controller)
        twin.brokers = self.brokers.copy()
        return twin

    def forget_fetches(self) -> None:
        """Let each next fetch visit all its partitions: what happens now may change any of them."""
        for broker in self.brokers.values():
            if broker.process is not None:
                broker.process.forget_fetches()

    def number_of(self, name: str) -> int:
        """Return the number of the partition of this name, or -1; of several the youngest."""
        for tp in range(len(self.names) - 1, -1, -1):
            if self.names[tp] == name:
                return tp
        return -1

    def current_leader(self, tp: int) -> Replica | None:
        """Return the replica that leads in the controller's current epoch, if it knows it."""
        record = self.controller.records.get(tp)
        broker = None if record is None else self.brokers.get(record.leader)
        if record is None or broker is None:
            return None
        replica = broker.replicas.get(tp)
        if replica is None or replica.role != LEADER or replica.leader_epoch != record.leader_epoch:
            return None
        return replica

    def availability(self, tp: int) -> tuple[bool, bool]:
        """A1, A2.  Return (has a live leader, accepts acks=all as well)."""
        leader = self.current_leader(tp)
        if leader is None or self.brokers[leader.broker].status != UP:
            return False, False
        return True, len(leader.isr) >= leader.min_isr()
