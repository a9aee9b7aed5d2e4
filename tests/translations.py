"""What a language lacks: `python3 -m tests.translations de` prints it, one line each.

A commit may leave gaps: English stands in them.  A release has none (docs/how-to/release.md), so
the command exits with 1 where it prints a line.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.catalogue import bugs
from engine.checks.catalogue import INVARIANTS
from engine.learn import course
from engine.model.configs import CATALOGUE
from engine.model.languages import USUAL, words_of
from engine.model.profiles import FLAGS
from engine.scenarios import file
from engine.scenarios.script import comments_of
from engine.story.rules import BESIDE, RULEBOOK, RULES
from engine.study.metrics import METRICS
from tests.phrases import templates

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("engine/words", "app/words", "static/i18n")
CHAPTERS = ROOT / "engine/learn" / course.FOLDER


def files(language: str) -> dict[str, dict[str, str]]:
    """{folder/subject: its words} of a language."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.json")):
            subject, _, tag = path.stem.rpartition(".")
            if tag == language:
                found[f"{folder}/{subject}"] = json.loads(path.read_text("utf-8"))
    return found


def in_code() -> dict[str, Iterable[str]]:
    """{folder/subject: keys} of what the code says in English, so that no file does."""
    tables = {f"rule.{name}" for name in (*RULEBOOK, *BESIDE, *RULES)}
    tables |= {f"flag.{name}" for name in (*FLAGS, "truncation")}
    tables |= {f"config.{name}" for name in CATALOGUE}
    tables |= {f"{of}.{name}" for name in INVARIANTS for of in ("invariant", "broken")}
    tables |= {f"metric.{name}" for name in METRICS}
    sentences = {text for text in templates() if " " in text.strip()}
    sentences -= set(words_of("story", USUAL).values())
    return {
        "engine/words/tables": sorted(tables),
        "engine/words/phrases": sorted(sentences),
        "engine/words/ledger": [bug.jira for bug in bugs.entries()],
    }


def missing(language: str) -> list[str]:
    """Each word, scenario and chapter that is told in the usual language instead."""
    own: Mapping[str, Mapping[str, str]] = files(language)
    wanted: dict[str, Iterable[str]] = {**files(USUAL)}
    if language != USUAL:
        wanted |= in_code()
    found = [
        f"{subject}.{language}.json: {key}".replace("/.", "/")
        for subject, words in wanted.items()
        for key in words
        if key not in own.get(subject, {})
    ]
    chapters = [path.name for path in CHAPTERS.glob(f"*.{USUAL}.md")]
    there = {path.name for path in CHAPTERS.glob(f"*.{language}.md")}
    names = [name.replace(f".{USUAL}.md", f".{language}.md") for name in sorted(chapters)]
    found += [f"engine/learn/chapters/{name}" for name in names if name not in there]
    scenarios = [] if language == USUAL else gaps(language, file.translations(language))
    return found + [f"engine/scenarios/library/{one}" for one in scenarios]


def gaps(language: str, written: Mapping[str, file.ScenarioWords]) -> list[str]:
    """Return one sentence for each entry missing from the translations, or left over."""
    codes = {scenario.code for scenario in file.library().values()}
    found = [f"{language}/{code}.yaml: no scenario {code}" for code in written if code not in codes]
    for scenario in file.library().values():
        where = f"{language}/{scenario.code}.yaml"
        if scenario.code not in written:
            found.append(f"{where} is missing: title, teaches and comments of {scenario.slug}.yaml")
            continue
        comments, known = comments_of(scenario.script), written[scenario.code].comments
        found += [f"{where}: add the comment {text!r}" for text in comments if text not in known]
        found += [f"{where}: take out {text!r}" for text in known if text not in comments]
    return found


if __name__ == "__main__":
    try:
        lacking = missing(*sys.argv[1:])
        print(*lacking, sep="\n", end="\n" if lacking else "")
        sys.exit(bool(lacking))
    except BrokenPipeError:  # as by `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
