"""A simulation: the world that a scenario describes, as a run begins it."""

from __future__ import annotations

from engine.clients.client_setup import add_clients
from engine.clients.clients import Producer
from engine.clients.consumers import Consumer
from engine.controlplane import kraft, zookeeper
from engine.controlplane.roles import apply_record, new_disk
from engine.faults.fault_plan import reseed_plans
from engine.model import timers
from engine.model.broker import Broker, Machine, Process
from engine.model.compiling import mypyc_attr
from engine.model.configs import for_topic
from engine.model.control_messages import MetadataFetch
from engine.model.controller import Controller, Registration, Topic
from engine.model.effects import Effects
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import CONTROLLER, FIRST_CONSUMER, FIRST_PRODUCER
from engine.model.quotas import TOPIC
from engine.model.records import PartitionRecord
from engine.model.remote_log import RemoteStore
from engine.model.state import UP, Peer
from engine.scenarios.scenario import Scenario
from engine.sim import active_controller, initial_state
from engine.sim.kernel import Chance
from engine.sim.world import World


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Simulation(World):
    """A world with its brokers up, its clients and its plans, ready for the first move."""

    def __init__(self, scenario: Scenario, profile: str, seed: int = 0, cues: bool = False) -> None:
        super().__init__(scenario, profile, seed, cues)
        _build_cluster(self)

    def draw_anew(self, number: int) -> None:
        """Draw another future of this present: every random stream goes on as number `number`."""
        self.drawn_anew = True
        self.network.chance = Chance(self.seed, f"future {number} network")
        if self.cluster.quorum is not None:
            self.cluster.quorum.chance = Chance(self.seed, f"future {number} quorum")
        for node, client in self.clients.items():
            if isinstance(client, Producer):
                client.chance = Chance(self.seed, f"future {number} client {node}")
        reseed_plans(self, self.plans, self.seed, number)

    # -- clients of scripts and workloads ----------------------------------------------------------

    def producer(self) -> Producer:
        client = self.clients[FIRST_PRODUCER]
        assert isinstance(client, Producer)
        return client

    def consumer(self, number: int = 1) -> Consumer:
        node = FIRST_CONSUMER - (number - 1)
        client = self.clients[node]
        assert isinstance(client, Consumer)
        return client


# -- building -------------------------------------------------------------------------------------


def _build_cluster(sim: Simulation) -> None:
    """Build the initial state: all brokers registered, every partition led by its AR[0]."""
    scenario, cluster = sim.scenario, sim.cluster
    k = cluster.controller
    cluster.store = RemoteStore() if sim.configs.remote_storage else None
    for number, spec in enumerate(scenario.brokers):
        machine = Machine(spec.id, spec.label, spec.rack, sim.profile, sim.configs, sim.auto)
        machine.dirs = spec.dirs
        machine.store = cluster.store
        machine.racks = sim.racks
        machine.topics = sim.topics
        broker = Process(machine)
        broker.status = UP
        broker.broker_epoch = number if sim.profile.mode == "kraft" else number + 1
        cluster.brokers[spec.id] = Broker(machine, broker)
        registration = Registration(broker.broker_epoch, 1, spec.rack, 0)
        registration.fenced = False
        k.brokers[spec.id] = registration
        sim.network.running.add(spec.id)
    k.next_broker_epoch = len(scenario.brokers) + 1
    for tp, replicas in enumerate(scenario.partitions):
        k.records[tp] = PartitionRecord(replicas, replicas, replicas[0])
    if scenario.initial is None:
        k.topics[TOPIC] = Topic()
        k.topics[TOPIC].tps += range(k.take_numbers(0))
        if scenario.groups:
            _add_offsets_topic(sim)
    else:
        initial_state.prepare(sim, scenario.initial)
    initial_state.fill_metadata_log(sim)
    if scenario.quorum:
        active_controller.build(sim, scenario.quorum)
    out = sim.out
    sim.tell_fetchers()
    for started in cluster.brokers.values():
        if started.process is not None:
            _start_informed(sim, started.process, out)
    add_clients(sim)
    if scenario.initial is not None:
        initial_state.finish(sim, scenario.initial)
    if sim.profile.mode == "kraft":
        kraft.arm_fence_check(k, out)
        active_controller.arm_periodic_checks(sim)
        if scenario.quorum:
            active_controller.start_voters(sim)
    else:
        zookeeper.arm_session_check(k, out)
        if sim.configs.auto_rebalance:
            out.timer(CONTROLLER, sim.configs.imbalance_check_ms, timers.PREFERRED_CHECK)
    if out.cues:
        out.cues.clear()
    out.sends.clear()
    for node in cluster.brokers:
        sim.checker.after(node, 0)
    sim.checker.after(CONTROLLER, 0)
    out.touched.clear()


def _add_offsets_topic(sim: Simulation) -> None:
    """G-1.  Add the partitions of __consumer_offsets, one a group; what lies there stays."""
    k, scenario = sim.cluster.controller, sim.scenario
    k.topics[OFFSETS_TOPIC] = Topic()
    configs = for_topic(sim.profile, sim.configs, {"retention.ms": -1, "retention.bytes": -1})
    for group in scenario.groups:
        tp = k.take_numbers(0)
        k.records[tp] = PartitionRecord(group.offsets, group.offsets, group.offsets[0])
        k.topics[OFFSETS_TOPIC].tps.append(tp)
        for broker in sim.brokers.values():
            broker.machine.topic_configs[tp] = configs


def _park_fetch(sim: Simulation, k: Controller, broker: Process) -> None:
    """5.4.  Let the fetch of a broker that has all metadata wait at the controller."""
    corr = broker.metadata_corr = broker.next_corr()
    k.readers[broker.id] = (broker.metadata_offset, corr)
    fetch = MetadataFetch(broker.id, CONTROLLER, corr, broker.metadata_offset)
    sim.network.open[broker.id, corr] = fetch


def _start_informed(sim: Simulation, broker: Process, out: Effects) -> None:
    """Start a broker with all metadata, which sends heartbeats and waits for news."""
    k = sim.cluster.controller
    broker.configure(sim.configs)
    for peer_id, registration in k.brokers.items():
        broker.peers[peer_id] = Peer(registration.epoch, registration.fenced)
    for tp, record in k.records.items():
        broker.metadata[tp] = (record.leader, record.leader_epoch)
        broker.image[tp] = record
        if sim.profile.isr_propagation:
            broker.known_isr[tp] = record.isr
        if broker.id in record.replicas:
            disks = broker.machine.disks
            disk = disks[tp] = disks.get(tp) or new_disk(broker.machine)
            if broker.machine.dirs > 1:
                k.directories[broker.id, tp] = disk.dir
            apply_record(broker, tp, record, out)
    if sim.profile.mode == "kraft":
        broker.metadata_offset = k.committed
        if sim.cluster.quorum is None:
            _park_fetch(sim, k, broker)
    else:
        broker.controller_epoch = k.epoch
    broker.heartbeat_due = sim.configs.heartbeat_ms
    out.timer(broker.id, sim.configs.heartbeat_ms, timers.HEARTBEAT)
    sim.set_periodic_tasks(broker, out)
