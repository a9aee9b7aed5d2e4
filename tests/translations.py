"""What a language lacks: `python3 -m tests.translations de` prints it, one line each.

Where English is what the code says anyway, there is no file of it: the keys are those of a
language that lacks nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from engine.learn import course
from engine.model.languages import USUAL, WHOLE
from engine.scenarios import file
from engine.scenarios.script import comments_of

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


def missing(language: str) -> list[str]:
    """Each word, scenario and chapter that is told in the usual language instead."""
    own, wanted = files(language), files(USUAL)
    if language != USUAL:
        whole = {subject: words for one in WHOLE for subject, words in files(one).items()}
        wanted = whole | wanted
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
        print("\n".join(missing(*sys.argv[1:])))
    except BrokenPipeError:  # as by `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
