"""The course: every chapter is read, played and the same in both languages; mistakes are placed."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.command.cli import main
from engine.learn import course
from engine.model.errors import InputError
from engine.model.languages import WHOLE

MANUAL = Path(__file__).parent.parent / "docs/how-to/course.md"
GOOD = """# T

```chapter
run: S10
```

## One

```moment
at: 3
```
"""


def text_of(slug: str, language: str) -> str:
    name = f"{course.slugs().index(slug) + 1:02}-{slug}.{language}.md"
    return (files("engine.learn") / "chapters" / name).read_text("utf-8")


def test_there_are_twelve_chapters() -> None:
    assert len(course.slugs()) == 12


@pytest.mark.parametrize("slug", course.slugs())
def test_a_chapter_plays_and_has_what_a_chapter_needs(slug: str) -> None:
    chapter = course.check(text_of(slug, "en"), f"{slug}.en.md")
    blocks = [scene.block for scene in chapter.scenes]
    assert 2 <= blocks.count("probe") <= 4
    assert 1 <= blocks.count("do") <= 2
    assert 5 <= chapter.minutes <= 8
    assert len(chapter.recap) == 3
    assert chapter.cards


@pytest.mark.parametrize("slug", course.slugs())
def test_both_languages_tell_the_same_scenes(slug: str) -> None:
    one, other = (course.chapter(slug, language) for language in WHOLE)
    played = ("block", "scenario", "profile", "at", "ask", "goal", "first", "solution")
    for a, b in zip(one.scenes, other.scenes, strict=True):
        assert [getattr(a, name) for name in played] == [getattr(b, name) for name in played]
        assert a.title != b.title and a.text != b.text
    assert (one.scenario, one.profile, one.minutes) == (
        other.scenario,
        other.profile,
        other.minutes,
    )
    assert len(one.cards) == len(other.cards) and len(one.recap) == len(other.recap)
    assert not re.search("追随者|领导者|纪元|位移|控制器|您", text_of(slug, "zh-Hans"))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("# T\n", "T\n"), "1:1"),
        (("run: S10", "run: S999"), "4:6"),
        (("run: S10", "rum: S10"), "4:1"),
        (("run: S10", "run: S10\nprofile: K99"), "5:10"),
        (("```moment", "```movement"), "9:4"),
        (("at: 3", "at: HW(1) <"), "10:5"),
        (("at: 3", "when: 3"), "10:1"),
        (("at: 3\n```", "at: 3\n"), "9:1"),
        (("## One", "# One"), "7:1"),
        (("```moment\nat: 3", "```probe\nask: weather"), "10:6"),
        (
            ("```moment\nat: 3", "```do\ngoal: leader = 2\nhint: h\nsolution:\n  - kil 1"),
            "13:5",
        ),
        (("at: 3\n```", "at: 3\n```\n\n```moment\nat: 4\n```"), "13:1"),
        (("at: 3", "at: 999999"), "7:1"),
        (("at: 3", 'at: "eventually lost(a)"'), "7:1"),
        (("```moment\nat: 3", "```probe\nask: hw@1.0.1"), "7:1"),
        (("```moment\nat: 3", "```do\ngoal: leader = 1\nhint: h\nsolution: [settle]"), "7:1"),
        (("```moment\nat: 3", "```do\ngoal: leader = 2\nhint: h\nsolution: [settle]"), "7:1"),
        (("## One", "## To keep\n\n```recap\n```\n\n## One"), "9:1"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_with_its_place(
    change: tuple[str, str], place: str
) -> None:
    assert course.check(GOOD, "my.md").title == "T"
    text = GOOD.replace(*change)
    assert text != GOOD
    with pytest.raises(InputError) as told:
        course.check(text, "my.md")
    assert told.value.where == f"my.md:{place}", told.value.sentence
    assert re.fullmatch(r"[^\n]+[.?]", told.value.sentence)


def test_the_command_reads_and_plays(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    example = re.search(r"````markdown\n(.*?)````", MANUAL.read_text("utf-8"), re.S)
    assert example is not None
    good.write_text(example[1], "utf-8")
    bad.write_text(GOOD.replace("at: 3", "at: 9999"), "utf-8")
    told = CliRunner().invoke(main, ["course", "check", str(good)])
    assert told.exit_code == 0 and "1 questions, 1 tasks: all play" in told.output, told.output
    refused = CliRunner().invoke(main, ["course", "check", str(bad)])
    assert refused.exit_code == 2 and "bad.md:7:1" in refused.output
