"""The host's end of the agent inside the machine (`hands agent`): one shell script at a time, its code and what it printed."""

import socket
import threading
import time


class AgentError(Exception):
    """The machine does not answer, or a script that must succeed did not. The message says which."""


class Agent:
    """One connection to the agent's virtio-serial port. Calls from several threads wait for each other."""

    def __init__(self, path):
        self._path, self._socket, self._stream, self._lock = path, None, None, threading.Lock()

    def await_ready(self, seconds):
        """Waits until the agent says that it serves; True once it has."""
        until = time.monotonic() + seconds
        with self._lock:
            while time.monotonic() < until:
                try:
                    self._connect()
                    self._socket.settimeout(max(until - time.monotonic(), 0.1))
                    if self._stream.readline().startswith(b"ready"):
                        return True
                except OSError:
                    pass
                self._disconnect()
                time.sleep(0.1)
        return False

    def ask(self, script, seconds=30):
        """Runs a shell script in the machine and returns its exit code and output; it is ended when the time is over."""
        request = f"timeout -k 1 {seconds:.0f} sh -c {quoted(script)}".encode()
        with self._lock:
            if self._socket is None:
                self._connect()
            # The machine may be slow to start a process; a dead one is noticed all the same.
            self._socket.settimeout(seconds + 20)
            try:
                self._socket.sendall(b"%d\n" % len(request) + request)
                while True:
                    code, size = self._stream.readline().split()
                    if code != b"ready":
                        break
                return int(code), self._stream.read(int(size)).decode(errors="replace")
            except (OSError, ValueError) as error:
                self._disconnect()
                raise AgentError(f"the machine does not answer to: {script[:80]}") from error

    def run(self, script, seconds=30):
        """As `ask`, for a script that must succeed; returns its output without the last line break."""
        code, output = self.ask(script, seconds)
        if code:
            raise AgentError(f"`{script[:120]}` ended with {code}: {output.strip()[-300:]}")
        return output.rstrip("\n")

    def clock_offset(self):
        """What is to be added to the machine's CLOCK_MONOTONIC to have the host's, by the quickest of some answers."""
        found = []
        for _ in range(7):
            with self._lock:
                if self._socket is None:
                    self._connect()
                self._socket.settimeout(20)
                asked = time.monotonic()
                self._socket.sendall(b"0\n")
                _, size = self._stream.readline().split()
                machine = float(self._stream.read(int(size)))
                answered = time.monotonic()
            found.append((answered - asked, (asked + answered) / 2 - machine))
        return min(found)[1]

    def close(self):
        with self._lock:
            self._disconnect()

    def _connect(self):
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(str(self._path))
            self._stream = self._socket.makefile("rb")

    def _disconnect(self):
        if self._socket:
            self._socket.close()
        self._socket = self._stream = None


def quoted(text):
    """One word for the shell."""
    return "'" + text.replace("'", "'\\''") + "'"
