"""How fast a data channel is: the same libwebrtc sends 1 MiB to talkpost-provider and to libwebrtc, and gets it back."""

from statistics import median

import catalog
from processes import Program

PORT = 8090
ROUNDS = 5
LIMIT = 60  # seconds for a round of libwebrtc's own retransmissions
SCRIPT = catalog.HERE.parent / "Bench" / "callers" / "channel.py"


class Rates:
    """Seconds for 1 MiB there and back, by who answers and how much is lost; each a median of the rounds."""

    def __init__(self, network, folder, binaries):
        self._network, self._folder, self._binaries = network, folder, binaries

    def measure(self, loss):
        """{"talkpost": seconds, "wrtc": seconds}; `loss` in percent of all datagrams, the same for both."""
        self._lose(loss)
        try:
            return {name: self._seconds(name, command) for name, command in self._answerers().items()}
        finally:
            self._lose(0)

    def _answerers(self):
        peer = catalog.ALL["wrtc"]
        return {
            "talkpost": [self._binaries / "talkpost-provider", "--listen", f"127.0.0.1:{PORT}", "--events", "-"],
            "wrtc": peer.command("answer", self._folder, "--port", PORT),
        }

    def _seconds(self, name, command):
        answerer = self._start(f"{name}-answers", command)
        try:
            if not answerer.await_event("listening", 30):
                return None
            url = f"http://127.0.0.1:{PORT}/voice/lobby"
            sending = [catalog.virtual_environment(), SCRIPT, "--url", url, "--rounds", ROUNDS, "--limit", LIMIT]
            sender = self._start(f"to-{name}", sending)
            rounds = sender.await_event("rounds", ROUNDS * LIMIT)
            sender.stop()
            return median(rounds["seconds"]) if rounds else None
        finally:
            answerer.stop()

    def _start(self, name, command):
        return Program(name, self._network.inside(command), self._folder)

    def _lose(self, percent):
        inside = ["nsenter", f"--net=/run/netns/{self._network.name}", "nft"]
        if not percent:
            self._network.run(*inside, "add", "table", "inet", "bench")
            self._network.run(*inside, "delete", "table", "inet", "bench")
            return
        rules = (
            "table inet bench { chain input { type filter hook input priority 0;"
            f" meta l4proto udp numgen random mod 100 < {percent} drop; }}; }}"
        )
        self._network.run(*inside, rules)
