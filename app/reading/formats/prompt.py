"""Prompts, commands and headers: the broker of the file that follows, and brokers that are down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import PasteError
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.formats.checkpoint import FILES
from app.reading.names import BROKER, PARTITION_FORM, TOPIC, TOPIC_FORM
from engine.model.errors import InputError
from engine.model.profiles import get_profile

LONGEST: Final = 2_000
"""Characters of a line that may be a prompt with a command."""
_PROMPTS: Final = re.compile(
    # user@host:~$, [user@host dir]$, (base) user@host dir %
    r"(?:\([\w.-]+\)\s*)?\[?[\w.-]+@[\w.!-]+[ :][^$#>%]*[$#>%](?:\s+|$)"
    r"|I have no name![^$#]*[$#](?:\s+|$)"
    r"|(?:bash|sh|zsh)-?[\d.]*[$#](?:\s+|$)"
    r"|[$%❯➜›](?:\s+|$)"
    r"|(?:[~/][\w./-]*|[\w-]+:[~/][\w./-]*)\s*[$#](?:\s+|$)"
    r"|PS [A-Z]:\\[^>]*>\s*|[A-Z]:\\[^>]*>\s*"
    r"|\[zk: [^\]]*\]\s*\d*\s*"
    r"|(?:admin|kafka|root)>\s+"
)
_COMMANDS: Final = re.compile(
    r"(?:sudo\s+|\./|\S*/)?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|zookeeper-shell(?:\.sh)?|kafkacat|kcat"
    r"|rpk"
    r"|kubectl|docker|podman|oc|ssh|cat|tail|head|curl|watch|confluent)\s+-{0,2}\S.*"
)
_ZK_COMMAND: Final = re.compile(
    r"(?:get|ls|ls2|stat)\s+(?:-\w\s+)?/(?:brokers|controller|config)\S*"
)
_HEADER: Final = re.compile(r"#|==>|//|>>>")
_BROKER: Final = re.compile(r"\bbroker[ _-]?(\d{1,6})\b", re.IGNORECASE)
_STATE: Final = re.compile(r"\bis (offline|running)\b", re.IGNORECASE)
_DIRECTORY: Final = re.compile(rf"(?:^|[\s/:])({PARTITION_FORM})(?=[/\]:\s#$%>]|$)")
_SETTING: Final = re.compile(
    r"#\s*(min\.insync\.replicas|unclean\.leader\.election\.enable)\s*=\s*(\w+)\s*"
)
_NAMED_TOPIC: Final = re.compile(
    rf"#\s*topic ({TOPIC_FORM})\s*|(?:--topic[= ]|topic describe |/topics/)({TOPIC_FORM})"
)
_COUNTS: Final = re.compile(r"#\s*the (first|last) description counts")
_KAFKA: Final = re.compile(r"#\s*kafka ([\w.+-]{1,40})\s*", re.IGNORECASE)
_ZNODE: Final = re.compile(r"(?:get|ls)\s+(?:-s\s+)?(/\S+)")


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text = lines[at].text
    if setting := _SETTING.fullmatch(text):
        context.facts.set("", setting[1], setting[2])
    elif counts := _COUNTS.fullmatch(text):
        context.facts.first_counts = counts[1] == "first"
    elif kafka := _KAFKA.fullmatch(text):
        context.facts.profile = _profile(kafka[1])
    elif _HEADER.match(text):
        _header(text, context)
    elif len(text) > LONGEST:
        return 0
    elif (prompt := _PROMPTS.match(text)) is not None:
        _prompt(prompt[0], text[prompt.end() :], context)
    elif _COMMANDS.fullmatch(text) or _ZK_COMMAND.fullmatch(text):
        _prompt("", text, context)
    else:
        return 0
    return 1


def _profile(name: str) -> str:
    """Return the profile of a release or a code.  Raises PasteError."""
    try:
        return get_profile(name).name
    except InputError as bad:
        raise PasteError("kafka", text=name) from bad


def _header(text: str, context: PasteContext) -> None:
    """Read `# broker 3 is offline`, `# broker 2 orders-0 leader-epoch-checkpoint`, `==> f <==`."""
    broker, state = _BROKER.search(text), _STATE.search(text)
    if state and broker:
        offline = state[1].lower() == "offline"
        more, less = context.facts.offline, context.facts.running
        if not offline:
            more, less = less, more
        more.add(int(broker[1]))
        less.discard(int(broker[1]))
        return
    if topic := _NAMED_TOPIC.match(text):
        context.topic = topic[1] or topic[2]
        return
    kind = _kind(text)
    if broker or kind:
        _next_file(text, kind, int(broker[1]) if broker else context.broker, context)


def _prompt(front: str, command: str, context: PasteContext) -> None:
    """Read the host and perhaps the folder of a prompt; the number of a host is a guess."""
    znode = _ZNODE.search(command)
    context.znode = znode[1] if znode else ""
    topic = _NAMED_TOPIC.search(command)
    if topic and TOPIC.fullmatch(topic[1] or topic[2]):
        context.topic = topic[1] or topic[2]
    kind = _kind(command)
    if not kind:
        return
    path = next((word for word in command.split() if kind in word), kind)
    broker = _BROKER.search(path)
    guess = BROKER.search(path) or BROKER.search(front) or BROKER.search(command)
    context.guess = int(guess[1]) if guess else -1
    own = path if "/" in path else front
    _next_file(own + " " + kind, kind, int(broker[1]) if broker else -1, context)


def _kind(text: str) -> str:
    return next((one for one in FILES if one in text), "")


def _next_file(text: str, kind: str, broker: int, context: PasteContext) -> None:
    context.file, context.broker = kind, broker
    named = _DIRECTORY.findall(text.replace(kind, "") if kind else text)
    named = [one for one in named if not _BROKER.fullmatch(one) and "@" not in one]
    context.partition = named[-1] if named else ""


FORMAT: Final = TextFormat("offline", "remark", ("# broker 3 is offline",), _read)
