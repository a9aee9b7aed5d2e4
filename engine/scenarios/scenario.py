"""A scenario: what is set up and played, as one frozen value with a canonical text.

`from_dict` takes what a YAML file or a form says and checks all of it; `to_dict` writes everything
out, defaults included, and reads back to an equal value.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.model import configs as configuration
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile, quorum_refusal
from engine.scenarios import expectations, parts, varying
from engine.scenarios.delays import delay_data
from engine.scenarios.fault_lines import (
    FAULT_KINDS,
    MOST_RUN_MS,
    Fault,
    own_fields,
    read_faults,
)
from engine.scenarios.group_specs import GroupSpec, read_groups
from engine.scenarios.initial import Initial, read_initial
from engine.scenarios.parts import BrokerSpec, NetworkSpec, Workload
from engine.scenarios.places import Path, Places, Reader
from engine.scenarios.script import ScriptLine, read_script, script_lines

TAGS: Final = (
    "basics",
    "elections",
    "truncation",
    "durability",
    "network",
    "operations",
    "history",
    "scale",
)
KEYS: Final = (
    "slug",
    "code",
    "title",
    "origin",
    "difficulty",
    "teaches",
    "tags",
    "profiles",
    "brokers",
    "partitions",
    "quorum",
    "groups",
    "configs",
    "network",
    "fetching",
    "workload",
    "faults",
    "duration_ms",
    "script",
    "expect",
    "initial",
)
DEFAULT_PROFILE: Final = "K39"
MOST_PROFILES: Final = 40

Settings = dict[str, configuration.Value]

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9]{0,7}")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario; the module describes it.

    Times are ms, broker ids are ints.  `configs` and `expect` are dicts for reading; like
    everything here they are never changed.
    """

    title: str
    slug: str = ""
    code: str = ""
    origin: str = ""
    difficulty: int = 1
    teaches: str = ""
    tags: tuple[str, ...] = ()
    profiles: tuple[str, ...] = (DEFAULT_PROFILE,)
    brokers: tuple[BrokerSpec, ...] = (BrokerSpec(1), BrokerSpec(2), BrokerSpec(3))
    partitions: tuple[tuple[int, ...], ...] = ((1, 2, 3),)
    quorum: tuple[str, ...] = ()
    groups: tuple[GroupSpec, ...] = ()
    configs: Settings = field(default_factory=dict)
    network: NetworkSpec = field(default_factory=NetworkSpec)
    fetching: str = "manual"
    workload: Workload = field(default_factory=Workload)
    faults: tuple[Fault, ...] = ()
    duration_ms: int = 60_000
    script: str = ""
    expect: dict[str, dict[str, Any]] = field(default_factory=dict)
    initial: Initial | None = None

    @staticmethod
    def from_dict(data: object, where: Places | None = None) -> Scenario:
        """Return a checked scenario.  Raises InputError: one sentence, and where it is wrong."""
        return _from_dict(Reader(where), data)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, everything written out; `from_dict` reads it back."""
        return {
            "slug": self.slug,
            "code": self.code,
            "title": self.title,
            "origin": self.origin,
            "difficulty": self.difficulty,
            "teaches": self.teaches,
            "tags": list(self.tags),
            "profiles": list(self.profiles),
            "brokers": [_broker_dict(b) for b in self.brokers],
            "partitions": [list(replicas) for replicas in self.partitions],
            "configs": dict(sorted(self.configs.items())),
            "network": {
                "delay_ms": delay_data(self.network.delay_ms),
                "loss": self.network.loss,
                "control_delay_ms": delay_data(self.network.control_delay_ms),
            },
            "fetching": self.fetching,
            "workload": {
                "producers": [_producer_dict(producer) for producer in self.workload.producers],
                "consumers": _consumers_dict(self.workload.consumers),
            },
            "faults": [_fault_dict(fault) for fault in self.faults],
            "duration_ms": self.duration_ms,
            "script": self.script,
            "expect": copy.deepcopy(self.expect),
            # Only where there is one: the texts of all others, and so their names, stay.
            **({} if self.initial is None else {"initial": self.initial.to_dict()}),
            **({"quorum": list(self.quorum)} if self.quorum else {}),
            **({"groups": [group.to_dict() for group in self.groups]} if self.groups else {}),
        }

    def canonical(self) -> str:
        """Return one text for one scenario: JSON with sorted keys.

        The order of `expect` is that of `profiles`, so nothing is lost.
        """
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @property
    def digest(self) -> str:
        """16 hex digits that name this scenario for ever."""
        return hashlib.sha256(self.canonical().encode("utf-8")).hexdigest()[:16]

    def vary(self, key: str, value: object) -> Scenario:
        """Return a copy with one thing changed; `varying` lists the keys.

        The expectation is dropped: it was promised for the original.  Raises InputError.
        """
        return Scenario.from_dict(varying.varied(self.to_dict(), key, value))

    def lines(self, profile: str) -> tuple[ScriptLine, ...]:
        """Return the script as this profile plays it, with its comments, without prefixes.

        A flipped profile that is listed here is one of its own; any other plays the lines of its
        row, so that a what-if of a visitor is led by the script that was written for K39.  So does
        a release between two codes, with the lines of the later one.
        """
        if profile in self.profiles:
            return script_lines(self.script, profile)
        release = get_profile(profile)
        own = release.base if release.base in self.profiles else release.generation
        return script_lines(self.script, own, profile)

    def cannot_begin(self, profile: str) -> str:
        """Return why no cluster of this profile starts with the settings; "" if one does.

        The profiles that a scenario lists can all begin it.  Another may have defaults that
        contradict its settings, and is then left out where every profile is played.
        """
        release = get_profile(profile)
        if self.quorum and (why := quorum_refusal(release)):
            return why
        for group in self.groups:
            if why := group.refusal(release):
                return why
        try:
            configuration.build(release, self.configs)
        except InputError as bad:
            return bad.sentence
        return ""

    def expectation(self, profile: str) -> dict[str, Any] | None:
        """Return the promise for a profile: {"verdict", "final"?, "logs"?, "counts"?}."""
        return self.expect.get(profile)

    def broker_name(self, number: int) -> str:
        """Return the display name of a broker: its name, else its id."""
        return next((b.label for b in self.brokers if b.id == number), str(number))

    def __hash__(self) -> int:
        return hash(self.canonical())

    def named(self, slug: str) -> Scenario:
        """Return a copy under another slug."""
        return replace(self, slug=slug)


def _consumers_dict(consumers: tuple[parts.ConsumerSpec, ...]) -> int | list[dict[str, Any]]:
    """Return the number of consumers, where none of them is out of the ordinary."""
    if all(one == parts.ConsumerSpec() for one in consumers):
        return len(consumers)
    return [{"epochs": one.epochs, "reset": one.reset, "rack": one.rack} for one in consumers]


def _broker_dict(broker: BrokerSpec) -> dict[str, Any]:
    """Return a broker as data; one directory is the default and left out, so old texts stay."""
    written = {"id": broker.id, "name": broker.name, "rack": broker.rack}
    return {**written, "dirs": broker.dirs} if broker.dirs > 1 else written


def _producer_dict(producer: parts.ProducerSpec) -> dict[str, Any]:
    """Return a producer as data without later versions' defaults, so that older digests stay."""
    written = {name: getattr(producer, name) for name in parts.PRODUCER_FIELDS}
    for name, default in (("batch", 1), ("steady", False), ("calm_rate_per_s", 0), ("wave_ms", 0)):
        if written[name] == default:
            del written[name]
    return written


def _fault_dict(fault: Fault) -> dict[str, Any]:
    written: dict[str, Any] = {"kind": fault.kind}
    if fault.racks:
        written |= {"together": fault.together, "racks": list(fault.racks)}
    elif not FAULT_KINDS[fault.kind].whole:
        written |= {"together": fault.together, "brokers": list(fault.brokers)}
    if fault.at_ms >= 0:
        written["at_ms"] = fault.at_ms
    else:
        written["mtbf_ms"] = fault.mtbf_ms
    written["mttr_ms"] = fault.mttr_ms
    written |= own_fields(fault)
    if fault.moves:
        written["moves"] = list(fault.moves)
    if fault.importance != 1.0:
        written["importance"] = fault.importance
    return written


def _refuse_with_tier(
    read: Reader, groups: tuple[GroupSpec, ...], brokers: tuple[BrokerSpec, ...]
) -> None:
    """Raise InputError for what is not played together with tiered storage."""
    where = ("configs", configuration.REMOTE)
    if groups:
        raise read.bad(where, "Tiered storage is played without groups; remove one of the two.")
    if any(broker.dirs > 1 for broker in brokers):
        raise read.bad(where, "With tiered storage each broker has one log directory.")


def _from_dict(read: Reader, data: object) -> Scenario:
    fields = read.mapping(data, (), KEYS)
    if "title" not in fields:
        raise read.bad((), "A scenario needs a title.")
    brokers = parts.read_brokers(read, fields.get("brokers", 3))
    every = [broker.id for broker in brokers]
    partitions = parts.read_partitions(read, fields.get("partitions", [every]), brokers)
    workload = parts.read_workload(read, fields.get("workload", {}), len(partitions))
    duration = read.integer(
        fields.get("duration_ms", 60_000), ("duration_ms",), 1, MOST_RUN_MS, "ms"
    )
    records = sum(producer.rate_per_s for producer in workload.producers) * duration / 1_000
    if records > parts.MOST_RECORDS:
        raise read.bad(
            ("workload",),
            "This workload writes {0} records; at most {1} fit a run.",
            format(records, ".0f"),
            parts.MOST_RECORDS,
            code="too_large",
        )
    profiles, expect = _profiles(read, fields, brokers)
    settings = _configs(read, fields.get("configs", {}), profiles)
    groups = read_groups(read, fields.get("groups", []), brokers, profiles)
    if groups and fields.get("initial") is not None:
        raise read.bad(
            ("groups",), "Groups begin with empty logs: remove either groups or initial."
        )
    if settings.get(configuration.REMOTE):
        _refuse_with_tier(read, groups, brokers)
    script = read_script(read, fields.get("script", ""), brokers)
    return Scenario(
        title=_sentence(read, fields, "title", 200, required=True),
        slug=_word(read, fields, "slug", _SLUG, "small letters, digits and dashes"),
        code=_word(read, fields, "code", _CODE, "a letter and digits, like S20"),
        origin=_sentence(read, fields, "origin", 200),
        difficulty=read.integer(fields.get("difficulty", 1), ("difficulty",), 1, 3),
        teaches=_sentence(read, fields, "teaches", 600),
        tags=_tags(read, fields.get("tags", [])),
        profiles=profiles,
        brokers=brokers,
        partitions=partitions,
        quorum=parts.read_quorum(read, fields.get("quorum", []), profiles),
        groups=groups,
        configs=settings,
        network=parts.read_network(read, fields.get("network", {})),
        fetching=read.choice(fields.get("fetching", "manual"), ("fetching",), ("manual", "auto")),
        workload=workload,
        faults=read_faults(read, fields.get("faults", []), brokers),
        duration_ms=duration,
        script=script,
        expect=expect,
        initial=read_initial(read, fields.get("initial"), brokers, partitions),
    )


def _sentence(
    read: Reader, fields: dict[str, object], key: str, most: int, required: bool = False
) -> str:
    text = " ".join(read.text(fields.get(key, ""), (key,), most).split())
    if required and not text:
        raise read.bad((key,), "The {0} is empty.", key)
    return text


def _word(
    read: Reader, fields: dict[str, object], key: str, form: re.Pattern[str], words: str
) -> str:
    text = read.text(fields.get(key, ""), (key,), 80)
    if text and not form.fullmatch(text):
        raise read.bad((key,), "The {0} is written with {1}.", key, words)
    return text


def _tags(read: Reader, value: object) -> tuple[str, ...]:
    listed = read.listing(value, ("tags",), len(TAGS))
    found = [read.choice(one, ("tags", index), TAGS) for index, one in enumerate(listed)]
    return tuple(dict.fromkeys(found))


def _profile(read: Reader, value: object, path: Path, key: bool = False) -> str:
    name = read.text(value, path, 400)
    try:
        return get_profile(name).name
    except InputError as bad:
        raise InputError(bad.code, bad.sentence, where=read.places.of(path, key)) from None


def _refuse_twins(read: Reader, listed: Sequence[object], names: list[str]) -> None:
    """Raise InputError where two entries mean the same profile."""
    for index, name in enumerate(names):
        first = names.index(name)
        if first == index:
            continue
        earlier, other = str(listed[first])[:40], str(listed[index])[:40]
        if earlier == other:
            raise read.bad(("profiles",), "A profile is listed twice.")
        raise read.bad(("profiles",), "{0} and {1} are one behaviour here.", earlier, other)


def _profiles(
    read: Reader, fields: dict[str, object], brokers: tuple[BrokerSpec, ...]
) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """Return the profiles in order, and for each its expectation."""
    promised: dict[str, dict[str, Any]] = {}
    written = read.mapping(fields.get("expect", {}), ("expect",), ())
    for key, value in written.items():
        name = _profile(read, key, ("expect", key), True)
        if name in promised:
            raise read.bad(("expect", key), "Profile {0} is promised twice.", name, key=True)
        promised[name] = expectations.read_expect(read, value, ("expect", key), brokers)
    default = list(promised) or [DEFAULT_PROFILE]
    listed = read.listing(fields.get("profiles", default), ("profiles",), MOST_PROFILES, 1)
    names = [_profile(read, entry, ("profiles", index)) for index, entry in enumerate(listed)]
    _refuse_twins(read, listed, names)
    for index, name in enumerate(names):
        if promised and name not in promised:
            raise read.bad(("profiles", index), "Profile {0} has no entry under expect.", name)
    for name in promised:
        if name not in names:
            raise read.bad(
                ("expect", name), "Profile {0} is missing from profiles.", name, key=True
            )
    return tuple(names), {name: promised[name] for name in names if name in promised}


def _configs(read: Reader, value: object, profiles: tuple[str, ...]) -> Settings:
    fields = read.mapping(value, ("configs",), tuple(configuration.CATALOGUE))
    settings = {
        name: configuration.checked(name, setting, read.places.of(("configs", name)))
        for name, setting in fields.items()
    }
    for profile in profiles:
        try:
            configuration.build(get_profile(profile), settings)
        except InputError as bad:
            raise InputError(bad.code, bad.sentence, where=read.places.of(("configs",))) from None
    return dict(sorted(settings.items()))


assert DEFAULT_PROFILE in PROFILES
