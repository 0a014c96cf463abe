"""Processor time and memory of one process, from /proc."""

import threading
import time
from pathlib import Path


def on_cpu(process):
    """Nanoseconds each thread has been on a processor so far (proc(5), schedstat), by thread."""
    spent = {}
    for thread in Path(f"/proc/{process}/task").glob("*"):
        try:
            spent[thread.name] = int((thread / "schedstat").read_text().split()[0])
        except OSError:
            pass  # it has just ended
    return spent


def cpu_per_second(process, seconds):
    """Seconds of processor time for each second, over that time from now on; all threads that live at its end."""
    start, before = time.monotonic(), on_cpu(process)
    time.sleep(seconds)
    after, end = on_cpu(process), time.monotonic()
    return sum(spent - before.get(thread, 0) for thread, spent in after.items()) / 1e9 / (end - start)


def pss_mib(process):
    """Memory with shared pages split among those who share them; 0 where the process has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0)


class Memory:
    """The highest memory of a process, looked at twice a second on a thread of its own from now until `stop`."""

    def __init__(self, process):
        self.peak_mib, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(process,), daemon=True)
        self._thread.start()

    def stop(self):
        self._over.set()
        self._thread.join()

    def _watch(self, process):
        while True:
            self.peak_mib = max(self.peak_mib, pss_mib(process))
            if self._over.wait(0.5):
                return
