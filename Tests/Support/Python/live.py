"""The demo's live line: the call's state, the LED and both levels; plain lines where nobody sits at a terminal."""

import shutil

QUIETEST = -60.0  # dBFS at which a level bar is empty
BESIDE = 58  # characters of the live line beside its two bars
LONGEST_BAR = 24
EIGHTHS = " ▏▎▍▌▋▊▉█"
LED = {  # pattern: how it looks, colour (ANSI 256)
    "muted": ("●", 244),
    "open": ("●", 46),
    "connecting": ("◐", 220),
    "fault": ("✖", 196),
}


class Display:
    """Takes the appliance's events one by one. One thread at a time calls it."""

    def __init__(self, output):
        self._output, self._is_terminal = output, output.isatty()
        self._start, self._state, self._led, self._button = None, "idle", "muted", "released"
        self._levels, self._last_level_line = (QUIETEST, QUIETEST), None

    def show(self, event):
        kind, at = event["event"], event["at"]
        if self._start is None and kind == "button":
            self._start = at
        if kind == "state":
            self._state = event["state"]
        elif kind == "led":
            self._led = event["pattern"]
        elif kind == "button":
            self._button = event["change"]
        elif kind == "level":
            self._levels = (event["microphone_dbfs"], event["speaker_dbfs"])
        if self._is_terminal:
            self._redraw(at)
        else:
            self._tell(event, at)

    def finish(self):
        if self._is_terminal:
            print(file=self._output, flush=True)

    def _seconds(self, at):
        return at - (self._start if self._start is not None else at)

    def _redraw(self, at):
        sign, colour = LED.get(self._led, ("●", 244))
        lit = f"\x1b[38;5;{colour}m{sign}\x1b[0m"
        length = min(max((shutil.get_terminal_size().columns - BESIDE) // 2, 1), LONGEST_BAR)
        microphone, speaker = (bar(level, length) for level in self._levels)
        button = "▼" if self._button == "pressed" else "△"
        state = f"{self._seconds(at):6.1f} s  {button}  {lit} {self._led:<10}  {self._state:<12}"
        line = f"{state}  mic \x1b[36m{microphone}\x1b[0m  speaker \x1b[33m{speaker}\x1b[0m"
        print(f"\r\x1b[K{line}", end="", file=self._output, flush=True)

    def _tell(self, event, at):
        kind = event["event"]
        if kind == "level":
            if self._last_level_line is not None and at - self._last_level_line < 1:
                return
            self._last_level_line = at
            told = f"microphone {self._levels[0]:6.1f} dBFS, speaker {self._levels[1]:6.1f} dBFS"
        elif kind in ("state", "led", "button"):
            told = f"{kind} {event.get('state') or event.get('pattern') or event.get('change')}"
        elif kind == "error":
            told = f"error {event.get('code')}: {event.get('message')}"
        else:
            told = kind.replace("_", " ")
        print(f"{self._seconds(at):8.3f} s  {told}", file=self._output, flush=True)


def bar(level, length):
    """A bar of that many characters for a level in dBFS, to the eighth of a character."""
    share = min(max((level - QUIETEST) / -QUIETEST, 0), 1)
    eighths = round(share * length * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(length, "·")
