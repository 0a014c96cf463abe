"""What the speaker played, as the loopback card's far end heard it, with the time of each sample (`ear`)."""

from dataclasses import dataclass

import numpy as np
import speech

ONSET = 10 ** (-40 / 20)  # of full scale: a tone's swell passes it in its first millisecond or two
# Seconds. The card moves with the kernel's ticks, 4 ms; more means that the ear lost its place.
MOST_SPREAD = 0.02


@dataclass
class Heard:
    """`began`: when the first sample was heard; `spread`: how far the pieces disagree about that. In seconds of the machine's clock."""

    samples: np.ndarray
    began: float
    spread: float

    @classmethod
    def read(cls, path):
        """Of the pieces, the one whose time was taken soonest after its sample tells when it began."""
        lines = [line.split() for line in path.with_name(path.name + ".times").read_text().splitlines()]
        begins = [float(at) - int(count) / speech.RATE for count, at in (line for line in lines if len(line) == 2)]
        if not begins:
            raise RuntimeError("the ear heard nothing")
        return cls(speech.read_wav(path), min(begins), max(begins) - min(begins))

    def fault(self, after):
        """The fault that the tone says, as in "2-5": a hum of 0.25 s, then beeps of 0.08 s in two groups; None where none is heard."""
        start = max(int((after - self.began) * speech.RATE), 0)
        loud = speech.levels(self.samples[start:]) > -40
        edges = np.flatnonzero(np.diff(np.concatenate([[0], loud.astype(int), [0]])))
        sounds = [(begin / 100, end / 100) for begin, end in zip(edges[::2], edges[1::2])]
        numbers, last = None, 0
        for begin, end in sounds:
            if 0.2 <= end - begin <= 0.3:
                numbers = [0]
            elif numbers is not None and end - begin < 0.15:
                # Within a number beeps are 0.1 s apart, the two numbers 0.4 s.
                if numbers[-1] and begin - last > 0.25:
                    numbers.append(0)
                numbers[-1] += 1
            last = end
        return "-".join(map(str, numbers)) if numbers else None

    def onset(self, after):
        """When sound began that was not there at a time; None where nothing did."""
        start = max(int((after - self.began) * speech.RATE), 0)
        loud = np.flatnonzero(np.abs(self.samples[start:]) > ONSET)
        return self.began + (start + int(loud[0])) / speech.RATE if len(loud) else None
