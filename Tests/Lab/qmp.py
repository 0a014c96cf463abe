"""QEMU's control connection (QMP): commands with their answers; events are passed over."""

import json
import socket


class QMPError(Exception):
    """QEMU refused a command; the message is its own."""


class QMP:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(20)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rw")
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

    def close(self):
        self._socket.close()
