"""A conversation whose network changes under it: the post's address goes, and another comes; played by `faults.py`."""

import shutil
import subprocess
import time

from network import Network
from processes import Program

POST, NEXT, FAR = "10.98.0.2", "10.98.0.3", "10.98.0.1"
AWAY = 2.0  # seconds without any address
DEAF = 7.0  # seconds for which the provider does not hear the new address, longer than a session is given to follow
CASES = {
    # Whether the provider is deaf to the new address, and how many seconds after it (at rest: after the press) there is a voice again.
    "follows": ("the provider hears the new address: the same voice goes on", False, 1.0),
    "does-not-follow": (f"it does not, for {DEAF:g} s: a new voice follows by itself", True, DEAF + 3.0),
    "at-rest": ("nobody speaks, and the connection that is kept to the backend is dead: the next press", False, 1.0),
}


class Neighbours(Network):
    """The post and, behind a cable, who it speaks with."""

    @property
    def names(self):
        return [self.name, f"{self.name}-far"]

    def namespace(self, place=""):
        return f"{self.name}-far" if place == "far" else self.name

    def join(self):
        far = self.namespace("far")
        self.found(far)
        self.run("ip", "link", "add", "cable", "netns", self.name, "type", "veth", "peer", "name", "cable", "netns", far)
        for name, address in ((self.name, POST), (far, FAR)):
            self.run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "cable")
            self.run("ip", "-n", name, "link", "set", "cable", "up")

    def move(self):
        """When the new address was about to come."""
        self.run("ip", "-n", self.name, "address", "del", f"{POST}/24", "dev", "cable")
        time.sleep(AWAY)
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.run("ip", "-n", self.name, "address", "add", f"{NEXT}/24", "dev", "cable")
        return now

    def deafen(self, deaf):
        rule = f"ip saddr {NEXT} meta l4proto udp drop"
        chain = f"chain in {{\ntype filter hook input priority 0;\n{rule}\n}}"
        text = f"table ip moves {{\n{chain}\n}}\n" if deaf else "flush ruleset\n"
        self.run(*self.inside(["nft", "-f", "-"], "far"), text=text)


def config(folder):
    return (
        f"[backend]\nurl = http://{FAR}:8080/voice/{{chat}}\n[talk]\nmode = toggle\n"
        f"[sound]\nmicrophone = wav:{folder}/tone.wav\nspeaker = none\n[button]\nsource = script:{folder}/button.script\n"
        f"[led]\noutput = none\n[state]\ndirectory = {folder}\n[log]\ntarget = console\n")


def play(name, number, options):
    _, is_deaf, limit = CASES[name]
    folder = options.keep / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tone = folder / "tone.wav"
    subprocess.run(["sox", "-n", "-r", "48000", "-c", "1", "-b", "16", tone, "synth", "40", "sine", "440", "vol", "0.3"],
                   check=True)
    (folder / "talkpost.conf").write_text(config(folder))
    rest = "after 6\n" if name == "at-rest" else ""
    (folder / "button.script").write_text(f"await ready 10\n{rest}press\nawait connected 10\nafter 20\nquit\n")
    programs = []
    with Neighbours(number) as network:
        try:
            provider = Program("provider", network.inside(
                [options.binary.with_name("talkpost-provider"), "--listen", f"{FAR}:8080", "--speak", tone, "--events", "-"], "far"), folder)
            programs.append(provider)
            if not provider.await_event("listening", 10):
                return f"the provider did not start: {provider.last_words()}"
            talkpost = Program("talkpost", network.inside(
                [options.binary, "run", "--config", folder / "talkpost.conf", "--events", "-"]), folder)
            programs.append(talkpost)
            if name == "at-rest":
                return judge_press(talkpost, network, limit)
            if not talkpost.await_event("first_sound", 20):
                return f"no voice: {talkpost.last_words()}"
            if is_deaf:
                network.deafen(True)
            moved = network.move()
            if is_deaf:
                time.sleep(DEAF)
                network.deafen(False)
            return judge(talkpost, is_deaf, moved, limit)
        finally:
            for program in reversed(programs):
                program.stop()


def judge(talkpost, is_deaf, moved, limit):
    """The seconds until the voice was there again, or what was wrong."""
    until = moved + limit + 2
    again = None
    while not again and time.clock_gettime(time.CLOCK_MONOTONIC) < until:
        again = next((one for one in talkpost.all("state", state="connected") if one["at"] > moved), None)
        time.sleep(0.05)
    lost = talkpost.first("state", state="disconnected")
    voices, tones = talkpost.all("voice"), [one["at"] for one in talkpost.all("tone") if one["name"] == "connecting"]
    faults = [one["fault"] for one in talkpost.all("led") if one.get("fault")]
    if not lost or lost["at"] > moved - AWAY + 1:
        return "that the address went was not noticed within a second"
    if not again:
        return f"the voice did not come back: {talkpost.last_words()}"
    if len(voices) != (2 if is_deaf else 1):
        return f"{len(voices)} voices"
    if faults:
        return f"the visitor was shown {', '.join(faults)}"
    if not any(at >= lost["at"] for at in tones):
        return "the visitor heard no tone"
    seconds = round(again["at"] - moved, 2)
    return seconds if seconds <= limit else f"only after {seconds} s"


def judge_press(talkpost, network, limit):
    """As `judge`, for a press after the move; the connection to the backend is opened as soon as the post is ready."""
    if not talkpost.await_event("ready", 10):
        return f"the post did not start: {talkpost.last_words()}"
    time.sleep(2)
    network.move()
    connected, pressed = talkpost.await_event("state", 20, state="connected"), talkpost.first("button", change="pressed")
    if not connected or not pressed:
        return f"the press came to nothing: {talkpost.last_words()}"
    seconds = round(connected["at"] - pressed["at"], 2)
    return seconds if seconds <= limit else f"only after {seconds} s"


def row(name, number, options):
    """What `run` prints and keeps of a case."""
    found = play(name, number, options)
    kept = {"case": name, "fault": "none", "how": CASES[name][0], "ok": not isinstance(found, str)}
    return {**kept, "seconds": found} if kept["ok"] else {**kept, "why": found}
