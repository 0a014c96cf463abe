"""How much of what was spoken arrived: one figure from 0 to 1 for two recordings.

The reference is cut into utterances at its longer pauses and each utterance is sought by itself in what arrived, so
that a pause stretched by a jitter buffer, or a reply given utterance by utterance, costs nothing. Inside an utterance
short pieces are aligned again, each near its utterance's place. The figure is the mean of the pieces' normalised
correlations, weighted by their energy: a lost second half of equal loudness gives 0.5, silence 0, any loudness 1.

All recordings are mono, 48 kHz, 16 bit. Needs numpy only.
"""

import struct
import wave
from dataclasses import dataclass, field

import numpy as np

RATE = 48_000
FRAME = RATE // 100  # samples in 10 ms
FULL_SCALE = 32_768.0

LONG_PAUSE = 0.35  # seconds of quiet that part two utterances
SHORTEST_SPEECH = 0.06  # seconds; anything briefer is a click
# Seconds of the longest piece aligned by itself: receivers drop or repeat single periods of the voice inside words.
PIECE = 0.4
PIECE_SEARCH = 0.2  # seconds to either side of the utterance's place; packets held up for longer are lost in any case
CLEAR = 1.0  # seconds of speech that cannot be mistaken for other speech
# What other speech reaches by chance somewhere in the search; a piece no more like than this did not arrive.
CHANCE = 0.3
SILENCE_DBFS = -100.0  # what absolute silence is called


class SpeechError(Exception):
    """A recording cannot be read: not there, or not mono 48 kHz 16 bit. The message names the file and what it is."""


@dataclass
class Span:
    """A stretch of a recording in samples, `start` included and `end` not."""

    start: int
    end: int

    @property
    def seconds(self):
        return (self.end - self.start) / RATE


@dataclass
class Piece:
    """A stretch of the reference, where it was found (samples, in what arrived) and how like it is (0 to 1)."""

    span: Span
    found_at: int
    correlation: float
    energy: float


@dataclass
class Score:
    """What `compare` found; `lag` is by how many seconds the clearest piece lies later in what arrived."""

    correlation: float
    lag: float
    pieces: list = field(default_factory=list)


def read_wav(path):
    """Samples of a mono 48 kHz 16-bit WAV as floats from -1 to 1.

    A file whose header was never completed (its writer was ended early) is read to its end.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise SpeechError(f"{path}: {error.strerror}") from error
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise SpeechError(f"{path}: not a WAV file")
    shape, at = None, 12
    while at + 8 <= len(content):
        kind, size = struct.unpack_from("<4sI", content, at)
        at += 8
        if kind == b"fmt " and at + 16 <= len(content):
            _, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", content, at)
            shape = (channels, rate, bits)
        if kind == b"data":
            break
        at += size + size % 2
    else:
        raise SpeechError(f"{path}: no sound in it")
    if shape != (1, RATE, 16):
        raise SpeechError(f"{path}: {shape} are its channels, rate and bits; wanted {(1, RATE, 16)}")
    data = content[at : at + size] if 0 < size < len(content) - at else content[at:]
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float64) / FULL_SCALE


def write_wav(path, samples):
    """Writes floats from -1 to 1 as a mono 48 kHz 16-bit WAV."""
    data = np.clip(np.round(np.asarray(samples) * FULL_SCALE), -32_768, 32_767).astype("<i2").tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(data)


def levels(samples):
    """Loudness in dBFS of each 10 ms frame."""
    count = len(samples) // FRAME
    frames = np.asarray(samples[: count * FRAME]).reshape(count, FRAME)
    power = np.mean(frames**2, axis=1) if count else np.zeros(0)
    return 10 * np.log10(np.maximum(power, 10 ** (SILENCE_DBFS / 10)))


def loudest(samples, span):
    """The level in dBFS of the loudest 10 ms inside a span, or None if the recording does not reach its end."""
    if span.start < 0 or span.end > len(samples) or span.end - span.start < FRAME:
        return None
    return float(np.max(levels(samples[span.start : span.end])))


def utterances(samples, pause=LONG_PAUSE):
    """The spans that hold speech, parted at pauses of at least `pause` seconds."""
    level = levels(samples)
    if not len(level) or level.max() < -60:
        return []
    loud = np.flatnonzero(level > max(level.max() - 35, -60))
    found = []
    for frame in loud:
        if found and frame - found[-1][1] <= pause * 100:
            found[-1][1] = frame
        else:
            found.append([frame, frame])
    spans = [Span(int(first) * FRAME, int(last + 1) * FRAME) for first, last in found]
    return [span for span in spans if span.seconds >= SHORTEST_SPEECH]


def pieces(samples, span, seconds=PIECE):
    """Cuts a span at its quietest places into pieces of at most so many seconds."""
    cuts = [span.start]
    longest = int(seconds * RATE)
    while span.end - cuts[-1] > longest:
        earliest = cuts[-1] + longest // 2
        level = levels(samples[earliest : cuts[-1] + longest])
        cuts.append(earliest + int(np.argmin(level)) * FRAME)
    cuts.append(span.end)
    return [Span(start, end) for start, end in zip(cuts, cuts[1:])]


def correlations(reference, heard):
    """Normalised correlation of the whole reference with each place in `heard` where it would fit."""
    places = len(heard) - len(reference) + 1
    if places < 1:
        return np.zeros(0)
    size = 1 << int(np.ceil(np.log2(len(heard) + len(reference))))
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(reference, size)), size)[:places]
    running = np.concatenate([[0.0], np.cumsum(heard**2)])
    energy = running[len(reference) :] - running[:places]
    # Below this a place is silence, and a quotient would only tell of rounding.
    floor = 10 ** (SILENCE_DBFS / 10) * len(reference)
    scale = np.sqrt(np.maximum(energy, floor) * max(float(np.sum(reference**2)), floor))
    return np.where(energy > floor, product / scale, 0.0)


def compare(reference, heard, search=PIECE_SEARCH):
    """Scores how much of the reference's speech is in `heard`; both as `read_wav` gives them.

    `search`: seconds that a piece may lie off its utterance's place, more only where the sender itself stands still at times.
    """
    spans = utterances(reference)
    if not spans:
        return Score(0.0, 0.0)
    # Room on both sides, so that speech cut off at either end of the recording is still found.
    margin = max(span.end - span.start for span in spans)
    padded = np.concatenate([np.zeros(margin), heard, np.zeros(margin)])
    found = []
    # The clearest first; what one utterance has taken is no longer there for another.
    clearest = {span.start: np.max(correlations(reference[span.start : span.end], padded)) for span in spans}
    for span in sorted(spans, key=lambda span: -clearest[span.start]):
        place = _place(reference[span.start : span.end], padded)
        parts = [
            _piece(reference, padded, piece, place + piece.start - span.start, margin, search)
            for piece in pieces(reference, span)
        ]
        for part in parts:
            if part.correlation > 0:
                start = part.found_at + margin
                padded[start : start + part.span.end - part.span.start] = 0
        found += parts
    found.sort(key=lambda piece: piece.span.start)
    total = sum(piece.energy for piece in found)
    best = max(found, key=lambda piece: piece.energy * piece.correlation)
    score = sum(piece.energy * piece.correlation for piece in found) / total
    return Score(score, (best.found_at - best.span.start) / RATE, found)


def _place(utterance, heard):
    """Where an utterance lies in `heard`: by its whole where that is clear, else by its clearest piece."""
    whole = correlations(utterance, heard)
    place, value = int(np.argmax(whole)), float(np.max(whole))
    if value > 0.8:
        return place
    for piece in pieces(utterance, Span(0, len(utterance)), CLEAR):
        part = correlations(utterance[piece.start : piece.end], heard)
        if len(part) and part.max() > value:
            place, value = int(np.argmax(part)) - piece.start, float(part.max())
    return place


def _piece(reference, heard, span, place, margin, search):
    signal = reference[span.start : span.end]
    reach = int(search * RATE)
    start = min(max(place - reach, 0), len(heard))
    near = correlations(signal, heard[start : max(place + reach + len(signal), 0)])
    best = int(np.argmax(near)) if len(near) else 0
    correlation = float(near[best]) if len(near) and near[best] > CHANCE else 0.0
    return Piece(span, start + best - margin, correlation, float(np.sum(signal**2)))
