@testable import Parsers

/// Reads any bytes as a config file, and makes the sentence of every problem in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfig(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        _ = try ConfigReader.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        precondition(!error.problems.isEmpty && error.problems.count <= ConfigReader.problemLimit)
        for problem in error.problems { precondition(!problem.described(inFile: "talkpost.conf").isEmpty) }
    }
    return 0
}
