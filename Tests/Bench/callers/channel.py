"""1 MiB of messages each way on a data channel: libwebrtc sends it, whoever answers sends it back.

Prints one JSON line: seconds from the first send to the last message back, for each round.
"""

import argparse
import asyncio
import json
import time
import urllib.request

from webrtc.aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from webrtc.aiortc.mediastreams import AudioStreamTrack

COUNT, SIZE = 64, 16_384  # 1 MiB

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--url", required=True)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--limit", type=float, default=60, help="seconds for a round")
options = parser.parse_args()


def post(url, content):
    request = urllib.request.Request(url, json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


async def main():
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.addTrack(AudioStreamTrack())
    channel = connection.createDataChannel("events")
    is_open, is_back, back = asyncio.Event(), asyncio.Event(), []

    def received(message):
        if len(message) != SIZE:
            return  # a greeting
        back.append(message)
        if len(back) == COUNT:
            is_back.set()

    channel.on("open", is_open.set)
    channel.on("message", received)
    await connection.setLocalDescription(await connection.createOffer())
    answer = await asyncio.to_thread(post, options.url, {"sdp": connection.localDescription.sdp})
    await connection.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
    if not is_open.is_set():
        await asyncio.wait_for(is_open.wait(), 30)
    seconds = []
    for number in range(options.rounds):
        words = [f"{number:04}{index:04}".ljust(SIZE, "x") for index in range(COUNT)]
        back.clear()
        is_back.clear()
        begun = time.monotonic()
        for word in words:
            channel.send(word)
        await asyncio.wait_for(is_back.wait(), options.limit)
        seconds.append(round(time.monotonic() - begun, 4))
        if back != words:
            raise SystemExit("what came back is not what was sent")
    print(json.dumps({"event": "rounds", "at": round(time.monotonic(), 4), "seconds": seconds}), flush=True)
    await connection.close()


asyncio.run(main())
