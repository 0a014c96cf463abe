extension Fingerprint {
    enum SDPFault: Error {
        /// A hash function that is not taken: older than SHA-256, or unknown.
        case algorithm
        /// Not as many bytes in hexadecimal, with colons between, as the hash has.
        case digest
    }

    /// Reads the value of an a=fingerprint line (RFC 8122 5), whatever its case.
    init(sdp value: SDPText) throws(SDPFault) {
        var value = value
        guard let name = value.word(), let algorithm = Algorithm(rawValue: name.string.lowercased()) else {
            throw .algorithm
        }
        guard var rest = value.word() else { throw .digest }
        var digest: [UInt8] = []
        digest.reserveCapacity(algorithm.byteCount)
        while !rest.isEmpty {
            let pair = rest.field(before: UInt8(ascii: ":"))
            guard digest.count < algorithm.byteCount, let byte = pair.hexadecimalByte else { throw .digest }
            digest.append(byte)
        }
        guard digest.count == algorithm.byteCount else { throw .digest }
        self.algorithm = algorithm
        self.digest = digest
    }

    /// The value of its a=fingerprint line.
    var sdp: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in digest {
            if !text.isEmpty { text.append(UInt8(ascii: ":")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return "\(algorithm.rawValue) \(String(decoding: text, as: UTF8.self))"
    }
}
