"""The peers there are: what each needs installed, and the command that runs it in a role."""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
CACHE = PROJECT / ".cache" / "interop"
PEERS = HERE / "peers"
SYSTEM_PYTHON = "/usr/bin/python3"  # the one with Debian's modules, whatever else is first in PATH


class NotInstalled(Exception):
    """A peer's packages cannot be had. The message is the last line of the installer's."""


@dataclass(frozen=True)
class Peer:
    """One implementation.

    `tells_channels`: it says which data channels were opened to it. `echoes`: it sends back what it hears instead of
    speaking and recording by itself. `lead`: seconds of silence before the first word, longer than it takes to connect
    with a busy machine's first call. `by_tcp`: the options with which it takes connections. `cannot`: why it cannot answer on a way
    (ways.py), for the ways on which it cannot.
    """

    name: str
    roles: tuple
    program: tuple  # the program's file in peers/, then its own options
    packages: str = ""  # a list file in peers/
    is_from_pypi: bool = False
    echoes: bool = False
    tells_channels: bool = True
    largest_message: int = 262_144  # that it takes on a channel that it offered
    keeps_log: bool = False
    lead: float = 1.0
    by_tcp: tuple = ()
    cannot: dict = field(default_factory=dict)

    def install(self):
        if self.packages:
            _do([PROJECT / "Tests" / "Support" / "install", PEERS / self.packages])
        if self.is_from_pypi:
            virtual_environment()
        if self.program[0] == "pion":
            pion()

    def command(self, role, folder, *options, by_tcp=False):
        """The command line; `role` is "answer" or "offer"."""
        program, *own = self.program
        own += self.by_tcp if by_tcp else ()
        if program == "pion":
            # It neither speaks nor records.
            kept = [option for pair in zip(options[::2], options[1::2]) if pair[0] in PION_OPTIONS for option in pair]
            return [pion(), *own, *kept]
        python = virtual_environment() if self.is_from_pypi else SYSTEM_PYTHON
        log = ["--log", folder / f"{self.name}-own.log"] if self.keeps_log else []
        return [python, PEERS / program, role, *own, *log, *options]


def janus(name, *program, cannot):
    """Its echo test answers on a channel, and does not say that there is one."""
    facts = {"echoes": True, "tells_channels": False, "keeps_log": True, "by_tcp": ("--tcp",), "cannot": cannot}
    return Peer(name, ("answerer",), program, "janus.packages", **facts)


def no_tcp(why):
    return {"ice-tcp": why, "proxy": why}


LIBWEBRTC = no_tcp("libwebrtc opens connections and takes none")
PION_OPTIONS = ("--port", "--address", "--ice-servers")
SENDS_NO_CHECKS = "an ice-lite peer sends no checks, so nothing would open its firewall"
ALL = {
    peer.name: peer
    for peer in (
        Peer("aiortc", ("answerer", "offerer"), ("asyncio_peer.py",), is_from_pypi=True, cannot=no_tcp("aiortc knows UDP alone")),
        Peer("wrtc", ("answerer", "offerer"), ("asyncio_peer.py", "--library", "wrtc"), is_from_pypi=True, cannot=LIBWEBRTC),
        Peer("chromium", ("answerer", "offerer"), ("chromium.py",), "chromium.packages", keeps_log=True, cannot=LIBWEBRTC),
        Peer("gstreamer", ("answerer", "offerer"), ("gstreamer.py",), "gstreamer.packages", lead=1.5, largest_message=65_536),
        janus("janus-full", "janus.py", cannot={}),
        janus("janus-lite", "janus.py", "--lite", cannot={"stun": SENDS_NO_CHECKS}),
        Peer("pion", ("answerer",), ("pion",), "pion.packages", echoes=True, by_tcp=("-tcp",)),
    )
}

def virtual_environment():
    """The Python that has the peers from PyPI; made once for each content of the requirement list."""
    requirements = PEERS / "requirements.txt"
    version = subprocess.run([SYSTEM_PYTHON, "--version"], capture_output=True).stdout
    key = hashlib.sha256(requirements.read_bytes() + version).hexdigest()[:12]
    folder = CACHE / f"venv-{key}"
    if not (folder / "complete").exists():
        say(f"Installing from PyPI: {', '.join(requirements.read_text().split())}")
        shutil.rmtree(folder, ignore_errors=True)
        _do([SYSTEM_PYTHON, "-m", "venv", folder])
        pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        _do([*pip, "-r", requirements])
        (folder / "complete").touch()
    return folder / "bin" / "python"


def pion():
    """The pion peer's binary; built once for each content of its source."""
    source = PEERS / "pion"
    key = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(source.iterdir()))).hexdigest()[:12]
    binary = CACHE / f"pion-{key}"
    if not binary.exists():
        say("Building the pion peer")
        # Without modules Go finds "…/v3" only from a package that lies in a GOPATH and has a go.mod.
        path = CACHE / "go"
        shutil.rmtree(path / "src" / "pionpeer", ignore_errors=True)
        shutil.copytree(source, path / "src" / "pionpeer")
        setting = [f"GOPATH={path}:/usr/share/gocode", f"GOCACHE={path}/cache", "GO111MODULE=off", "GOPROXY=off"]
        _do(["env", "GOFLAGS=", *setting, "go", "build", "-o", binary, "pionpeer"])
    return binary


def say(text):
    print(text, file=sys.stderr, flush=True)


def _do(command):
    try:
        done = subprocess.run(list(map(str, command)), stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise NotInstalled(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise NotInstalled(f"{Path(command[0]).name}: {words[-1] if words else done.returncode}")
