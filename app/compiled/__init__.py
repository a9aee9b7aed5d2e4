"""Compiling the engine on this machine: what it needs, the build, and the check of equal bytes."""
