"""Questions about runs: functions of a context and a request, without HTTP, socket or database."""
