"""What is laid over the machine's disk: the appliance as built for Debian 13, its unit and config, and the lab's hands."""

import fcntl
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from box import BASE, CONFIG, UNIT, config_text

PROJECT = Path(__file__).resolve().parent.parent.parent
LAB = PROJECT / "Tests" / "Lab"
DEVICE = PROJECT / "Tests" / "Device"  # how a command is run in the Debian 13 root, and where that root is

BUILD = """
set -e
release=$(Tests/Support/release talkpost)
mkdir -p /scratch/lab
strip -o /scratch/lab/talkpost "$release/talkpost"
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -static -o /scratch/lab/hands Tests/Lab/hands.c
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -o /scratch/lab/ear Tests/Lab/ear.c -lasound
"""
# Where the files of config/ belong on a box, as each of them says.
PLACES = {
    "talkpost.service": "usr/lib/systemd/system/talkpost.service",
    "talkpost.rules": "usr/lib/udev/rules.d/60-talkpost.rules",
    "talkpost.sysusers": "usr/lib/sysusers.d/talkpost.conf",
    "talkpost.tmpfiles": "usr/lib/tmpfiles.d/talkpost.conf",
    "talkpost.catalog": "usr/lib/systemd/catalog/talkpost.catalog",
    "talkpost-watchdog.conf": "usr/lib/systemd/system.conf.d/talkpost.conf",
}


class NotBuilt(Exception):
    """The appliance could not be built for Debian 13. The message says where the reason stands."""


def machine():
    """The folder with kernel, initrd and disk, made if it is not there yet."""
    done = subprocess.run([LAB / "machine" / "make"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise NotBuilt("The lab's machine could not be made; the reason stands above.")
    place = Path(done.stdout.strip().splitlines()[-1])
    # While this process runs, no other run's newer machine clears this one away.
    fcntl.flock(os.open(place / "lock", os.O_RDONLY), fcntl.LOCK_SH)
    return place


def build():
    """Builds in the Debian 13 root and returns the folder with `talkpost`, `hands` and `ear`."""
    done = subprocess.run([DEVICE / "run", "sh", "-c", BUILD])
    if done.returncode:
        raise NotBuilt("The appliance could not be built for Debian 13; the reason stands above.")
    root = subprocess.run([DEVICE / "root"], stdout=subprocess.PIPE, text=True, check=True)
    return Path(root.stdout.strip()) / "build" / "lab"


def pack(binaries, path):
    """Writes the tar archive that the initrd unpacks."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        _add(archive, binaries / "talkpost", "usr/bin/talkpost", 0o755)
        for name in ("hands", "ear"):
            _add(archive, binaries / name, f"usr/local/sbin/{name}", 0o755)
        for name, place in PLACES.items():
            _add(archive, PROJECT / "config" / name, place, 0o644)
        for file in sorted((LAB / "files").rglob("*")):
            if file.is_symlink():
                entry = tarfile.TarInfo(str(file.relative_to(LAB / "files")))
                entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(file)
                archive.addfile(entry)
            elif file.is_file():
                mode = 0o755 if os.access(file, os.X_OK) else 0o644
                _add(archive, file, str(file.relative_to(LAB / "files")), mode)
        enable(archive, UNIT, config_text(BASE))


def enable(archive, unit, text):
    """Starts a unit at boot, and gives the appliance the config that a case then differs from."""
    entry = tarfile.TarInfo(f"etc/systemd/system/multi-user.target.wants/{unit}")
    entry.type, entry.linkname = tarfile.SYMTYPE, f"/usr/lib/systemd/system/{unit}"
    archive.addfile(entry)
    _put(archive, text.encode(), CONFIG.lstrip("/"), 0o644)


def clear(folder):
    """Empties a folder of what an earlier run left there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _add(archive, file, name, mode):
    _put(archive, file.read_bytes(), name, mode)


def _put(archive, content, name, mode):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
