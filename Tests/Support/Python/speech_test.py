"""Tests of speech.py on made-up signals: `python3 -m unittest discover -s Tests/Support/Python -p '*_test.py'`."""

import os
import tempfile
import unittest

import numpy as np

import speech
from speech import RATE, Span


def talk(seed, bursts=((0.0, 1.6), (2.2, 1.4)), seconds=4.0):
    """Bursts of a voice-like sound: a gliding tone with overtones, rising and falling, in silence."""
    source = np.random.default_rng(seed)
    samples = np.zeros(int(seconds * RATE))
    for start, length in bursts:
        count = int(length * RATE)
        pitch = 110 + 40 * np.cumsum(source.normal(size=count // 2400 + 2))
        pitch = np.interp(np.arange(count) / 2400, np.arange(len(pitch)), np.clip(pitch, 80, 240))
        phase = 2 * np.pi * np.cumsum(pitch) / RATE
        voice = sum(np.sin(k * phase + source.uniform(0, 6)) / k for k in range(1, 12))
        swell = 0.6 + 0.4 * np.sin(2 * np.pi * 4 * np.arange(count) / RATE)
        samples[int(start * RATE) : int(start * RATE) + count] = 0.1 * voice * swell
    return samples


def silence(seconds):
    return np.zeros(int(seconds * RATE))


class Comparing(unittest.TestCase):
    def setUp(self):
        self.spoken = talk(1)

    def score(self, heard):
        return speech.compare(self.spoken, heard).correlation

    def test_the_same_recording_scores_one(self):
        self.assertGreater(self.score(self.spoken), 0.999)

    def test_delay_and_loudness_cost_nothing(self):
        late = np.concatenate([silence(1.234), 0.05 * self.spoken, silence(0.5)])
        score = speech.compare(self.spoken, late)
        self.assertGreater(score.correlation, 0.999)
        self.assertAlmostEqual(score.lag, 1.234, places=3)

    def test_a_recording_that_starts_late_loses_only_what_it_missed(self):
        score = speech.compare(self.spoken, self.spoken[int(0.4 * RATE) :])
        self.assertAlmostEqual(score.lag, -0.4, places=3)
        self.assertGreater(score.correlation, 0.7)
        self.assertLess(score.correlation, 0.95)

    def test_half_the_energy_missing_scores_about_a_half(self):
        halves = talk(2, bursts=((0.0, 1.5), (2.0, 1.5)))
        cut = halves.copy()
        cut[int(1.8 * RATE) :] = 0
        kept = np.sum(cut**2) / np.sum(halves**2)
        self.assertAlmostEqual(speech.compare(halves, cut).correlation, kept, delta=0.03)
        self.assertAlmostEqual(kept, 0.5, delta=0.1)

    def test_a_stretched_pause_costs_nothing(self):
        middle = int(1.9 * RATE)
        stretched = np.concatenate([self.spoken[:middle], silence(0.8), self.spoken[middle:]])
        self.assertGreater(self.score(stretched), 0.99)

    def test_a_few_milliseconds_dropped_in_speech_cost_little(self):
        middle = int(1.0 * RATE)
        shortened = np.concatenate([self.spoken[:middle], self.spoken[middle + RATE // 50 :]])
        self.assertGreater(self.score(shortened), 0.75)

    def test_silence_scores_nothing(self):
        self.assertEqual(self.score(silence(5)), 0)
        self.assertEqual(self.score(np.zeros(0)), 0)

    def test_noise_scores_next_to_nothing(self):
        noise = 0.1 * np.random.default_rng(3).normal(size=6 * RATE)
        self.assertLess(self.score(noise), 0.1)

    def test_other_speech_scores_low(self):
        self.assertLess(self.score(talk(9)), 0.4)

    def test_noise_beside_the_speech_lowers_the_score(self):
        noise = np.random.default_rng(4).normal(size=len(self.spoken))
        loud = noise * np.sqrt(np.sum(self.spoken**2) / np.sum(noise**2))
        clean, noisy = self.score(self.spoken + 0.05 * loud), self.score(self.spoken + loud)
        self.assertGreater(clean, 0.98)
        self.assertLess(noisy, 0.9)

    def test_a_silent_reference_scores_nothing(self):
        self.assertEqual(speech.compare(silence(2), self.spoken).correlation, 0)


class Finding(unittest.TestCase):
    def test_utterances_are_parted_at_long_pauses(self):
        spans = speech.utterances(talk(5, bursts=((0.5, 1.0), (2.0, 1.0))))
        self.assertEqual(len(spans), 2)
        self.assertAlmostEqual(spans[0].start / RATE, 0.5, delta=0.03)
        self.assertAlmostEqual(spans[1].end / RATE, 3.0, delta=0.03)

    def test_pieces_cover_their_span_and_stay_short(self):
        samples = talk(6, bursts=((0.0, 3.7),))
        cut = speech.pieces(samples, Span(0, len(samples)))
        self.assertEqual([piece.end for piece in cut[:-1]], [piece.start for piece in cut[1:]])
        self.assertEqual((cut[0].start, cut[-1].end), (0, len(samples)))
        self.assertLessEqual(max(piece.seconds for piece in cut), speech.PIECE)

    def test_the_loudest_frame_of_a_span(self):
        samples = silence(1)
        samples[RATE // 2] = 1.0
        self.assertAlmostEqual(speech.loudest(samples, Span(0, RATE)), -26.8, delta=0.1)
        self.assertEqual(speech.loudest(samples, Span(0, RATE // 4)), speech.SILENCE_DBFS)
        self.assertIsNone(speech.loudest(samples, Span(0, RATE + 1)))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.wav")

    def test_what_is_written_is_read(self):
        samples = talk(7)
        speech.write_wav(self.path, samples)
        self.assertLess(np.max(np.abs(speech.read_wav(self.path) - samples)), 1 / 32_000)

    def test_a_header_that_was_never_completed_is_read_to_the_end(self):
        speech.write_wav(self.path, talk(7))
        with open(self.path, "r+b") as file:
            for place in (4, 40):
                file.seek(place)
                file.write(bytes(4))
        self.assertEqual(len(speech.read_wav(self.path)), 4 * RATE)

    def test_another_shape_is_refused_by_name(self):
        with self.assertRaisesRegex(speech.SpeechError, "a.wav"):
            speech.read_wav(self.path)
        with open(self.path, "wb") as file:
            file.write(b"RIFF")
        with self.assertRaisesRegex(speech.SpeechError, "a.wav"):
            speech.read_wav(self.path)


if __name__ == "__main__":
    unittest.main()
