"""Moves of topics, brokers that leave and log directories, for the tables of test_moves.py."""

from __future__ import annotations

from typing import Any

PARSED: list[tuple[str, dict[str, Any]]] = [
    ("create_topic orders", {"topic": "orders", "lists": ()}),
    ("create_topic o.2 factor=2 placer=zk start=0 shift=1 partitions=4",
     {"topic": "o.2", "lists": (), "partitions": 4, "factor": 2, "placer": "zk", "start": 0,
      "shift": 1}),
    ("create_topic orders A,B 2,3", {"topic": "orders", "lists": ((1, 2), (2, 3))}),
    ("add_partitions t count=2 placer=textbook",
     {"topic": "t", "count": 2, "lists": (), "placer": "textbook"}),
    ("add_partitions t 1,2,3", {"topic": "t", "count": 1, "lists": ((1, 2, 3),)}),
    ("delete_topic t", {"topic": "t"}),
    ("decommission A", {"broker": 1}),
    ("unregister A", {"broker": 1}),
    ("disk_fail B d1", {"broker": 2, "dir": 1}),
    ("move_dir B d2 p=1", {"broker": 2, "dir": 2, "tp": 1}),
    ("copy B", {"broker": 2}),
]

REFUSED = [
    # moves before, the move, why not
    ("delete_topic t", "reassign A p=t-0",
     "Partition t-0 is deleted (UNKNOWN_TOPIC_OR_PARTITION)."),
    ("delete_topic t", "read", "Partition t-0 is deleted (UNKNOWN_TOPIC_OR_PARTITION)."),
    ("", "create_topic t", "Topic t exists already (TOPIC_ALREADY_EXISTS)."),
    ("", "create_topic orders partitions=0", "at least one partition (INVALID_PARTITIONS)."),
    ("", "create_topic orders factor=4",
     "There are not enough usable brokers for so many replicas (INVALID_REPLICATION_FACTOR)."),
    ("", "create_topic orders partitions=64",
     "A run has at most 64 partitions; there is room for 63 more."),
    ("", "create_topic orders A,B C", "cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("kill C; detect C", "create_topic orders C",
     "These brokers cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("", "add_partitions orders count=1",
     "There is no topic orders (UNKNOWN_TOPIC_OR_PARTITION); there is t."),
    ("", "add_partitions t A,B", "cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("kill K", "delete_topic t", "There is no active controller."),
    ("", "decommission A", "No other live broker can take over t-0."),
    ("", "unregister A", "Broker A is running; shut it down first."),
    ("reassign B C; settle; shutdown A; unregister A", "unregister A",
     "Broker A is not registered (BROKER_ID_NOT_REGISTERED)."),
    ("", "wipe A d2", "Broker A has no log directory d2; there is d1."),
    ("", "disk_fail A d2", "Broker A has no log directory d2; there is d1."),
    ("disk_fail A d1", "disk_fail A d1", "Log directory d1 of broker A has failed already."),
    ("", "move_dir A d2", "has no log directory d2; there is d1 (LOG_DIR_NOT_FOUND)."),
    ("", "move_dir A d1", "The log lies in d1 already."),
    ("", "copy A", "No log of broker A is on its way to another directory."),
    ("disk_fail A d1", "restart A",
     "Log directory d1 has failed; replace its disk first, with “wipe A d1”."),
]  # fmt: skip
