"""A client that hangs up is noticed at once, whatever the socket's timeout."""

from __future__ import annotations

import socket
import time

from app.admission.client_disconnect import has_hung_up


def test_looking_takes_no_time_and_reads_nothing() -> None:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(30)  # as the socket of a live connection has
        began = time.monotonic()
        assert not has_hung_up(here)
        there.sendall(b"x")
        assert not has_hung_up(here)
        assert here.recv(1) == b"x"
        there.close()
        assert has_hung_up(here)
        assert time.monotonic() - began < 15, "it waited for the other side"


def test_a_socket_that_is_closed_here_is_gone() -> None:
    here, there = socket.socketpair()
    there.close()
    here.close()
    assert has_hung_up(here)
