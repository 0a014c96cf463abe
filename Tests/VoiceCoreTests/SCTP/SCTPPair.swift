import Testing

@testable import Support
@testable import VoiceCore

/// Two associations on a seeded line in virtual time, which loses, delays, reorders and repeats packets.
final class SCTPPair {
    struct Line {
        var delay: Duration = .milliseconds(10)
        /// Each packet is late by up to this much more, which reorders them.
        var jitter: Duration = .zero
        var loss = 0.0
        var duplication = 0.0
    }

    private struct Flight {
        var at: Instant
        var order: Int
        var to: Int
        var bytes: [UInt8]
    }

    var line = Line()
    var sides: [SCTPAssociation]
    private(set) var events: [[SCTPEvent]] = [[], []]
    private(set) var messages: [[SCTPMessage]] = [[], []]
    /// When each packet left, by side.
    private(set) var sentAt: [[Instant]] = [[], []]
    private(set) var sent: [[[UInt8]]] = [[], []]
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// Sees every packet before it leaves; nil loses it.
    var tamper: ((_ bytes: [UInt8], _ side: Int) -> [UInt8]?)?
    let largestPacket: Int
    private var flights: [Flight] = []
    private var order = 0
    private var entropy: Entropy

    init(seed: UInt64 = 1, largestPacket: Int = 1_160, largestMessage: Int = 1_048_576) {
        self.largestPacket = largestPacket
        entropy = .seeded(seed)
        sides = [0, 1].map { (side: UInt64) in
            SCTPAssociation(
                localPort: 5_000, remotePort: 5_000, largestPacket: largestPacket, largestMessage: largestMessage,
                roundTrip: .milliseconds(20), entropy: .seeded(seed &* 31 &+ side))
        }
    }

    /// Both begin at once, as over DTLS, and wait for each other.
    func connect() -> Bool {
        for side in 0...1 { sides[side].start(at: now) }
        flush()
        return run(until: { self.sides.allSatisfy { $0.phase == .established } }, within: .seconds(30))
    }

    func send(_ bytes: [UInt8], from side: Int, stream: UInt16 = 0, unordered: Bool = false) throws {
        try sides[side].send(
            SCTPMessage(stream: stream, protocolID: 53, isUnordered: unordered, bytes: bytes))
        flush()
    }

    /// Hands `bytes` over as if they came from the line.
    func deliver(_ bytes: [UInt8], to side: Int) {
        bytes.withUnsafeBytes { sides[side].receive($0, at: now) }
        flush()
    }

    func flush() {
        for side in 0...1 {
            var buffer = [UInt8](repeating: 0, count: largestPacket)
            while let count = buffer.withUnsafeMutableBytes({ sides[side].nextPacket(into: $0, at: now) }) {
                precondition(count <= largestPacket && count % 4 == 0)
                transmit(Array(buffer[..<count]), from: side)
            }
            while let event = sides[side].nextEvent() {
                if case .message(let message) = event {
                    messages[side].append(message)
                } else {
                    events[side].append(event)
                }
            }
        }
    }

    private func transmit(_ bytes: [UInt8], from side: Int) {
        sentAt[side].append(now)
        sent[side].append(bytes)
        guard let bytes = tamper.map({ $0(bytes, side) }) ?? bytes else { return }
        var copies = 1
        if Double.random(in: 0..<1, using: &entropy) < line.loss { copies = 0 }
        if Double.random(in: 0..<1, using: &entropy) < line.duplication { copies += 1 }
        for _ in 0..<copies {
            let late = Int64.random(in: 0...line.jitter.wholeNanoseconds, using: &entropy)
            let flight = Flight(at: now + line.delay + .nanoseconds(late), order: order, to: 1 - side, bytes: bytes)
            order += 1
            let place = flights.lastIndex { ($0.at, $0.order) < (flight.at, flight.order) }.map { $0 + 1 } ?? 0
            flights.insert(flight, at: place)
        }
    }

    func run(_ duration: Duration) {
        run(until: { false }, within: duration)
    }

    @discardableResult
    func run(until condition: () -> Bool, within limit: Duration) -> Bool {
        let end = now + limit
        while !condition() {
            let times = sides.compactMap(\.deadline) + (flights.first.map { [$0.at] } ?? [])
            guard let next = times.min(), next <= end else {
                now = end
                return condition()
            }
            now = max(now, next)
            while let flight = flights.first, flight.at <= now {
                flights.removeFirst()
                flight.bytes.withUnsafeBytes { sides[flight.to].receive($0, at: now) }
                flush()
            }
            for side in 0...1 {
                if let deadline = sides[side].deadline, deadline <= now { sides[side].handleTimeout(at: now) }
            }
            flush()
        }
        return true
    }

    /// Bytes that tell where they stand.
    static func bytes(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8) ^ seed) }
    }
}

/// Packets made by hand, as a peer out of its mind would send them.
enum HandMade {
    static func packet(
        tag: UInt32, source: UInt16 = 5_000, destination: UInt16 = 5_000,
        _ chunks: [(type: UInt8, flags: UInt8, value: [UInt8])]
    ) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        let count = buffer.withUnsafeMutableBytes { buffer -> Int? in
            var writer = SCTPPacketWriter(
                buffer,
                header: SCTPHeader(sourcePort: source, destinationPort: destination, verificationTag: tag))
            for chunk in chunks { writer.chunk(chunk.type, flags: chunk.flags) { $0.bytes(chunk.value) } }
            return writer.finish()
        }
        return Array(buffer[..<(count ?? 0)])
    }

    static func data(
        _ tsn: UInt32, stream: UInt16 = 0, sequence: UInt16 = 0, flags: UInt8 = 3, _ payload: [UInt8]
    ) -> (type: UInt8, flags: UInt8, value: [UInt8]) {
        (SCTPChunkType.data, flags, big(tsn) + big(stream) + big(sequence) + big(UInt32(53)) + payload)
    }

    static func sack(
        _ cumulative: UInt32, window: UInt32 = 1_000_000, gaps: [(UInt16, UInt16)] = []
    ) -> (type: UInt8, flags: UInt8, value: [UInt8]) {
        let head: [UInt8] = big(cumulative) + big(window) + big(UInt16(gaps.count)) + big(UInt16(0))
        return (SCTPChunkType.sack, 0, head + gaps.flatMap { big($0.0) + big($0.1) })
    }

    static func initiation(
        tag: UInt32, window: UInt32 = 100_000, outbound: UInt16 = 10, inbound: UInt16 = 10, tsn: UInt32 = 1,
        parameters: [UInt8] = []
    ) -> (type: UInt8, flags: UInt8, value: [UInt8]) {
        let numbers: [UInt8] = big(tag) + big(window) + big(outbound) + big(inbound)
        return (SCTPChunkType.initiation, 0, numbers + big(tsn) + parameters)
    }

    static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian, Array.init)
    }

    /// The types of a packet's chunks, and the chunk of one type.
    static func types(_ packet: [UInt8]) -> [UInt8] {
        chunks(packet).map(\.type)
    }

    static func chunks(_ packet: [UInt8]) -> [(type: UInt8, flags: UInt8, value: [UInt8])] {
        packet.withUnsafeBytes { bytes in
            var chunks: [(type: UInt8, flags: UInt8, value: [UInt8])] = []
            guard var reader = try? SCTPPacketReader(bytes) else { return [] }
            while let chunk = try? reader.next() { chunks.append((chunk.type, chunk.flags, Array(chunk.value))) }
            return chunks
        }
    }
}
