"""What is spoken in the lab, and when.

    seconds      0    LEAD              +SETTLE                            end
    microphone   ---- the question ------------ GAP --- the aside ----------
    button       pressed                released (muted a little later)
    provider     ---- LEAD, the reply -------------------------------------- (its own clock: from connected on)

The aside is spoken while muted and must not arrive.
"""

import subprocess

import numpy as np
import sound
import speech

LEAD = 2.0
SETTLE = 0.8
GAP = 2.6
END = 1.0


class Sentences:
    def __init__(self, folder):
        self.question, self.aside, self.reply = (
            sound.Sound.say(folder, text) for text in (sound.QUESTION, sound.ASIDE, sound.REPLY)
        )
        asked = len(self.question) / speech.RATE
        self.question_at, self.release_at, self.aside_at = LEAD, LEAD + asked + SETTLE, LEAD + asked + GAP
        self.aside_seconds = len(self.aside) / speech.RATE
        self.end_at = self.aside_at + self.aside_seconds + END
        self.reply_at, self.reply_seconds = LEAD, len(self.reply) / speech.RATE
        parts = ((LEAD, self.question), (self.aside_at, self.aside))
        self.microphone = _stereo(_write(folder / "spoken-mono.wav", self.end_at, *parts), folder / "spoken.wav")
        # The question three times without a pause, for a microphone that may not hear the beginning.
        again = [(number * asked, self.question) for number in range(3)]
        self.again_seconds = 3 * asked
        self.again = _stereo(_write(folder / "again-mono.wav", 3 * asked, *again), folder / "again.wav")
        self.provider = _write(folder / "provider.wav", LEAD + self.reply_seconds + END, (LEAD, self.reply))

    def aside_span(self, lag):
        """Where the aside lies in a recording in which the question came `lag` seconds later than it was spoken."""
        start = int((self.aside_at - self.question_at + lag) * speech.RATE)
        return speech.Span(start, start + len(self.aside))


def _write(path, seconds, *parts):
    track = np.zeros(int(seconds * speech.RATE))
    for at, samples in parts:
        start = int(at * speech.RATE)
        track[start : start + len(samples)] = samples
    speech.write_wav(path, track)
    return path


def _stereo(path, into):
    subprocess.run(["sox", path, "-c", "2", into], check=True)
    return into
