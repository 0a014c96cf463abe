"""The machine's cable: a tap device in a network namespace of its own, where provider and backend live too."""

import subprocess
from pathlib import Path

from network import Network

HOST, MACHINE = "10.77.0.1", "10.77.0.2"
TAP = "lab"


class TapNetwork(Network):
    """The host's end has an address and takes what the machine sends; nothing of it reaches the real network."""

    def join(self):
        inside = ["ip", "-n", self.name]
        self.run(*inside, "tuntap", "add", TAP, "mode", "tap")
        self.run(*inside, "address", "add", f"{HOST}/24", "dev", TAP)
        self.run(*inside, "link", "set", TAP, "up")
        self.run(*inside, "route", "add", "default", "via", MACHINE, "dev", TAP)

    @staticmethod
    def favour(process):
        """Has a process that began a session run before other work; where sessions share the processor, `nice` alone does not."""
        try:
            Path(f"/proc/{process}/autogroup").write_text("-12")
        except OSError:
            pass  # a kernel without such groups: there nice does it

    def cut(self):
        """What is sent is lost from here on; the machine's interface notices nothing."""
        subprocess.run(["ip", "-n", self.name, "link", "set", TAP, "down"], check=True)

    def mend(self):
        subprocess.run(["ip", "-n", self.name, "link", "set", TAP, "up"], check=True)
        subprocess.run(["ip", "-n", self.name, "route", "replace", "default", "via", MACHINE, "dev", TAP], check=True)
