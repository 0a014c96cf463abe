"""A program that prints one JSON event a line: started, listened to, waited for, and ended by its own process group."""

import json
import os
import signal
import subprocess
import threading
import time


class Program:
    """One running program. Its events stay in NAME.events; what it prints beside them, and on its error output, in NAME.log."""

    def __init__(self, name, command, folder, on_event=None):
        """`on_event` is called with each event, on the thread that reads."""
        self.name, self.events, self._changed, self._on_event = name, [], threading.Condition(), on_event
        self._log = open(folder / f"{name}.log", "w", buffering=1)
        self._kept = open(folder / f"{name}.events", "w", buffering=1)
        self._process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def process_id(self):
        return self._process.pid

    def first(self, name, **fields):
        """The first event of that name with those fields, or None."""
        return next(iter(self.all(name, **fields)), None)

    def all(self, name, **fields):
        wanted = {"event": name, **fields}
        return [event for event in list(self.events) if wanted.items() <= event.items()]

    def await_event(self, name, seconds, **fields):
        """Waits for an event; None if the time is over or the program has ended without it."""
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                found = self.first(name, **fields)
                left = until - time.monotonic()
                if found or left <= 0 or not self._reader.is_alive():
                    return found
                self._changed.wait(min(left, 0.2))

    def await_end(self, seconds):
        """The exit code, or None if it still runs after that time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self):
        """Asks the program to end, and insists after five seconds."""
        if self._process.poll() is None:
            self._process.terminate()
            if self.await_end(5) is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._reader.join(2)

    def last_words(self):
        """The end of what it logged, for a report of failure."""
        with open(self._log.name, errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return lines[-1][:200] if lines else ""

    def _read(self):
        for line in self._process.stdout:
            try:
                event = json.loads(line)
                event.setdefault("at", time.monotonic())
            except (ValueError, AttributeError):
                self._log.write(line)
                continue
            self._kept.write(line)
            with self._changed:
                self.events.append(event)
                self._changed.notify_all()
            if self._on_event:
                self._on_event(event)
        with self._changed:
            self._changed.notify_all()
