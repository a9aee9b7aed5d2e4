"""Playground without a server: a folder of files, and the engine in a browser's Web Worker."""
