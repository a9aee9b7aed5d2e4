"""Reading of text and files: describe output, tables, JSON, checkpoints, dumps and logs.

A format is one module of `formats` and a line in a list; the cluster page, the incident page and
the command line share them.  What makes a run of what was read stands with its feature.
"""
