"""The socket: questions about a run and their answers, and classes that follow one page."""
