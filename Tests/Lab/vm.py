"""The virtual machine: how QEMU is started, told to do things to the hardware, and ended."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from agent import Agent
from qmp import QMP, QMPError
from tap import TAP

QEMU = "qemu-system-x86_64"
# Two emulated processors now and then trip over code that one of them is patching at boot: then it boots again.
KERNEL = (
    "console=ttyS0", "quiet", "panic=-1", "oops=panic", "nokaslr", "mitigations=off", "apparmor=0",
    "systemd.show_status=no", "systemd.firstboot=off",
)
# Seconds that a boot may take in plain emulation, at the first try and at the second, for a kernel that stands still instead of panicking;
# a quiet host takes 20 to 30, a busy one a minute.
BOOTS = (100, 240)


class NoMachine(Exception):
    """No virtual machine can be had here. The message is the sentence that the run ends with."""


class VirtualMachine:
    """One run of QEMU in a network namespace. `folder` takes its sockets, its serial log and what is shared with it."""

    def __init__(self, machine, payload, network, folder):
        self._machine, self._payload, self._network, self._folder = machine, payload, network, folder
        self.shared = folder / "shared"
        self._process, self.agent, self.qmp, self.is_emulated = None, None, None, True
        self.boot_seconds = None

    def start(self):
        """Boots, with the processor's own virtualisation where that really works, else in plain emulation."""
        if shutil.which(QEMU) is None:
            raise NoMachine(f"No virtual machine can start here: {QEMU} is not installed.")
        why = None
        if os.access("/dev/kvm", os.R_OK | os.W_OK):
            self.is_emulated = False
            why = self._boot("kvm", "host", 40)
            if why is None:
                return
            self.stop()
        self.is_emulated = True
        # Emulated AVX makes sound twice as dear as emulated SSE; emulated AES instructions are cheaper than the lack of them.
        for patience in BOOTS:
            why = self._boot("tcg,thread=multi", "Westmere", patience)
            if why is None:
                return
            self.stop()
        raise NoMachine(f"No virtual machine can start here: {why}")

    def _boot(self, accelerator, processor, patience):
        """Starts QEMU; returns why the machine does not answer, or None once it does."""
        self.shared.mkdir(parents=True, exist_ok=True)
        for stale in ("agent", "qmp"):
            (self._folder / stale).unlink(missing_ok=True)
        started = time.monotonic()
        with open(self._folder / "qemu.log", "w") as log:
            self._process = subprocess.Popen(
                self._network.inside([QEMU, *self._arguments(accelerator, processor)]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._network.favour(self._process.pid)
        self.agent = Agent(self._folder / "agent")
        while time.monotonic() - started < patience:
            if self._process.poll() is not None:
                words = (self._folder / "qemu.log").read_text(errors="replace").strip().splitlines()
                return f"QEMU ended: {words[-1] if words else self._process.returncode}"
            try:
                if self.qmp is None:
                    self.qmp = QMP(self._folder / "qmp")
                # A processor that cannot be virtualised here may leave the machine in an error, with QEMU still there.
                if self.qmp.execute("query-status")["status"] in ("internal-error", "guest-panicked"):
                    return f"the kernel does not run on {accelerator}"
            except (OSError, QMPError):
                time.sleep(0.1)  # not there yet, or at its end: the next turn tells
                continue
            if self.agent.await_ready(2):
                self.boot_seconds = time.monotonic() - started
                return None
        return f"it did not answer within {patience} s ({self._folder / 'serial.log'} says how far it came)"

    def _arguments(self, accelerator, processor):
        folder = self._folder
        return [
            *("-machine", "q35", "-accel", accelerator, "-cpu", processor, "-smp", "2", "-m", "1024"),
            *("-nodefaults", "-no-user-config", "-display", "none", "-serial", f"file:{folder}/serial.log"),
            *("-kernel", f"{self._machine}/vmlinuz", "-initrd", f"{self._machine}/initrd.img"),
            *("-append", " ".join(KERNEL)),
            *("-drive", f"file={self._machine}/disk.ext4,if=virtio,format=raw,readonly=on"),
            *("-drive", f"file={self._payload},if=virtio,format=raw,readonly=on"),
            *("-netdev", f"tap,id=cable,ifname={TAP},script=no,downscript=no"),
            *("-device", "virtio-net-pci,id=net,netdev=cable,romfile=", "-device", "virtio-serial-pci"),
            *("-chardev", f"socket,id=agent,path={folder}/agent,server=on,wait=off"),
            *("-device", "virtserialport,chardev=agent,name=lab", "-device", "virtio-rng-pci"),
            *("-virtfs", f"local,path={self.shared},mount_tag=lab,security_model=none"),
            *("-device", "i6300esb", "-action", "watchdog=reset", "-device", "qemu-xhci,id=usb"),
            *("-audiodev", f"wav,id=card,path={folder}/usb-speaker.wav,out.frequency=48000"),
            *("-qmp", f"unix:{folder}/qmp,server=on,wait=off"),
        ]

    def await_again(self, seconds):
        """Waits for the agent after a reset of the machine; True once it serves."""
        self.agent.close()
        return self.agent.await_ready(seconds)

    def plug_card(self):
        """Plugs a USB sound card in."""
        self.qmp.execute("device_add", driver="usb-audio", id="usbcard", bus="usb.0", audiodev="card")

    def unplug_card(self):
        try:
            self.qmp.execute("device_del", id="usbcard")
        except QMPError:
            pass  # it was not there

    def stop(self):
        """Ends QEMU as pulling the plug would: nothing in the machine is to be kept."""
        if self.agent:
            self.agent.close()
        if self.qmp:
            self.qmp.close()
        self.qmp = None
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def folder_of(path):
    """The folder, made if it was not there."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    return path
