@testable import Support
@testable import VoiceCore

/// A packet on its way: when it arrives, and what it carries.
struct PlayoutArrival {
    var milliseconds: Double
    var ssrc: UInt32 = 1
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var payload: [UInt8]
}

/// What a playout gave, frame by frame.
struct PlayoutHeard {
    var pcm: [Int16] = []
    var kinds: [PlayoutKind] = []
    /// Delay after each frame.
    var delays: [Double] = []
    var statistics = PlayoutStatistics()

    func count(_ kind: PlayoutKind) -> Int { kinds.filter { $0 == kind }.count }

    /// How much later than in `pcm` its last second is in what was heard, where it is the same to the bit; nil where it is not.
    func lagOfTheEnd(in pcm: [Int16]) -> Int? {
        let end = Array(self.pcm.suffix(48_000))
        let start = self.pcm.count - 48_000
        for lag in 0..<start where start - lag + end.count <= pcm.count {
            if pcm[start - lag] == end[0], pcm[(start - lag)..<(start - lag + 48_000)].elementsEqual(end) { return lag }
        }
        return nil
    }

    /// From the first frame that is no silence.
    var sound: ArraySlice<Int16> {
        let start = kinds.firstIndex { $0 != .silence } ?? kinds.count
        return pcm[(start * 480)...]
    }
}

/// Suites that play packets in virtual time.
protocol PlayoutBench {}

extension PlayoutBench {
    /// Plays in virtual time: packets are inserted as they arrive, a frame is pulled every 10 ms from 3 ms on.
    func play(
        _ arrivals: [PlayoutArrival], seconds: Double, flushAt: Double? = nil, phase: Double = 3,
        patience: Playout.Patience = .short
    ) throws -> PlayoutHeard {
        var playout = try Playout(patience: patience)
        var heard = PlayoutHeard()
        let waiting = arrivals.enumerated().sorted {
            ($0.element.milliseconds, $0.offset) < ($1.element.milliseconds, $1.offset)
        }
        var next = 0
        var frame = [Int16](repeating: 0, count: 480)
        for index in 0..<Int(seconds * 100) {
            let now = phase + Double(index) * 10
            while next < waiting.count, waiting[next].element.milliseconds <= now {
                let packet = waiting[next].element
                packet.payload.withUnsafeBytes {
                    playout.insert(
                        payload: $0, ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber,
                        timestamp: packet.timestamp, arrivedAt: instant(packet.milliseconds))
                }
                next += 1
            }
            if let flushAt, flushAt >= now, flushAt < now + 10 { playout.flush() }
            heard.kinds.append(frame.withUnsafeMutableBufferPointer { playout.next(into: $0, at: instant(now)) })
            heard.pcm += frame
            heard.delays.append(playout.statistics.delay.inSeconds * 1000)
        }
        heard.statistics = playout.statistics
        return heard
    }

    func instant(_ milliseconds: Double) -> Instant {
        Instant(nanoseconds: 5_000_000_000 + Int64(milliseconds * 1e6))
    }

    /// Packets one after the other, sent at their time and arriving 50 ms later.
    func stream(
        _ payloads: [[UInt8]], sampleCount: Int = 960, sequenceNumber: UInt16 = 65_500, timestamp: UInt32 = 0xFFFF_0000,
        ssrc: UInt32 = 1, at milliseconds: Double = 0, delay: (Int) -> Double = { _ in 0 }
    ) -> [PlayoutArrival] {
        payloads.enumerated().map { index, payload in
            PlayoutArrival(
                milliseconds: milliseconds + 50 + Double(index * sampleCount) / 48 + delay(index), ssrc: ssrc,
                sequenceNumber: sequenceNumber &+ UInt16(truncatingIfNeeded: index),
                timestamp: timestamp &+ UInt32(truncatingIfNeeded: index * sampleCount), payload: payload)
        }
    }
}
