internal import COpus

/// libopus refused something. The caller counts it, and conceals or leaves the packet out.
struct OpusError: Error, Equatable, Sendable {
    /// The library's function, with what was asked of it.
    var operation: StaticString
    /// The library's own code (opus_defines.h).
    var code: Int32

    init(_ operation: StaticString, code: Int32) {
        self.operation = operation
        self.code = code
    }

    static func == (a: OpusError, b: OpusError) -> Bool {
        a.code == b.code && a.operation.description == b.operation.description
    }

    /// Throws where the library's return code says so.
    static func check(_ code: Int32, _ operation: StaticString) throws(OpusError) {
        guard code >= 0 else { throw OpusError(operation, code: code) }
    }
}

extension OpusError: CustomStringConvertible {
    var description: String { "\(operation): \(String(cString: opus_strerror(code)))" }
}

/// The version libopus gives of itself, for example "libopus 1.5.2".
func opusVersion() -> String { String(cString: opus_get_version_string()) }
