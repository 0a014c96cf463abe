"""aiortc, or wrtc (libwebrtc) through its module of the same interface, as answerer and as offerer."""

import asyncio
import fractions
import time

import av
from contract import RATE, Dialogue, Echoes, Recording, Routes, Stopped, arguments, event, post, spoken, stop_on_sigterm

PACKET = RATE // 50  # samples in 20 ms
NOTICE = 12  # seconds an offerer waits to see its voice closed by the other side

options = arguments(__doc__, library={"choices": ["aiortc", "wrtc"], "default": "aiortc"})
if options.library == "wrtc":
    from webrtc.aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
    from webrtc.aiortc.mediastreams import AudioStreamTrack, MediaStreamError
else:
    from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
    from aiortc.mediastreams import AudioStreamTrack, MediaStreamError


class Speech(AudioStreamTrack):
    """Silence, then the WAV from `begin()` on, then silence; paced by the clock."""

    def __init__(self):
        super().__init__()
        self._speech, self._place, self._sent, self._start = spoken(options.speak), None, 0, None
        self.is_muted = False

    def begin(self):
        self._place = 0

    async def recv(self):
        if self.readyState != "live":
            raise MediaStreamError
        if self._start is None:
            self._start = time.monotonic()
        wait = self._start + self._sent / RATE - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        samples = b""
        if self._place is not None:
            samples = self._speech[2 * self._place : 2 * (self._place + PACKET)]
            self._place += PACKET
        if self.is_muted:
            samples = b""
        frame = av.AudioFrame(format="s16", layout="mono", samples=PACKET)
        frame.planes[0].update(samples.ljust(2 * PACKET, b"\0"))
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, fractions.Fraction(1, RATE)
        self._sent += PACKET
        return frame


class Call:
    """One peer connection and what it hears, from its making to its end."""

    def __init__(self, voice):
        self.voice, self.speech, self.recording = voice, Speech(), Recording(options.record, voice)
        # Without a list of its own aiortc asks a public STUN server and waits five seconds for it.
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connected, self.closed = asyncio.Event(), asyncio.Event()
        self.connection.on("connectionstatechange", self._state_changed)
        self.connection.on("datachannel", self._answer_channel)
        self.connection.on("track", lambda track: asyncio.ensure_future(self._listen(track)))

    async def answer(self, offer):
        await self.connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        self.connection.addTrack(self.speech)
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        self._watch_transport()
        return self.connection.localDescription.sdp

    async def offer(self):
        self.connection.addTrack(self.speech)
        channel = self.connection.createDataChannel("events")
        echoes = Echoes(self.voice, channel.send)
        channel.on("open", lambda: echoes.opened(channel.label))
        channel.on("message", echoes.received)
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    def _answer_channel(self, channel):
        channel.on("message", Dialogue(self.voice, channel.label, channel.send).received)

    async def accept(self, answer):
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        self._watch_transport()

    async def end(self):
        await self.connection.close()
        self.recording.write()

    def _watch_transport(self):
        transport = self.connection.getSenders()[0].transport

        def changed():
            if transport.state == "closed":
                self._seen_closed("DTLS close_notify")

        if transport is not None:
            transport.on("statechange", changed)

    def _state_changed(self):
        state = self.connection.connectionState
        event("state", voice=self.voice, state=state)
        if state == "connected" and not self.connected.is_set():
            self.connected.set()
            self.speech.begin()
        if state in ("disconnected", "failed", "closed"):
            self._seen_closed(f"connection {state}")

    def _seen_closed(self, by):
        if self.connected.is_set() and not self.closed.is_set():
            self.closed.set()
            event("closed", voice=self.voice, by=by)

    async def _listen(self, track):
        first = None
        try:
            while True:
                frame = await track.recv()
                if first is None:
                    first = frame.pts
                channels = len(frame.layout.channels)
                interleaved = memoryview(bytes(frame.planes[0]))
                samples = interleaved.cast("h")[: frame.samples * channels : channels].tobytes()
                self.recording.append(samples, at=frame.pts - first)
        except MediaStreamError:
            self._seen_closed("RTCP BYE")


async def answering():
    loop, calls = asyncio.get_running_loop(), []

    async def begin(voice, offer):
        call = Call(voice)
        calls.append(call)
        return await call.answer(offer)

    def wait_for_answer(voice, offer):
        return asyncio.run_coroutine_threadsafe(begin(voice, offer), loop).result(20)

    Routes(options.port, wait_for_answer, address=options.address)
    event("listening")
    ended = set()
    try:
        while True:
            await asyncio.sleep(0.05)
            for call in calls:
                if call.closed.is_set() and call not in ended:
                    ended.add(call)
                    await call.end()
    finally:
        for call in calls:
            call.recording.write()


async def offering():
    for number in range(1, options.calls + 1):
        voice = str(number)
        event("voice", voice=voice)
        call = Call(voice)
        try:
            started = await asyncio.to_thread(post, options.url, {"sdp": await call.offer()})
            await call.accept(started["sdp"])
            await asyncio.wait_for(call.connected.wait(), 15)
            await asyncio.sleep(options.mute_after)
            call.speech.is_muted = True
            event("muted", voice=voice)
            await asyncio.sleep(options.talk - options.mute_after)
            await asyncio.to_thread(post, f"{options.url}/{started['id']}/close", {})
            event("hung_up", voice=voice)
            if options.closing == "hang_up":
                await asyncio.wait_for(call.closed.wait(), NOTICE)
        except (asyncio.TimeoutError, OSError, KeyError) as error:
            event("failed", voice=voice, why=f"{type(error).__name__}: {error}")
        await call.end()


if __name__ == "__main__":
    stop_on_sigterm()
    try:
        asyncio.run(answering() if options.role == "answer" else offering())
    except Stopped:
        pass
