"""What was measured, as a table, as figures with their targets, and as JSON."""

from dataclasses import dataclass
from statistics import median

COLUMNS = ("talkpost", "wrtc", "gstreamer", "floor")
ROWS = {  # name in the JSON: what it is called, by how much it is multiplied to be shown, its unit, digits
    "connected_s": ("connected", 1000, "ms", 1),
    "answerer_s": ("of that, the answerer's", 1000, "ms", 1),
    "first_sound_s": ("first sound", 1000, "ms", 1),
    "cpu_per_s": ("processor, per second", 1000, "ms", 1),
    "peak_pss_mib": ("memory (PSS), at most", 1, "MiB", 1),
}
REQUIRED = ("connected_s", "first_sound_s", "cpu_per_s", "peak_pss_mib")
LARGEST_BINARY = 16e6  # bytes
SLOWEST_PRESS = 0.010  # seconds
LEAST_RATE = 0.7  # of libwebrtc's, on a data channel


@dataclass
class Figure:
    """One target; `value` and `target` share a unit. `value` None: not measured in this run."""

    name: str
    target_text: str
    value: float | None
    target: float
    text: str

    @property
    def is_met(self):
        return self.value is not None and self.value <= self.target

    def line(self):
        outcome = "not measured" if self.value is None else "met" if self.is_met else "NOT met"
        return f"  {self.name:<26}{self.target_text:<36}{self.text:<30}{outcome}"


class Measurements:
    """All figures of all calls, round by round, and those measured once."""

    def __init__(self):
        self.rounds, self.presses, self.binary_bytes, self.is_without_allocation = [], [], None, None
        self.channel = {}  # percent lost: seconds for 1 MiB there and back, by who answers

    def all(self, caller, name):
        return [calls[caller][name] for calls in self.rounds if name in calls.get(caller, {})]

    def median(self, caller, name):
        values = self.all(caller, name)
        return median(values) if values else None

    def shown(self, caller, name):
        values = self.all(caller, name)
        if not values:
            return ""
        _, scale, _, digits = ROWS[name]
        low, middle, high = (f"{scale * value:.{digits}f}" for value in (min(values), median(values), max(values)))
        return f"{middle} ({low}-{high})"

    def table(self):
        lines = [" " * 32 + "".join(f"{column:<25}" for column in COLUMNS).rstrip()]
        for name, (title, _, unit, _) in ROWS.items():
            cells = "".join(f"{self.shown(column, name):<25}" for column in COLUMNS)
            lines.append(f"{f'{title}, {unit}':<32}{cells}".rstrip())
        return lines

    def figures(self):
        press = median(self.presses) if self.presses else None
        size = self.binary_bytes
        found = [
            self._ratio("connected", "connected_s", "wrtc", 0.5),
            self._ratio("first sound", "first_sound_s", "wrtc", 0.6),
            Figure(
                "press to connected", "median of 20 at most 10 ms", press, SLOWEST_PRESS,
                press and f"{1000 * press:.1f} ms ({1000 * min(self.presses):.1f}-{1000 * max(self.presses):.1f})",
            ),
            self._ratio("processor", "cpu_per_s", "floor", 1.3),
            self._ratio("processor", "cpu_per_s", "gstreamer", 0.7),
            self._memory(),
            Figure("binary", "at most 16 MB", size, LARGEST_BINARY, size and f"{size / 1e6:.1f} MB"),
        ]
        clean = self.is_without_allocation
        counted = None if clean is None else 0 if clean else 1
        found.append(Figure("allocations of ours", "none in a steady call", counted, 0, {True: "none", False: "some"}.get(clean)))
        found += [self._rate(loss) for loss in (0, 5)]
        for figure in found:
            figure.text = figure.text or ""
        return found

    def _ratio(self, title, name, other, target):
        mine, theirs = self.median("talkpost", name), self.median(other, name)
        text = f"at most {target} x {'the floor' if other == 'floor' else other}'s"
        if mine is None or theirs is None:
            return Figure(title, text, None, target, "")
        each = [
            calls["talkpost"][name] / calls[other][name] for calls in self.rounds if {"talkpost", other} <= calls.keys()
        ]
        return Figure(title, text, mine / theirs, target, f"{mine / theirs:.2f} x ({min(each):.2f}-{max(each):.2f})")

    def _rate(self, loss):
        title = "channel, 1 MiB each way" if not loss else f"the same, {loss} % lost"
        text = f"at least {LEAST_RATE} x wrtc's rate"
        seconds = self.channel.get(loss, {})
        mine, theirs = seconds.get("talkpost"), seconds.get("wrtc")
        if mine is None or theirs is None:
            return Figure(title, text, None, 0, "")
        # A figure is met where it is at most its target: here the time, which is the rate upside down.
        words = f"{theirs / mine:.2f} x ({2 / mine:.1f} MiB/s, {2 / theirs:.1f})"
        return Figure(title, text, mine / theirs, 1 / LEAST_RATE, words)

    def _memory(self):
        mine, theirs, floor = (self.median(name, "peak_pss_mib") for name in ("talkpost", "gstreamer", "floor"))
        limits = []
        if theirs is not None:
            limits.append((0.8 * theirs, "0.8 x gstreamer's"))
        if floor is not None:
            limits.append((floor + 6, "the floor's + 6 MiB"))
        if mine is None or len(limits) < 2:
            return Figure("memory", "0.8 x gstreamer's, floor + 6 MiB", None, 0, "")
        limit, words = min(limits)
        return Figure("memory", f"at most {words}: {limit:.1f} MiB", mine, limit, f"{mine:.1f} MiB")

    def json(self):
        def medians(caller, names):
            return {name: _rounded(self.median(caller, name)) for name in names}

        content = {caller: medians(caller, REQUIRED) for caller in COLUMNS[:-1]}
        content["floor"] = medians("floor", REQUIRED[2:])
        content["calls"] = len(self.rounds)
        content["answerer_s"] = {caller: _rounded(self.median(caller, "answerer_s")) for caller in COLUMNS[:-1]}
        content["spread"] = {
            caller: {
                name: [_rounded(min(values)), _rounded(max(values))]
                for name in ROWS
                if (values := self.all(caller, name))
            }
            for caller in COLUMNS
        }
        content["press_s"] = [_rounded(seconds) for seconds in self.presses]
        content["channel_s"] = {f"{loss}_percent": seconds for loss, seconds in self.channel.items()}
        content["binary_bytes"] = self.binary_bytes
        content["figures"] = [
            {
                "figure": figure.name, "target": figure.target_text, "measured": figure.text,
                "met": None if figure.value is None else figure.is_met,
            }
            for figure in self.figures()
        ]
        return content


def _rounded(value):
    return None if value is None else round(value, 6)
