"""Draws a call on one time line: button, state and LED as bands, and what arrived at either side as waves."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import speech  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

INK, PALE, GRID, PAPER = "#22303c", "#7b8a97", "#e4e9ed", "#ffffff"
SPOKEN, HEARD, REFERENCE = "#0f8b8d", "#e07a1f", "#c9d2d9"
BANDS = {
    "pressed": "#22303c",
    "connecting": "#f2c14e",
    "connected": "#57a773",
    "disconnected": "#d1495b",
    "failed": "#d1495b",
    "closed": "#c9d2d9",
    "muted": "#c9d2d9",
    "open": "#57a773",
    "fault": "#d1495b",
}
COLUMNS = 1800  # of a drawn waveform


class Drawing:
    """One call, in seconds since the press. `waited` is how long after the last spoken word the first sound came."""

    def __init__(self, folder, appliance, provider, spoken, heard):
        self._events, self._spoken_score, self._heard_score = appliance, spoken, heard
        self._zero = next((event["at"] for event in appliance if event["event"] == "button"), appliance[0]["at"])
        self._end = appliance[-1]["at"] - self._zero
        self._microphone = speech.read_wav(folder / "microphone.wav")
        self._provider = speech.read_wav(folder / "at-provider.wav")
        self._box = speech.read_wav(folder / "at-box.wav")
        connected = self._time("state", state="connected") or 0
        self._provider_start = self._start(self._provider, provider, "hearing", 3, -45, connected)
        self._box_start = self._start(self._box, appliance, "first_sound", 1, -50, connected)
        self._first_sound = self._time("first_sound")
        said = speech.utterances(self._microphone)
        last_word = self._provider_start + spoken.lag + said[-1].end / speech.RATE if said else None
        self.waited = self._first_sound - last_word if self._first_sound and last_word is not None else None

    def save(self, path):
        plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK})
        figure, (bands, above, below) = plt.subplots(
            3, 1, figsize=(14, 7.4), sharex=True, gridspec_kw={"height_ratios": [1.15, 2, 2], "hspace": 0.12}
        )
        figure.patch.set_facecolor(PAPER)
        figure.subplots_adjust(left=0.135, right=0.975, top=0.88, bottom=0.085)
        self._draw_bands(bands)
        said = (self._microphone, self._provider_start + self._spoken_score.lag)
        self._draw_wave(above, self._provider, self._provider_start, SPOKEN, said)
        repeated = (self._provider, self._box_start + self._heard_score.lag)
        self._draw_wave(below, self._box, self._box_start, HEARD, repeated)
        self._name(above, "What the provider\nheard", self._spoken_score, SPOKEN, "of what was\nspoken (grey)")
        self._name(below, "What the speaker\nplayed", self._heard_score, HEARD, "of what the provider\nheard (grey)")
        self._mark_moments((bands, above, below))
        below.set_xlabel("seconds since the button was pressed", color=PALE, labelpad=8)
        below.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
        below.set_xlim(min(-0.25, -0.02 * self._end), self._end + 0.1)
        figure.text(0.135, 0.945, "One call", fontsize=18, fontweight="bold")
        figure.text(0.975, 0.948, self._headline(), fontsize=10.5, color=PALE, ha="right")
        figure.savefig(path, dpi=130)
        plt.close(figure)

    def _time(self, name, **fields):
        wanted = {"event": name, **fields}
        found = next((event for event in self._events if wanted.items() <= event.items()), None)
        return found["at"] - self._zero if found else None

    def _start(self, samples, events, name, needed, threshold, otherwise):
        """When a recording began: the event that told of its first sound, less that sound's place in it."""
        event = next((event for event in events if event["event"] == name), None)
        loud = np.flatnonzero(speech.levels(samples) >= threshold)
        if event is None or len(loud) < needed:
            return otherwise
        for index in range(needed - 1, len(loud)):
            if loud[index] - loud[index - needed + 1] < 10:
                return event["at"] - self._zero - loud[index] / 100
        return otherwise

    def _headline(self):
        parts = []
        connected = self._time("state", state="connected")
        if connected is not None:
            parts.append(f"connected after {1000 * connected:.0f} ms")
        if self.waited is not None:
            parts.append(f"first sound {self.waited:.1f} s after the last word")
        return "   ·   ".join(parts)

    def _draw_bands(self, axes):
        rows = (
            ("button", self._spans("button", "change", skipped=("released",))),
            ("voice", self._spans("state", "state", skipped=("new", "closed"))),
            ("LED", self._spans("led", "pattern", skipped=())),
        )
        for row, (name, spans) in enumerate(rows):
            for start, end, value in spans:
                colour = BANDS.get(value, REFERENCE)
                shape = FancyBboxPatch(
                    (start, -row - 0.3), max(end - start, 0.01), 0.6, boxstyle="round,pad=0,rounding_size=0.06",
                    facecolor=colour, edgecolor="none", mutation_aspect=1, zorder=3,
                )
                axes.add_patch(shape)
                if end - start > 0.09 * len(value) * self._end / 12:
                    ink = INK if value in ("muted", "closed", "connecting") else "white"
                    middle = (start + end) / 2
                    axes.text(middle, -row, value, ha="center", va="center_baseline", color=ink, fontsize=9, zorder=4)
            axes.text(-0.012, -row, name, transform=axes.get_yaxis_transform(), ha="right", va="center", color=INK)
        axes.set_ylim(-2.6, 0.6)
        self._bare(axes)

    def _spans(self, kind, field, skipped):
        changes = [(event["at"] - self._zero, event[field]) for event in self._events if event["event"] == kind]
        ends = [at for at, _ in changes[1:]] + [self._end]
        return [(start, end, value) for (start, value), end in zip(changes, ends) if value not in skipped]

    def _draw_wave(self, axes, samples, start, colour, reference):
        peak = max(float(np.max(np.abs(samples), initial=0)), 1e-3)
        wanted, wanted_start = reference
        scale = peak / max(float(np.max(np.abs(wanted), initial=0)), 1e-3)
        low, high, at = outline(wanted * scale, wanted_start)
        axes.fill_between(at, low, high, color=REFERENCE, linewidth=0, zorder=2)
        low, high, at = outline(samples, start)
        axes.fill_between(at, low, high, color=colour, linewidth=0, alpha=0.85, zorder=3)
        axes.axhline(0, color=colour, linewidth=0.6, alpha=0.6, zorder=1)
        axes.set_ylim(-1.12 * peak, 1.12 * peak)
        self._bare(axes)

    def _name(self, axes, name, score, colour, of_what):
        axes.text(-0.012, 0.5, name, transform=axes.transAxes, ha="right", va="bottom", linespacing=1.35)
        axes.text(
            -0.012, 0.44, f"{score.correlation:.2f}", transform=axes.transAxes, ha="right", va="top", fontsize=17,
            fontweight="bold", color=colour,
        )
        axes.text(
            -0.012, 0.24, of_what, transform=axes.transAxes, ha="right", va="top", fontsize=7.5, color=PALE,
            linespacing=1.4,
        )

    def _mark_moments(self, panels):
        moments = [("connected", self._time("state", state="connected")), ("first sound", self._first_sound)]
        for name, at in moments:
            if at is None:
                continue
            for axes in panels:
                axes.axvline(at, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.55, zorder=5)
            panels[0].text(
                at, 1.03, name, transform=panels[0].get_xaxis_transform(), ha="left", va="bottom", fontsize=9, color=INK
            )

    @staticmethod
    def _bare(axes):
        axes.set_yticks([])
        axes.grid(axis="x", color=GRID, linewidth=0.8, zorder=0)
        axes.set_axisbelow(True)
        axes.tick_params(axis="x", length=0, colors=PALE)
        for side in axes.spines.values():
            side.set_visible(False)


def outline(samples, start):
    """Lowest and highest sample of each drawn column, and the columns' times."""
    width = max(len(samples) // COLUMNS, 1)
    count = len(samples) // width
    columns = np.asarray(samples[: count * width]).reshape(count, width)
    at = start + (np.arange(count) + 0.5) * width / speech.RATE
    return columns.min(axis=1), columns.max(axis=1), at
