@testable import Parsers

/// Reads the first line of any bytes as a web address and the second as a reference that an answer from there gives. What comes of both
/// must be an address that is read as itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebAddress(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    guard let first = lines.first, let address = WebAddress(first) else { return 0 }
    check(address)
    guard lines.count > 1, let target = address.resolving(lines[1]) else { return 0 }
    check(target)
    // A path does not lead to another host.
    if lines[1].hasPrefix("/"), !lines[1].hasPrefix("//"), !lines[1].contains("://") {
        precondition(target.hasOrigin(of: address))
    }
    return 0
}

private func check(_ address: WebAddress) {
    precondition(!address.host.isEmpty && !address.host.contains("@") && address.target.hasPrefix("/"))
    // What is a little longer once its parts are written out is no address any more.
    guard address.text.utf8.count <= WebAddress.byteLimit else { return }
    precondition(WebAddress(address.text) == address)
    precondition(!address.site.isEmpty || address.host.allSatisfy { $0 == "." })
}
