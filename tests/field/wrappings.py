"""Ways in which loggers, containers, collectors, mail and terminals wrap a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, NamedTuple


class Logged(NamedTuple):
    """A line as a logger has it.  `time` is written as 2026-03-04 05:06:07,089."""

    time: str
    level: str
    logger: str
    message: str


Layout = Callable[[Logged], str]


def apache(one: Logged) -> str:
    """The layout that comes with Kafka."""
    return f"[{one.time}] {one.level} {one.message} ({one.logger})"


def _iso(one: Logged) -> str:
    return one.time.replace(" ", "T").replace(",", ".")


def _collected(one: Logged) -> str:
    fields = {"stream": "stdout", "log": apache(one) + "\n", "kubernetes": {"pod_name": "kafka-x"}}
    return json.dumps(fields | {"time": 1_772_600_767.5})


LAYOUTS: Final[dict[str, Layout]] = {
    "apache": apache,
    "strimzi": lambda one: f"{one.time} {one.level} {one.message} ({one.logger}) [executor-x]",
    "cloudera": lambda one: f"{one.time} {one.level} {one.logger}: {one.message}",
    "logback": lambda one: f"{_iso(one)} [main] {one.level:5} {one.logger} - {one.message}",
    "level first": lambda one: f"{one.level} [{one.time}] {one.message} ({one.logger})",
    "time last": lambda one: f"{one.level} {one.message} ({one.logger}) {one.time}",
    "compose": lambda one: "kafka_x  | " + apache(one),
    "kubectl": lambda one: f"[pod/kafka-x/kafka] {_iso(one)}5Z " + apache(one),
    "cri": lambda one: f"{_iso(one)}123456Z stderr F " + apache(one),
    "journald": lambda one: "Mar 04 05:00:00 host kafka[812]: " + apache(one),
    "grep": lambda one: "/var/log/kafka/server.log:4711:" + apache(one),
    "colours": lambda one: (
        f"\x1b[36mkafka\x1b[0m [{one.time}] \x1b[32m{one.level}\x1b[0m {one.message} ({one.logger})"
    ),
    "docker": lambda one: json.dumps({"log": apache(one) + "\n", "time": "2026-03-04T05:00:00Z"}),
    "ecs": lambda one: json.dumps(
        {"@timestamp": _iso(one) + "Z", "message": one.message, "log.logger": one.logger}
    ),
    "collector": _collected,
    "csv": lambda one: f'"{one.time}","kafka","{one.message}","{one.logger}"',
}
"""None of them names a broker by a number."""

AROUND: Final[dict[str, Callable[[str], str]]] = {
    "nothing": lambda text: text,
    "mail": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "fence": lambda text: f"```\n{text}```\n",
    "compose": lambda text: "".join(f"kafka-1  | {line}\n" for line in text.splitlines()),
    "pdsh": lambda text: "".join(f"host7: {line}\n" for line in text.splitlines()),
    "grep": lambda text: "".join(f"{n}:{one}\n" for n, one in enumerate(text.splitlines(), 9)),
    "numbers": lambda text: "".join(
        f"{n:6}\t{one}\n" for n, one in enumerate(text.splitlines(), 1)
    ),
    "bullets": lambda text: "".join(f"- {one.strip()}\n" for one in text.splitlines()),
    "diff": lambda text: "".join(f"+{one}\n" for one in text.splitlines()),
    "windows": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "colours": lambda text: text.replace("Topic:", "\x1b[01;31mTopic:\x1b[m"),
    "blanks": lambda text: text.replace("\t", "    "),
    "prompt": lambda text: f"kafka@host:~$ kafka-topics.sh --describe\n{text}kafka@host:~$ \n",
}
"""Wrappings of a whole paste."""
