"""Claims of captions, compared with the view of their step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.model.profiles import Profile
from engine.scenarios.scenario import Scenario

LEADS_IN = r"(?:Now |Until \d[\d.]* |Under KRaft |After [\w ]+, |For a moment )?"
QUALITIES = (
    r"dead|empty|two|three|six|all|both|neither|each|every|no|one|only|a|an|the|first|second|"
    r"silent|old|new|high|another|five"
)
ACTORS = (
    r"ELR|ISR|administrator|answer|broker|candidate|check|client|consumer|controller|coordinator|"
    r"copy|crash|disk|election|epoch|fetch|follower|group|leader|leadership|log|maintenance|"
    r"majority|member|network|nothing|operator|partition|power|process|producer|proposal|quorum|"
    r"rack|reader|reassignment|record|replica|request|segment|session|setting|voter|write|"
    r"watermark|remote storage|all three"
)
SUBJECT = re.compile(
    rf"^{LEADS_IN}(?:(?:(?:{QUALITIES}) )*(?:{ACTORS})s?\b"
    r"|[A-D]\b|[PC]\d\b|[a-z]\d?(?:,| and|\b)(?! ?\.))",
    re.IGNORECASE,
)
VERBS = (
    r"accepts|acknowledges|agrees?|appends?|are|asks?|became|becomes|begins|boots|came|can|"
    r"carries|catches|closes|comes|commits?|compares|confirms|connects|continues|copies|copy|"
    r"cost|could|counts|cuts|decides|deletes|did|dies?|died|do|does|drops|ends?|expects|explains|"
    r"fails?|elects|fences|fetch|fetches|finds|follows?|forces|forgets|freezes|gave|gets|gives|"
    r"goes|grows|had|halts|hands|hangs?|has|have|hears?|held|holds?|is|joins?|keeps?|kept|knows?|"
    r"kills|leads?|learns?|leaves?|led|left|loses?|lost|makes|may|might|moves?|moved|must|names|needs?|"
    r"notices|numbers|opens|owns?|passes|promises|proposes|reach|reaches|reads?|refused|refuses|"
    r"registers|removes|reports|restarts|retries|returns?|saw|says?|sends|serves|shall|shrinks|"
    r"skips|stands?|starts?|stays?|stopped|stores|takes?|tells|told|took|truncates?|truncated|"
    r"trusts|votes?|waits?|wakes|wants?|was|went|were|will|works?|would|writes?"
)
VERB = re.compile(rf"\b(?:{VERBS})\b")
PAST = re.compile(r"\b(ELR|KIP-\d+|(?:[Ss]ince|[Uu]ntil|[Bb]efore|[Ff]rom) \d+\.\d|this release)")
NAMES = r"[A-Za-z]\d?(?:, [A-Za-z]\d?)*(?: and [A-Za-z]\d?)?"
BROKER = r"[Bb]roker (\w+)"


def has_subject_and_verb(text: str) -> bool:
    first = re.split(r"[.?!](?= |$)", text)[0]
    return bool(SUBJECT.match(first) and VERB.search(first))


def is_whole(text: str) -> bool:
    """Check that a caption is not one half of a sentence."""
    return not (text.startswith(("...", "…")) or text.endswith(("...", "…", ",")))


def names_a_release(text: str) -> bool:
    return bool(PAST.search(text))


def unknown_words(text: str, profile: Profile) -> list[str]:
    """Words of things that this release does not have."""
    found = []
    if re.search(r"\bELR\b", text) and not profile.elr and "From 4.1" not in text:
        found.append("ELR")
    if "KIP-279" in text and profile.release < (2, 0):
        found.append("KIP-279")
    if re.search(r"\bfences?\b|\bfenced\b", text) and not profile.kraft:
        found.append("fenced")
    if "ZooKeeper" in text and profile.kraft:
        found.append("ZooKeeper")
    return found


def contradictions(
    text: str, view: dict[str, Any], scenario: Scenario, acked: set[str], verdict: dict[str, Any]
) -> Iterator[str]:
    """Claims of a caption that the stage of its step denies."""
    stage = _Stage(view, scenario)
    for name in re.findall(rf"{BROKER}(?: \w+)? leads?\b(?! everywhere)", text):
        if "believes that it leads" not in text and not stage.leads(name):
            yield f"broker {name} does not lead"
    for name in re.findall(rf"{BROKER}[^.:;]* and leads\b", text):
        if not stage.leads(name):
            yield f"broker {name} does not lead"
    for name in re.findall(rf"^{BROKER},? (?:is killed|dies)\b", text):
        if stage.up(name):
            yield f"broker {name} is up"
    for name in re.findall(rf"{BROKER} (?:is back|starts again|restarts|wakes up)\b", text):
        if not stage.up(name):
            yield f"broker {name} is down"
    if re.search(r"partition has no leader", text) and not stage.offline():
        yield "the partition has a leader"
    for told in re.findall(
        r"the ISR is (?:broker )?(\[[\d,]+\]|[A-D]\b|\d(?:, \d)*(?: and \d)?)", text
    ):
        if not stage.has_isr(set(re.findall(r"\w+", told.replace(" and ", ",")))):
            yield f"the ISR is not {told}"
    for name in re.findall(rf"{BROKER} is alone in the ISR", text):
        if not stage.has_isr({name}):
            yield f"broker {name} is not alone in the ISR"
    for name in re.findall(rf"{BROKER}[^.:;]* (?:in the ISR again|back in the ISR)", text):
        if not stage.in_isr(name):
            yield f"broker {name} is not in the ISR"
    said = rf"{BROKER} (?:commits and )?(?:acknowledges|confirms|had acknowledged|had confirmed)"
    said += rf" ({NAMES})\b"
    for _, names in re.findall(said, text):
        for record in stage.records(names):
            if record not in acked:
                yield f"{record} is not acknowledged"
    for name, names in re.findall(rf"{BROKER}[^.:]* truncates ({NAMES})\b", text):
        for record in stage.records(names):
            if stage.has(name, record) and not text.endswith("takes its place."):
                yield f"broker {name} still has {record}"
    for names in re.findall(rf"({NAMES}),? and no log has (?:it|them)", text):
        for record in stage.records(names):
            if any(stage.has(name, record) for name in stage.labels):
                yield f"{record} is in a log"
    if re.search(r"No record (?:is|was) lost|Nothing is lost", text) and verdict["kind"] in (
        "lost",
        "gone",
    ):
        yield "a record is lost"
    for name, names in re.findall(rf"[Bb]roker (\w+)[^.:]* with ({NAMES})\b", text):
        for record in stage.records(names):
            if stage.up(name) and not stage.has(name, record):
                yield f"broker {name} lacks {record}"
    for name, names in re.findall(rf"[Bb]roker (\w+)[^.:,]* without ({NAMES})\b", text):
        for record in stage.records(names):
            if stage.has(name, record):
                yield f"broker {name} has {record}"


class _Stage:
    """What a view shows, asked by the names that captions use."""

    def __init__(self, view: dict[str, Any], scenario: Scenario) -> None:
        self.view = view
        self.ids = {broker.label: broker.id for broker in scenario.brokers}
        self.labels = list(self.ids)

    def leads(self, name: str) -> bool:
        number = self.ids[name]
        return any(
            part["record"]["leader"] == number
            or part["replicas"].get(str(number), {}).get("role") == "leader"
            for part in self.view["partitions"]
        )

    def up(self, name: str) -> bool:
        number = self.ids[name]
        return any(
            b["id"] == number and b["alive"] in ("up", "starting") for b in self.view["brokers"]
        )

    def offline(self) -> bool:
        return any(part["record"]["leader"] == -1 for part in self.view["partitions"])

    def has_isr(self, names: set[str]) -> bool:
        wanted = {self.ids[name] for name in names if name in self.ids}
        return any(set(part["record"]["isr"]) == wanted for part in self.view["partitions"])

    def in_isr(self, name: str) -> bool:
        number = self.ids[name]
        return any(number in part["record"]["isr"] for part in self.view["partitions"])

    def records(self, names: str) -> list[str]:
        found = re.findall(r"[A-Za-z]\d?", names.replace(" and ", ","))
        known = {
            record["id"]
            for part in self.view["partitions"]
            for replica in part["replicas"].values()
            for record in replica["records"]
        }
        return [name for name in found if name in known or len(name) == 2]

    def has(self, name: str, record: str) -> bool:
        number = str(self.ids[name])
        return any(
            one["id"] == record
            for part in self.view["partitions"]
            if number in part["replicas"]
            for one in part["replicas"][number]["records"]
        )
