"""A network namespace with one interface that carries packets, removed with all that ran in it."""

import os
import signal
import subprocess

ADDRESS = "10.99.0.1"


class NetworkError(Exception):
    """The namespace could not be made: no right to, or no iproute2. The message is the command's own."""


class Network:
    """Two names joined by a cable inside a namespace of their own.

    A loopback interface alone will not do: most peers offer no candidate on it. HTTP stays on 127.0.0.1 inside.
    """

    def __init__(self, number):
        self.name = f"talkpost-{os.getpid()}-{number}"

    def __enter__(self):
        try:
            self.run("ip", "netns", "add", self.name)
            self.run("ip", "-n", self.name, "link", "set", "lo", "up")
            self.join()
        except NetworkError:
            self.__exit__()
            raise
        return self

    def join(self):
        """Lays the cable."""
        inside = ["ip", "-n", self.name]
        self.run(*inside, "link", "add", "near", "type", "veth", "peer", "name", "far")
        self.run(*inside, "address", "add", f"{ADDRESS}/24", "dev", "near")
        # Both ends must be up, or the near one has no carrier and nobody offers a candidate on it.
        self.run(*inside, "link", "set", "near", "up")
        self.run(*inside, "link", "set", "far", "up")
        self.run(*inside, "route", "add", "default", "dev", "near")

    def __exit__(self, *_):
        """Ends whatever still runs inside, by its id, then removes the namespace."""
        listed = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True).stdout
        for process in listed.split():
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                pass
        subprocess.run(["ip", "netns", "delete", self.name], stderr=subprocess.DEVNULL)

    def inside(self, command):
        """The command line that runs `command` in this network, before other work on the machine.

        A jitter buffer answers a sender that stumbles by stretching speech; that is no fault to be found here.
        """
        return ["nice", "-n", "-10", "nsenter", f"--net=/run/netns/{self.name}", *map(str, command)]

    @staticmethod
    def run(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise NetworkError(f"{command[0]}: {error.strerror}") from error
        if done.returncode:
            raise NetworkError(f"{' '.join(command)}: {done.stderr.strip()}")
