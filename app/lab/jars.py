"""Jars of a release: from a directory, KAFKA_HOME, the cache, or Maven."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from app.batch.runners.java import cache_directory
from app.lab.releases import KafkaRelease
from app.lab.trouble import LabError

Tell = Callable[[str], None]

_CORE: Final = re.compile(r"kafka_\d\.\d+-(\d[\d.]*\d)\.jar")
_ERROR: Final = re.compile(r"\[ERROR\] (.+)")

POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>highwater</groupId><artifactId>lab</artifactId><version>1</version>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""
DEPENDENCY: Final = """    <dependency>
      <groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>
      <exclusions>{3}</exclusions>
    </dependency>
"""
EXCLUSION: Final = "<exclusion><groupId>{}</groupId><artifactId>{}</artifactId></exclusion>"

NOT_WANTED: Final = (
    ("com.sun.jmx", "jmxri"),  # not at Maven Central
    ("com.sun.jdmk", "jmxtools"),
    ("javax.jms", "jms"),
    ("log4j", "log4j"),  # reload4j stands in for it
    ("org.slf4j", "slf4j-log4j12"),
)


def find_jars(
    release: KafkaRelease, given: Path | None, environ: Mapping[str, str], tell: Tell
) -> Path:
    """Return the directory with the jars of a release.  Raises LabError."""
    if given is not None:
        return _checked(given, release)
    home = environ.get("KAFKA_HOME")
    if home:
        version = _version_in(Path(home) / "libs")
        if version == release.version:
            return Path(home) / "libs"
        tell(f"KAFKA_HOME has {f'Kafka {version}' if version else 'no Kafka'}, so it is not used.")
    place = home_of(release, environ) / "libs"
    if _version_in(place) != release.version:
        tell(f"Kafka {release.version} comes through Maven, once, into {place} …")
        _through_maven(release, place)
    return place


def home_of(release: KafkaRelease, environ: Mapping[str, str]) -> Path:
    return cache_directory(environ) / "kafka" / release.version


def _checked(given: Path, release: KafkaRelease) -> Path:
    for place in (given, given / "libs"):
        version = _version_in(place)
        if version == release.version:
            return place
        if version:
            raise LabError(f"{place} has Kafka {version}, not {release.version}.")
    raise LabError(f"{given} has no jars of Kafka (kafka_2.13-{release.version}.jar and the rest).")


def _version_in(place: Path) -> str:
    """Return the release of the jars in a directory; "" where there are none."""
    for jar in sorted(place.glob("kafka_*.jar")):
        match = _CORE.fullmatch(jar.name)
        if match:
            return match[1]
    return ""


def pom_of(release: KafkaRelease) -> str:
    """Return Maven's project: Kafka, and what older releases lack on a Java of today."""
    jars = [("org.apache.kafka", f"kafka_{release.scala}", release.version)]
    if release.log4j2:
        jars.append(("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"))
    else:
        # A Java since 11 has no javax.xml.bind, and 1.1 to 3.9 bring no logger.
        jars.append(("javax.xml.bind", "jaxb-api", "2.3.1"))
        jars.append(("ch.qos.reload4j", "reload4j", "1.2.26"))
        jars.append(("org.slf4j", "slf4j-reload4j", "1.7.36"))
    if (2, 0, 0) <= release.numbers < (2, 4, 0):
        # ZooKeeper 3.4.13 and 3.4.14 cannot resolve host names on Java 14 and later.
        jars.append(("org.apache.zookeeper", "zookeeper", "3.4.10"))
    exclusions = "".join(EXCLUSION.format(*jar) for jar in NOT_WANTED)
    return POM.format(dependencies="".join(DEPENDENCY.format(*jar, exclusions) for jar in jars))


def _through_maven(release: KafkaRelease, place: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise LabError(
            f"Kafka {release.version} is not here and there is no Maven (mvn) to bring it: install "
            "Maven, set KAFKA_HOME, or name a directory of jars with --jars."
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as draft:
        pom = Path(draft) / "pom.xml"
        pom.write_text(pom_of(release))
        command = [maven, "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={draft}/libs"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            failed = _why(release, answer.stdout + answer.stderr)
        else:
            # Renamed when it is whole: a download that was stopped leaves nothing behind.
            shutil.rmtree(place, ignore_errors=True)
            (Path(draft) / "libs").rename(place)
            failed = ""
    if failed:
        with contextlib.suppress(OSError):
            place.parent.rmdir()  # unless something of an earlier time is in it
        raise LabError(failed)


def _why(release: KafkaRelease, said: str) -> str:
    """Return one sentence out of Maven's output."""
    if f"kafka_{release.scala}:jar:{release.version}" in said and "Could not find" in said:
        return f"Maven finds no Kafka {release.version}; 4.1.1 or 3.9.1 are written like that."
    errors = _ERROR.findall(said) or ["it gave no reason."]
    return f"Maven could not bring Kafka {release.version}: {errors[0][:300]}"
