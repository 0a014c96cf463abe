@testable import VoiceCore

/// Reads any bytes as the URL of a STUN or TURN server: it is one, or its mistake is known, and what is used of it is looked up once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServerURL(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let mistake = STUNServerURL.mistake(in: text)
    if let mistake { precondition(!mistake.what.isEmpty && !mistake.cure.isEmpty) }
    guard let url = STUNServerURL(text) else {
        precondition(mistake != nil)
        return 0
    }
    precondition((1...253).contains(url.host.utf8.count) && url.port != 0)
    var names = ServerNames()
    let (hosts, ready) = names.add([ICEServer(urls: [text], username: "u", credential: "p")])
    precondition(hosts.count + ready.count == 1)
    for host in hosts {
        precondition(names.found(host, [.v4(0x0A00_0001)], hasProxy: false).count == 1)
        precondition(names.pending.isEmpty)
    }
    return 0
}
