import VoiceCore

@testable import Parsers

/// Reads any bytes as a Link header and as a JSON list of servers, and judges what is found.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLink(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    judge(BackendICEServer.read(links: [String(decoding: input, as: UTF8.self)]))
    if let value = JSONValue(reading: input) { judge(BackendICEServer.read(value)) }
    return 0
}

private func judge(_ servers: [BackendICEServer]) {
    precondition(servers.count <= BackendICEServer.countLimit)
    let (usable, problems) = BackendICEServer.judged(servers)
    precondition(usable.count <= servers.count)
    for server in usable { precondition(!server.urls.isEmpty && server.urls.count <= 8) }
    // What stands before an @ is a secret, and a sentence is one line.
    for problem in problems {
        precondition(!problem.utf8.contains(UInt8(ascii: "@")) && !problem.utf8.contains(UInt8(ascii: "\n")))
    }
}
