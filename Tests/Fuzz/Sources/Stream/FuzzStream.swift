@testable import VoiceCore

/// Feeds the input piece by piece to what reads streams: datagrams with their length before them, a TURN server's stream, and an HTTP
/// proxy's answer. The first byte of each piece says how long it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStream(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    for kind in [FrameReader.Kind.lengthBefore, .turn] { cut(input, kind) }
    ask(input)
    return 0
}

/// libFuzzer calls from one thread only.
nonisolated(unsafe) private let scratch = Scratch()

private func cut(_ input: UnsafeRawBufferPointer, _ kind: FrameReader.Kind) {
    var frames = FrameReader(kind)
    var reader = ByteReader(input)
    do {
        while let piece = piece(&reader) {
            frames.add(piece)
            while let byteCount = try frames.next(into: scratch.bytes) {
                precondition(byteCount <= FrameReader.largest)
            }
        }
    } catch {
        // Of another protocol: nothing more is read.
    }
}

private func ask(_ input: UnsafeRawBufferPointer) {
    var proxy = ProxyHandshake(host: "relay.example", port: 443, credential: "talk:secret")
    var reader = ByteReader(input)
    while let piece = piece(&reader) {
        switch proxy.receive(piece) {
        case .waiting: continue
        case .established(let rest): precondition((0...piece.count).contains(rest))
        case .refused: break
        }
        return
    }
}

private func piece(_ reader: inout ByteReader) -> UnsafeRawBufferPointer? {
    guard let length = try? reader.uint8() else { return nil }
    return try? reader.slice(min(Int(length) * 8 + 1, reader.remaining))
}
