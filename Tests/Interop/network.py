"""A network namespace with one interface that carries packets, removed with all that ran in it."""

import os
import signal
import subprocess

ADDRESSES = {"ipv4": "10.99.0.1/24", "ipv6": "fd99::1/64"}
IPV4 = ("ipv4",)
# Addresses are used at once: nobody else is here to have them.
AT_ONCE = "cd /proc/sys/net/ipv6/conf 2>/dev/null || exit 0; for what in all default; do echo 0 > $what/accept_dad; done"


class NetworkError(Exception):
    """The namespace could not be made: no right to, or no iproute2. The message is the command's own."""


class Network:
    """Two names joined by a cable inside a namespace of their own.

    A loopback interface alone will not do: most peers offer no candidate on it. HTTP stays on 127.0.0.1 inside.
    """

    backend = "127.0.0.1"  # where a peer's HTTP routes are reached
    answering = "127.0.0.1"  # what they are served on

    def __init__(self, number, families=IPV4):
        self.name, self.families = f"talkpost-{os.getpid()}-{number}", families

    def __enter__(self):
        try:
            self.found(self.name)
            self.join()
        except NetworkError:
            self.__exit__()
            raise
        return self

    def found(self, name):
        """Makes a namespace in which nothing but its own loopback is."""
        self.run("ip", "netns", "add", name)
        self.run("ip", "-n", name, "link", "set", "lo", "up")
        self.run("nsenter", f"--net=/run/netns/{name}", "sh", "-c", AT_ONCE)

    def join(self):
        """Lays the cable."""
        inside = ["ip", "-n", self.name]
        self.run(*inside, "link", "add", "near", "type", "veth", "peer", "name", "far")
        for family in self.families:
            self.run(*inside, "address", "add", ADDRESSES[family], "dev", "near")
        # Both ends must be up, or the near one has no carrier and nobody offers a candidate on it.
        self.run(*inside, "link", "set", "near", "up")
        self.run(*inside, "link", "set", "far", "up")
        for family in self.families:
            self.run(*inside, "-6" if family == "ipv6" else "-4", "route", "add", "default", "dev", "near")

    @property
    def names(self):
        """All its namespaces."""
        return [self.name]

    def __exit__(self, *_):
        """Ends whatever still runs inside, by its id, then removes the namespaces."""
        for name in self.names:
            listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout
            for process in listed.split():
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)

    def inside(self, command, place=""):
        """The command line that runs `command` in this network, before other work on the machine.

        A jitter buffer answers a sender that stumbles by stretching speech; that is no fault to be found here.
        `place` is one of its namespaces where it has several; here all is one.
        """
        return ["nice", "-n", "-10", "nsenter", f"--net=/run/netns/{self.namespace(place)}", *map(str, command)]

    def namespace(self, place=""):
        return self.name

    @staticmethod
    def run(*command, text=None):
        """What the command printed; `text` is given to it."""
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True)
        except OSError as error:
            raise NetworkError(f"{command[0]}: {error.strerror}") from error
        if done.returncode:
            raise NetworkError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout
