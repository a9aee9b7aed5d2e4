"""What a language lacks: `python3 -m tests.translations de` prints it, one line each.

Where English is what the engine says anyway, there is no file of it: the keys are those of a
language that lacks nothing.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from engine.learn import course
from engine.model.languages import USUAL, WHOLE
from engine.scenarios.translated import gaps

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("engine/words", "app/words", "static/i18n")
CHAPTERS = ROOT / "engine/learn" / course.FOLDER


SAID_BY_CODE = (
    "engine/words/ledger",
    "engine/words/sayings",
    "engine/words/tables",
    "app/words/incident",
)
"""Subjects without a file in English: the code says it, and other languages translate that."""


def files(language: str) -> dict[str, dict[str, str]]:
    """{folder/subject: its words} of a language."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.json")):
            subject, _, tag = path.stem.rpartition(".")
            if tag == language:
                found[f"{folder}/{subject}"] = json.loads(path.read_text("utf-8"))
    return found


def missing(language: str) -> list[str]:
    """Each word, scenario and chapter that is told in the usual language instead."""
    own, wanted = files(language), files(USUAL)
    if language != USUAL:
        whole = {subject: words for one in WHOLE for subject, words in files(one).items()}
        wanted |= {subject: whole[subject] for subject in SAID_BY_CODE}
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
    scenarios = [] if language == USUAL else gaps(language)
    return found + [f"engine/scenarios/library/{one}" for one in scenarios]


if __name__ == "__main__":
    try:
        print("\n".join(missing(*sys.argv[1:])))
    except BrokenPipeError:  # as by `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
