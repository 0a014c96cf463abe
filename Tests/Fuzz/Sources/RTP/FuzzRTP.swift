@testable import VoiceCore

/// Reads the input as a row of packets, each after two bytes of length, and hands what is RTP to the receivers' statistics.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTP(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var reader = ByteReader(UnsafeRawBufferPointer(start: bytes, count: count))
    var receivers = RTPReceivers()
    var now = Instant(nanoseconds: 0)
    while let length = try? reader.uint16(), let packet = try? reader.slice(min(Int(length), reader.remaining)) {
        guard let header = try? RTPHeader(parsing: packet) else { continue }
        precondition(header.payload.lowerBound >= 12 && header.payload.upperBound <= packet.count)
        _ = receivers.receive(header, at: now)
        if header.marker { _ = receivers.reportBlock(at: now) }
        now = now + .milliseconds(Int64(header.timestamp & 0xFFF))
    }
    return 0
}
