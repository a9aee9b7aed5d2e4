"""Lists the packages, and builds hot modules of the engine as C where HIGHWATER_COMPILE is set.

Everything else about this distribution stands in pyproject.toml.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from setuptools import find_packages, setup

sys.path.insert(0, str(Path(__file__).parent))
from app.compiled.extensions import extensions

COMPILE = bool(os.environ.get("HIGHWATER_COMPILE"))
# pip asks what the build needs, before it installs mypy
ASKED_ONLY = "egg_info" in sys.argv and find_spec("mypyc") is None

PACKAGES = find_packages(include=["app*", "engine*"])

setup(
    packages=[*PACKAGES, "app.static", "app.templates", "highwater"],
    ext_modules=extensions() if COMPILE and not ASKED_ONLY else [],
    setup_requires=["mypy>=2,<3"] if COMPILE else [],
)
