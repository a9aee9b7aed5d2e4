"""Lines of logs by what they say: templates, the kinds of lines that are named, and their values.

A line is matched by the literal words of a template, found one after the other, so that the time
grows with the length of the line and with nothing else.
"""
