"""Everything a case works with: the machine, the box in it, the provider outside, the sentences; and the catalog of cases."""

from dataclasses import dataclass
from typing import Callable

import speech
from sentences import mono

# The loopback card's other ends: what is played here the box's microphone hears, what is recorded here its speaker played.
MOUTH = EAR = "hw:Loopback,1,0"
MOUTH_STATUS = "/proc/asound/Loopback/pcm1p/sub0/status"
EAR_STATUS = "/proc/asound/Loopback/pcm1c/sub0/status"
FORMAT = "-f S16_LE -r 48000 -c 2"

CASES = {}  # name: Case, in the order in which they are run


@dataclass(frozen=True)
class Case:
    name: str
    sets: tuple  # of "smoke", "short", "all"
    play: Callable


def case(name, at_least):
    """Enters a function of (lab, report) into the catalog; a smoke case is in every set, a short one in all but the smoke."""
    sets = {"smoke": ("smoke", "short", "all"), "short": ("short", "all"), "all": ("all",)}[at_least]

    def enter(play):
        CASES[name] = Case(name, sets, play)
        return play

    return enter


class Lab:
    def __init__(self, machine, box, provider, network, sentences, folder, hands):
        self.machine, self.box, self.provider, self.network = machine, box, provider, network
        self.sentences, self.folder, self.hands, self._listened = sentences, folder, hands, 0

    def limit(self, seconds):
        """A native time limit as it holds here."""
        return seconds * self.box.slowness

    def prepare(self):
        """What every case may count on: cable, provider, a button that nobody presses, no call."""
        self.network.mend()
        if not self.provider.is_serving:
            self.provider.start()
        self.box.release_all()

    # Mouth and ear

    def speak_step(self):
        """Steps of `hands do` after which the sentences are being spoken; the time of `running` is their beginning."""
        return f"run=exec aplay -q -D {MOUTH} /lab/spoken.wav 2>/dev/null", f"running={MOUTH_STATUS}:10"

    def listen(self):
        """Records what the speaker plays from here on; returns when the recording began (machine's clock)."""
        trace = self.box.do(f"run=exec arecord -q -D {EAR} {FORMAT} /run/lab/heard.wav 2>/dev/null", f"running={EAR_STATUS}:10")
        return trace.first("running", "1")

    def heard(self):
        """What the speaker played since `listen`, as samples."""
        self._listened += 1
        self.box.agent.run("pkill -INT arecord; sleep 0.3; cp /run/lab/heard.wav /lab/heard.wav", 40)
        kept = self.folder / f"heard-{self._listened}.wav"
        (self.machine.shared / "heard.wav").rename(kept.with_suffix(".stereo.wav"))
        return mono(kept.with_suffix(".stereo.wav"), kept)

    def at_provider(self, number):
        """What the provider heard in a voice, or None."""
        try:
            return speech.read_wav(self.provider.recording(number))
        except speech.SpeechError:
            return None
