"""The sentences of a call, made with espeak-ng, and the times at which each is spoken.

    seconds      0    lead             +SETTLE                          end
    microphone   ---- the question ----------- GAP --- the aside --------
    button       pressed               released (muted a little later)
    provider     --------------------- the reply ------------------------

The aside is spoken while muted and must not arrive. The appliance's microphone counts from the press, the others from
connected: `lead` is longer than a peer takes to connect.
"""

import subprocess

import numpy as np
import speech

SETTLE = 0.6
GAP = 2.0
END = 0.8  # after the last word, so that what is under way arrives

QUESTION = "Could you tell me when the workshop opens?"
ASIDE = "Nobody should be able to hear this."
REPLY = "It opens at nine, and closes again at noon."


class Sound:
    """The spoken WAVs in a folder, and where each sentence lies in them."""

    def __init__(self, folder, lead):
        folder.mkdir(parents=True, exist_ok=True)
        self.lead = lead
        self.question, self.aside, self.reply = (self.say(folder, text) for text in (QUESTION, ASIDE, REPLY))
        self.release = lead + self._seconds(self.question) + SETTLE
        aside_at = lead + self._seconds(self.question) + GAP
        self.aside_span = speech.Span(int(aside_at * speech.RATE), int(aside_at * speech.RATE) + len(self.aside))
        self.talk = aside_at + self._seconds(self.aside) + END
        self.microphone = self._write(folder / "microphone.wav", (lead, self.question), (aside_at, self.aside))
        self.provider = self._write(folder / "provider.wav", (self.release, self.reply))

    def repeated(self, path, count, pause):
        """The question that often, with pauses; the file, and the seconds that it is spoken for."""
        step = self._seconds(self.question) + pause
        self._write(path, *((index * step, self.question) for index in range(count)))
        return path, count * step

    @staticmethod
    def _seconds(samples):
        return len(samples) / speech.RATE

    @staticmethod
    def say(folder, text):
        raw, made = folder / "said.wav", folder / "sentence.wav"
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "165", "-w", raw, text], check=True)
        shape = ["-r", str(speech.RATE), "-c", "1", "-b", "16"]
        subprocess.run(["sox", raw, *shape, made, "gain", "-n", "-9"], check=True)
        samples = speech.read_wav(made)
        spans = speech.utterances(samples)
        return samples[spans[0].start : spans[-1].end]

    @staticmethod
    def _write(path, *parts):
        end = max(at + len(samples) / speech.RATE for at, samples in parts) + END
        track = np.zeros(int(end * speech.RATE))
        for at, samples in parts:
            start = int(at * speech.RATE)
            track[start : start + len(samples)] = samples
        speech.write_wav(path, track)
        return path
