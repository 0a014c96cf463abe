@testable import VoiceCore

/// Reads any bytes as one packet; then as a row of events for live data channels and their peer, which answer each other.
///
/// An event is a byte of flags, a byte of length and as many bytes of chunks. The flags have it sent to either side with tag and
/// checksum as a peer would give them, let the two sides exchange what they have, lose it, and let time pass.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSCTP(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    if var reader = try? SCTPPacketReader(input) {
        while let chunk = try? reader.next() { _ = try? SCTPInitChunk(chunk) }
    }
    _ = DCEPMessage(Array(input))

    var line = Line(isEstablished: count & 1 == 0)
    var reader = ByteReader(input)
    while let flags = try? reader.uint8(), let length = try? reader.uint8(),
        let chunks = try? reader.slice(min(4 * Int(length), reader.remaining))
    {
        line.play(flags, chunks)
    }
    return 0
}

/// Two associations with one channel.
private struct Line {
    private var sides: [SCTPAssociation] = []
    private var now = Instant(nanoseconds: 0)
    private var waiting: [(to: Int, bytes: [UInt8])] = []

    init(isEstablished: Bool) {
        for side in UInt64(0)...1 {
            var word = side
            // libFuzzer calls from one thread only.
            nonisolated(unsafe) let next = { () -> UInt64 in
                word &+= 0x9E37_79B9_7F4A_7C15
                return word
            }
            sides.append(
                SCTPAssociation(
                    localPort: 5_000, remotePort: 5_000, largestPacket: 1_160, largestMessage: 20_000, roundTrip: nil,
                    entropy: Entropy { next() }))
        }
        try? sides[0].send(SCTPMessage(stream: 0, protocolID: 51, bytes: [UInt8](repeating: 1, count: 5_000)))
        sides[0].start(at: now)
        if isEstablished {
            for _ in 0..<6 { exchange(losing: false) }
        }
    }

    mutating func play(_ flags: UInt8, _ chunks: UnsafeRawBufferPointer) {
        let side = Int(flags & 1)
        now = now + .milliseconds(Int64(flags >> 5) * 200)
        switch flags >> 1 & 3 {
        case 0: exchange(losing: false)
        case 1: exchange(losing: true)
        default:
            var packet = [UInt8](repeating: 0, count: 12) + chunks
            if chunks.first == SCTPChunkType.initiation {
                write(0, at: 4, into: &packet)
            } else {
                write(sides[side].localTag, at: 4, into: &packet)
            }
            packet[0] = 0x13
            packet[1] = 0x88
            packet[2] = 0x13
            packet[3] = 0x88
            write(packet.withUnsafeBytes { SCTPPacketReader.checksum(of: $0) }, at: 8, into: &packet)
            packet.withUnsafeBytes { sides[side].receive($0, at: now) }
        }
        if flags & 8 != 0 { sides[side].reset(UInt16(flags >> 5)) }
        if flags & 16 != 0 {
            try? sides[side].send(SCTPMessage(stream: UInt16(flags >> 6), protocolID: 53, bytes: [1, 2, 3]))
        }
        if flags == 0xFF { sides[side].shutdown(at: now) }
        for side in 0...1 {
            if let deadline = sides[side].deadline, deadline <= now { sides[side].handleTimeout(at: now) }
        }
        drain()
    }

    private func write(_ value: UInt32, at offset: Int, into packet: inout [UInt8]) {
        for index in 0..<4 { packet[offset + index] = UInt8(value >> UInt32(24 - 8 * index) & 0xFF) }
    }

    private mutating func exchange(losing: Bool) {
        drain()
        let flights = waiting
        waiting = []
        for (index, flight) in flights.enumerated() where !losing || index % 3 != 0 {
            flight.bytes.withUnsafeBytes { sides[flight.to].receive($0, at: now) }
        }
        drain()
    }

    private mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: 1_160)
        for side in 0...1 {
            while let count = buffer.withUnsafeMutableBytes({ sides[side].nextPacket(into: $0, at: now) }) {
                guard (try? buffer[..<count].withUnsafeBytes({ try SCTPPacketReader($0) })) != nil else {
                    fatalError("the association sends what it cannot read")
                }
                if waiting.count < 256 { waiting.append((1 - side, Array(buffer[..<count]))) }
            }
            while sides[side].nextEvent() != nil {}
            precondition(sides[side].reassembly.heldByteCount <= SCTPAssociation.receiveCapacity + 20_000)
        }
    }
}
