"""Wire error codes under Kafka's names, and the one exception a user's input may cause.

Sources: data-plane 0.7 and control-plane 0.3.  The numbers are Kafka's wire codes.
"""

from __future__ import annotations

from typing import Any, Final

from engine.model.phrases import phrase

UNKNOWN_SERVER_ERROR: Final = -1
NONE: Final = 0
OFFSET_OUT_OF_RANGE: Final = 1
CORRUPT_MESSAGE: Final = 2
UNKNOWN_TOPIC_OR_PARTITION: Final = 3
LEADER_NOT_AVAILABLE: Final = 5
NOT_LEADER_OR_FOLLOWER: Final = 6
REQUEST_TIMED_OUT: Final = 7
REPLICA_NOT_AVAILABLE: Final = 9
MESSAGE_TOO_LARGE: Final = 10
NETWORK_EXCEPTION: Final = 13  # made up by clients when a connection drops; never on the wire
COORDINATOR_NOT_AVAILABLE: Final = 15
NOT_COORDINATOR: Final = 16
INVALID_TOPIC_EXCEPTION: Final = 17
RECORD_LIST_TOO_LARGE: Final = 18
NOT_ENOUGH_REPLICAS: Final = 19
NOT_ENOUGH_REPLICAS_AFTER_APPEND: Final = 20
INVALID_REQUIRED_ACKS: Final = 21
ILLEGAL_GENERATION: Final = 22
UNKNOWN_MEMBER_ID: Final = 25
REBALANCE_IN_PROGRESS: Final = 27
TOPIC_AUTHORIZATION_FAILED: Final = 29
STALE_CONTROLLER_EPOCH: Final = 11
TOPIC_ALREADY_EXISTS: Final = 36
INVALID_PARTITIONS: Final = 37
INVALID_REPLICATION_FACTOR: Final = 38
INVALID_REPLICA_ASSIGNMENT: Final = 39
NOT_CONTROLLER: Final = 41
INVALID_REQUEST: Final = 42
POLICY_VIOLATION: Final = 44
OUT_OF_ORDER_SEQUENCE_NUMBER: Final = 45
DUPLICATE_SEQUENCE_NUMBER: Final = 46
INVALID_PRODUCER_EPOCH: Final = 47
OPERATION_NOT_ATTEMPTED: Final = 55
KAFKA_STORAGE_ERROR: Final = 56
LOG_DIR_NOT_FOUND: Final = 57
UNKNOWN_PRODUCER_ID: Final = 59
REASSIGNMENT_IN_PROGRESS: Final = 60
FETCH_SESSION_ID_NOT_FOUND: Final = 70
INVALID_FETCH_SESSION_EPOCH: Final = 71
FENCED_LEADER_EPOCH: Final = 74
UNKNOWN_LEADER_EPOCH: Final = 75
STALE_BROKER_EPOCH: Final = 77
OFFSET_NOT_AVAILABLE: Final = 78
PREFERRED_LEADER_NOT_AVAILABLE: Final = 80
FENCED_INSTANCE_ID: Final = 82
ELIGIBLE_LEADERS_NOT_AVAILABLE: Final = 83
ELECTION_NOT_NEEDED: Final = 84
NO_REASSIGNMENT_IN_PROGRESS: Final = 85
INVALID_RECORD: Final = 87
INVALID_UPDATE_VERSION: Final = 95
UNKNOWN_TOPIC_ID: Final = 100
DUPLICATE_BROKER_REGISTRATION: Final = 101
BROKER_ID_NOT_REGISTERED: Final = 102
INCONSISTENT_TOPIC_ID: Final = 103
INCONSISTENT_CLUSTER_ID: Final = 104
FETCH_SESSION_TOPIC_ID_ERROR: Final = 106
INELIGIBLE_REPLICA: Final = 107
NEW_LEADER_ELECTED: Final = 108
OFFSET_MOVED_TO_TIERED_STORAGE: Final = 109
FENCED_MEMBER_EPOCH: Final = 110
STALE_MEMBER_EPOCH: Final = 113
INVALID_VOTER_KEY: Final = 125

_NAMES: Final[dict[int, str]] = {
    value: name
    for name, value in sorted(globals().items())
    if name.isupper() and not name.startswith("_") and isinstance(value, int)
}
_FORMER: Final[dict[str, tuple[tuple[int, ...], str]]] = {
    "NOT_LEADER_OR_FOLLOWER": ((2, 6), "NOT_LEADER_FOR_PARTITION"),
    "COORDINATOR_NOT_AVAILABLE": ((0, 11), "GROUP_COORDINATOR_NOT_AVAILABLE"),
    "NOT_COORDINATOR": ((0, 11), "NOT_COORDINATOR_FOR_GROUP"),
}
"""Name -> the release that introduced it, and the one before."""
_CODES: Final[dict[str, int]] = {name: code for code, name in _NAMES.items()}


def name_of(code: int) -> str:
    """Return Kafka's name of a wire code; an unknown number is shown as itself."""
    return _NAMES.get(code, f"ERROR_{code}")


def name_in(release: tuple[int, ...], name: str) -> str:
    """Return what a release calls an error of this name."""
    since, former = _FORMER.get(name, ((), name))
    return former if release < since else name


def code_of(name: str) -> int:
    """Return the wire code of one of Kafka's names.  Raises KeyError for a name that is none."""
    return _CODES[name]


def all_names() -> list[str]:
    """Return every name, in the order of the codes."""
    return [_NAMES[code] for code in sorted(_NAMES)]


class InputError(Exception):
    """Input that cannot be used; the sentence says what is wrong and what would do.

    The sentence is given as a phrase: a template "There is no broker {0}." and its values.

    code: "invalid" (malformed), "impossible" (well formed, but not in this state),
    "too_large" (beyond a bound), "unknown" (names something that does not exist).
    where: "file:line:column", or "" when there is no text to point into.
    """

    def __init__(self, code: str, sentence: str, *values: object, where: str = "") -> None:
        sentence = phrase(sentence, *values)
        try:
            sentence.encode()
        except UnicodeEncodeError:  # it quotes half a character
            sentence = sentence.encode("utf-8", "replace").decode("utf-8")
        super().__init__(code, sentence, where)
        self.code = code
        self.sentence = sentence
        self.where = where

    def __reduce__(self) -> tuple[Any, ...]:
        return (_input_error, (self.code, self.sentence, self.where))

    def __str__(self) -> str:
        return self.sentence


def _input_error(code: str, sentence: str, where: str) -> InputError:
    return InputError(code, sentence, where=where)
