"""QEMU's control connection (QMP): commands with their answers, and the events that came in between."""

import json
import socket
import time


class QMPError(Exception):
    """QEMU refused a command; the message is its own."""


class QMP:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(20)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rw")
        self._events = []
        json.loads(self._stream.readline())  # the greeting
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        self._stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._stream.flush()
        while True:
            line = self._stream.readline()
            if not line:
                raise QMPError(f"{command}: QEMU has ended")
            answer = json.loads(line)
            if "error" in answer:
                raise QMPError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
            if "event" in answer:
                stamp = answer["timestamp"]
                ago = time.time() - stamp["seconds"] - stamp["microseconds"] / 1e6
                self._events.append((time.monotonic() - ago, answer["event"]))

    def events(self, name, after):
        """When there were such events since a time; seconds of this machine's CLOCK_MONOTONIC, both."""
        self.execute("query-status")  # what lies before the answer was read by then
        return [at for at, event in self._events if event == name and at >= after]

    def close(self):
        self._socket.close()
