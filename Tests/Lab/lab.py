"""Everything a case works with: the machine, the box in it, the provider outside, the sentences; and the catalog of cases."""

from dataclasses import dataclass
from typing import Callable

import speech
from heard import Heard

# The loopback card's other ends: what is played here the box's microphone hears, what is recorded here its speaker played.
MOUTH = EAR = "hw:Loopback,1,0"
MOUTH_STATUS = "/proc/asound/Loopback/pcm1p/sub0/status"
EAR_STATUS = "/proc/asound/Loopback/pcm1c/sub0/status"
# A second card of that kind, of which a case takes the driver away.
HEADSET, HEADSET_DEVICE = "Headset", "snd_aloop.1"
SPEAKER_STATUS = "/proc/asound/Loopback/pcm0p/sub0/status"

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
        self.tones = []  # press to tone of every call so far, in seconds

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
        """Records what the speaker plays from here on."""
        self.box.do(f"run=exec ear {EAR} /run/lab/heard.wav 2>/run/lab/ear.log", f"running={EAR_STATUS}:10")

    def heard(self):
        """What the speaker played since `listen`."""
        self._listened += 1
        self.box.agent.run("pkill -INT -x ear; sleep 0.3; cp /run/lab/heard.wav /run/lab/heard.wav.times /lab/", 40)
        said = self.box.agent.run("cat /run/lab/ear.log")
        if said:
            raise RuntimeError(said)
        kept = self.folder / f"heard-{self._listened}.wav"
        for ending in ("", ".times"):
            (self.machine.shared / f"heard.wav{ending}").rename(f"{kept}{ending}")
        return Heard.read(kept)

    def at_provider(self, number):
        """What the provider heard in a voice, or None."""
        try:
            return speech.read_wav(self.provider.recording(number))
        except speech.SpeechError:
            return None
