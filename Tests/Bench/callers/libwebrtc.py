"""One call of libwebrtc (wrtc from PyPI), with as little Python in it as its interface allows: 20 ms of speech handed over
at a time by a thread, and what is heard looked at up to the first sound only. Its encoder cannot be set.
"""

import asyncio
import threading
import time
import wave

import webrtc
import wrtc
from caller import Caller, Stopped, event

PACKET = 960  # samples in 20 ms


def speak(path, microphone):
    """Hands the WAV over at its pace."""
    with wave.open(path) as file:
        packets = [file.readframes(PACKET) for _ in range(file.getnframes() // PACKET)]
    start = time.monotonic()
    for index, packet in enumerate(packets):
        time.sleep(max(0, start + index * 0.02 - time.monotonic()))
        microphone.writeAudio(packet, 48_000, 1, PACKET)


FORMAT = webrtc.AudioDataCopyToOptions(plane_index=0, format="s16")


async def listen(track, caller):
    processor = webrtc.MediaStreamTrackProcessor(webrtc.MediaStreamTrackProcessorInit(track))
    reader, is_over = processor.readable.get_reader(), False
    while not is_over:
        read = await reader.read()
        if read.done:
            return
        samples = bytearray(read.value.allocation_size(FORMAT))
        read.value.copy_to(samples, FORMAT)
        is_over = caller.hears(samples)
    await reader.cancel()


async def call(caller):
    connection = webrtc.RTCPeerConnection(webrtc.RTCConfiguration(ice_servers=[]))
    gathered, over = asyncio.Event(), asyncio.get_running_loop().create_future()
    microphone = webrtc.MediaStreamTrackGenerator("audio")

    def state_changed(_):
        event("state", state=str(connection.connection_state))
        if connection.connection_state == "connected":
            arguments = (caller.speech, microphone._generator)
            threading.Thread(target=speak, args=arguments, daemon=True).start()

    def gathering_changed(_):
        if connection.ice_gathering_state == "complete":
            gathered.set()

    connection.on("connectionstatechange", state_changed)
    connection.on("icegatheringstatechange", gathering_changed)
    connection.on("track", lambda happened: asyncio.ensure_future(listen(happened.track, caller)))
    connection.add_track(microphone)
    connection.create_data_channel("events")
    await connection.set_local_description(await connection.create_offer())
    await gathered.wait()
    answer = caller.post(connection.local_description.sdp)
    await connection.set_remote_description(webrtc.RTCSessionDescription("answer", answer))
    try:
        await over
    except Stopped:
        connection.close()
        raise


if __name__ == "__main__":
    wrtc.PeerConnectionFactory.getOrCreateDefault()  # its threads, which an application starts once
    caller = Caller(__doc__)
    caller.run(lambda: asyncio.run(call(caller)))
