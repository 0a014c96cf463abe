"""The appliance inside the machine: its config, its unit, its journal, and what hands and eyes do with it."""

import time
from dataclasses import dataclass

from agent import AgentError, quoted
from tap import HOST

PORT = 8080
CONFIG = "/etc/talkpost/talkpost.conf"
UNIT = "talkpost.service"

# What every case starts from; a case names what differs.
BASE = {
    "backend": {"url": f"http://{HOST}:{PORT}/voice/{{chat}}", "chat": "lobby", "timeout": "5 s"},
    "talk": {"mode": "hold", "idle_end": "4 s"},
    "sound": {"microphone": "card:Loopback", "speaker": "card:Loopback", "session": "managed"},
    "button": {"source": "gpio:BUTTON", "active": "low", "bias": "pull-up"},
    "led": {"output": "gpio:LED", "active": "high"},
    # The least effort: emulation is thirty times as slow at sound as the processor that it emulates.
    "voice": {"complexity": "0"},
    "log": {"level": "debug"},
}


def config_text(sections):
    """The config file's text; a key whose value is None is left out."""
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None)
        for name, keys in sections.items()
    )


@dataclass
class Change:
    """One line that `hands do` printed: seconds of the machine's CLOCK_MONOTONIC, what, and its value."""

    at: float
    what: str
    value: str


class Trace(list):
    """What hands did and what the LED showed, in order."""

    @classmethod
    def read(cls, text):
        trace = cls()
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 2 and words[0].replace(".", "").isdigit():
                trace.append(Change(float(words[0]), words[1], " ".join(words[2:])))
        return trace

    def first(self, what, value=None, after=0.0):
        """The time of the first such line not before a time, or None."""
        for change in self:
            if change.what == what and value in (None, change.value) and change.at >= after:
                return change.at
        return None

    def all(self, what, value):
        """The times of all such lines."""
        return [change.at for change in self if (change.what, change.value) == (what, value)]

    def last(self, what):
        return next((change for change in reversed(self) if change.what == what), None)


def dark_spells(trace, longest):
    """When the LED began to be dark for longer than so many seconds; the trace's last line, whatever it tells, counts as a change."""
    changes = [change for change in trace if change.what == "led"]
    ends = [change.at for change in changes[1:]] + [trace[-1].at if trace else 0]
    return [change.at for change, end in zip(changes, ends) if change.value == "0" and end - change.at > longest]


def flicks(trace):
    """The fault that the LED flicks between two long lights, as in "2-5"; None where it shows none.

    A fault's light is 2.25 s long, its dark flicks 0.12 s, with 0.25 s of light within a number and 0.75 s between the two; all may be
    longer on a busy host.
    """
    changes = [change for change in trace if change.what == "led"]
    numbers = None
    for change, after in zip(changes, changes[1:]):
        seconds = after.at - change.at
        if change.value == "0":
            if numbers is not None:
                numbers[-1] += 1
        elif seconds > 1.5:
            if numbers and numbers[-1]:
                return "-".join(map(str, numbers))
            numbers = [0]
        elif seconds > 0.5 and numbers is not None:
            numbers.append(0)
    return None


class Box:
    """Belongs to one virtual machine. `slowness` is what a native time limit is multiplied by."""

    def __init__(self, machine):
        self.machine, self.agent, self._config = machine, machine.agent, None
        self.slowness = 3 if machine.is_emulated else 1

    # What the installer does

    def configure(self, **sections):
        """Has the appliance run with BASE and these differences; restarts it only where they are new."""
        wanted = {name: {**BASE.get(name, {}), **sections.get(name, {})} for name in {**BASE, **sections}}
        if wanted == self._config and self.ask("ActiveState") == "active":
            return
        self._config = None
        self.release_all()
        text = quoted(config_text(wanted))
        self.agent.run(f"printf %s {text} >{CONFIG}; systemctl reset-failed {UNIT}; systemctl restart {UNIT}", 90)
        self._config = wanted
        self.settle()

    def settle(self):
        """Waits until what follows a start is done, so that what is measured then is not the start."""

        def quiet():
            before = self.cpu_seconds()
            time.sleep(1)
            return self.cpu_seconds() - before < 0.2

        self.until(quiet, 20)

    def forget(self):
        """The machine was reset: what runs there is the config that it came with."""
        self._config = None

    def start(self):
        self.agent.run(f"systemctl reset-failed {UNIT}; systemctl start {UNIT}", 90)

    def stop(self):
        self.agent.run(f"systemctl stop {UNIT}", 90)

    # What systemd knows

    def properties(self, *names, unit=UNIT):
        text = self.agent.run(f"systemctl show -p {','.join(names)} {unit}")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    def ask(self, name, unit=UNIT):
        return self.properties(name, unit=unit).get(name, "")

    @property
    def process_id(self):
        return int(self.ask("MainPID") or 0)

    @property
    def status(self):
        return self.ask("StatusText")

    def ready_at(self, unit=UNIT):
        """When systemd was told READY, in seconds of the machine's CLOCK_MONOTONIC; 0 if it is not active."""
        return int(self.ask("ActiveEnterTimestampMonotonic", unit) or 0) / 1e6

    def await_ready(self, after, seconds):
        """Waits until the unit is active with a READY later than `after`; returns that time, or None."""
        return self.until(lambda: self._active_since(after), seconds)

    def await_status(self, fits, seconds):
        """Waits for a STATUS line for which `fits` holds; returns it, or None."""

        def fitting():
            status = self.status
            return status if status and fits(status) else None

        return self.until(fitting, seconds)

    def until(self, probe, seconds, pause=0.3):
        """Asks until `probe` returns something true, and returns that; None when the time is over."""
        end = time.monotonic() + seconds
        while True:
            found = probe()
            if found:
                return found
            if time.monotonic() > end:
                return None
            time.sleep(pause)

    def mark(self):
        """From here on `journal` counts."""
        self.agent.run(f"journalctl -u {UNIT} -n 1 --cursor-file=/run/lab/cursor -q >/dev/null")

    def journal(self):
        """The unit's lines since `mark` (or since the last call), each with its time in seconds of CLOCK_MONOTONIC."""
        command = f"journalctl -u {UNIT} -o short-monotonic --no-hostname -q --no-pager --cursor-file=/run/lab/cursor"
        return self.agent.run(command, 60)

    # What hands and eyes do

    def do(self, *steps, seconds=60):
        """Steps of `hands do`, one after the other; returns the trace."""
        return Trace.read(self.agent.run("exec hands do " + " ".join(map(quoted, steps)), seconds))

    def release_all(self):
        """Nobody presses, and nothing plays or records."""
        self.agent.run("echo pull-up >/run/lab/BUTTON/pull; pkill aplay; pkill arecord; pkill -x ear; true")

    def await_idle(self, seconds=40):
        """Waits until no call is under way and the LED has been lit without a change for a while."""

        def is_idle():
            if not self.status.startswith("Waiting"):
                return False
            trace = self.do("wait=1.5")
            return len(trace) == 1 and trace[0].value == "1"

        return self.until(is_idle, seconds)

    def is_lit(self):
        return self.agent.run("cat /run/lab/LED/value") == "1"

    # What its processes use

    def cpu_seconds(self):
        """Processor time of the unit's process so far."""
        process = self.process_id
        fields = self.agent.run(f"cat /proc/{process}/stat").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def thread_seconds(self):
        """Processor time of each of its threads so far, by name."""
        taken = {}
        for line in self.agent.run(f"cat /proc/{self.process_id}/task/*/stat").splitlines():
            name, fields = line.partition("(")[2].rpartition(") ")[::2]
            used = (int(fields.split()[11]) + int(fields.split()[12])) / 100
            taken[name] = taken.get(name, 0) + used
        return taken

    def switches(self):
        """How often each thread has gone to sleep so far: {thread id: (name, count)}."""
        script = (
            f"for t in /proc/{self.process_id}/task/*; do"
            " echo ${t##*/} $(cat $t/comm | tr ' ' _) $(sed -n 's/^voluntary_ctxt_switches:\\t//p' $t/status); done"
        )
        rows = [line.split() for line in self.agent.run(script).splitlines()]
        return {row[0]: (row[1], int(row[2])) for row in rows if len(row) == 3}

    def _active_since(self, after):
        try:
            now = self.properties("ActiveState", "ActiveEnterTimestampMonotonic")
        except AgentError:
            return None
        at = int(now.get("ActiveEnterTimestampMonotonic") or 0) / 1e6
        return at if now.get("ActiveState") == "active" and at > after else None
