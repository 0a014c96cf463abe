"""What is spoken in the measured calls: one WAV for all callers, and the same speech as Opus packets for the answerer."""

import ctypes
import subprocess

import speech

WORDS = (
    "Every morning around eight the ferry leaves from the old harbour, and returns again after an hour or so. "
    "Anybody may bring a bicycle along, as long as another one can still be loaded. "
    "On other days a smaller boat goes over the river instead, and whoever is late has to walk along the shore."
)
SECONDS = 12  # more than any caller needs from its start to the end of the measuring
MICROPHONE_SECONDS = 6.5  # what talkpost's simulated microphone, which keeps it all in memory, needs of that
PACKET = speech.RATE // 50  # samples in 20 ms
START_DBFS = -30  # the first frame is at least as loud, so that the first packet can be heard

# opus_defines.h
APPLICATION_VOIP = 2048
SETTINGS = {
    4002: 32_000,  # OPUS_SET_BITRATE
    4010: 5,  # OPUS_SET_COMPLEXITY
    4012: 1,  # OPUS_SET_INBAND_FEC
    4014: 10,  # OPUS_SET_PACKET_LOSS_PERC
    4024: 3001,  # OPUS_SET_SIGNAL: voice
}


class Voice:
    """In a folder: `wav` and `packets`, both SECONDS long, `microphone`, the beginning of it, and a WAV of `silence`."""

    def __init__(self, folder):
        raw, whole = folder / "said.wav", folder / "whole.wav"
        self.wav, self.packets = folder / "speech.wav", folder / "speech.packets"
        self.microphone, self.silence = folder / "microphone.wav", folder / "silence.wav"
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", raw, WORDS], check=True)
        shape = ["-r", str(speech.RATE), "-c", "1", "-b", "16"]
        subprocess.run(["sox", raw, *shape, whole, "gain", "-n", "-6"], check=True)
        samples = speech.read_wav(whole)
        start = int((speech.levels(samples) > START_DBFS).argmax()) * speech.FRAME
        samples = samples[start : start + SECONDS * speech.RATE]
        if len(samples) < SECONDS * speech.RATE:
            raise speech.SpeechError(f"{whole}: shorter than {SECONDS} s; the words must be more")
        speech.write_wav(self.wav, samples)
        speech.write_wav(self.microphone, samples[: int(MICROPHONE_SECONDS * speech.RATE)])
        speech.write_wav(self.silence, [0] * speech.RATE)
        self.packets.write_bytes(_encoded((samples * 32_767).astype("<i2").tobytes()))


def _encoded(pcm):
    """Opus packets of 20 ms, each after its length in two bytes."""
    opus = ctypes.CDLL("libopus.so.0")
    opus.opus_encoder_create.restype = ctypes.c_void_p
    code = ctypes.c_int()
    encoder = ctypes.c_void_p(opus.opus_encoder_create(speech.RATE, 1, APPLICATION_VOIP, ctypes.byref(code)))
    if code.value:
        raise OSError(f"opus_encoder_create: {code.value}")
    for request, value in SETTINGS.items():
        opus.opus_encoder_ctl(encoder, request, ctypes.c_int(value))
    packets, packet = bytearray(), ctypes.create_string_buffer(1276)
    for start in range(0, len(pcm), 2 * PACKET):
        size = opus.opus_encode(encoder, pcm[start : start + 2 * PACKET], PACKET, packet, len(packet))
        if size < 0:
            raise OSError(f"opus_encode: {size}")
        packets += size.to_bytes(2, "big") + packet.raw[:size]
    opus.opus_encoder_destroy(encoder)
    return packets
