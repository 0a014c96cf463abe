@testable import VoiceCore

/// Reads any bytes as a compound RTCP packet, every part and every block of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTCP(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var reader = RTCPReader(UnsafeRawBufferPointer(start: bytes, count: count))
    var sum: UInt32 = 0
    do {
        while let part = try reader.next() {
            switch part {
            case .senderReport(let ssrc, let info, let blocks):
                sum &+= ssrc &+ info.rtpTimestamp
                for block in blocks { sum &+= block.jitter }
            case .receiverReport(let ssrc, let blocks):
                sum &+= ssrc
                for block in blocks { sum &+= UInt32(bitPattern: block.cumulativeLost) }
            case .goodbye(let sources):
                for source in sources { sum &+= source }
            case .feedback(_, _, let ssrc): sum &+= ssrc
            case .sourceDescription, .unknown: break
            }
        }
    } catch {}
    seen = sum
    return 0
}

/// Keeps what was read from being optimised away. libFuzzer calls from one thread only.
nonisolated(unsafe) public var seen: UInt32 = 0
