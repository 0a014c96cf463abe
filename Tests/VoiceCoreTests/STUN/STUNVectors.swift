/// The sample messages of RFC 5769, byte for byte.
enum STUNVectors {
    static let password = "VOkJxbRl1RmTxUk/WvJxBt"

    /// RFC 5769 2.1
    static let request = bytes(
        """
        000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008\
        932ff9b151263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004\
        e57a3bcf
        """)
    /// RFC 5769 2.2
    static let responseIPv4 = bytes(
        """
        0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a64300080014\
        2b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96
        """)
    /// RFC 5769 2.3
    static let responseIPv6 = bytes(
        """
        010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000140002a1470113a9faa5d3f179\
        bc25f4b5bed2b9d900080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c
        """)
    /// RFC 5769 2.4; its key is MD5 of "<user>:example.org:TheMatrIX".
    static let longTermRequest = bytes(
        """
        000100602112a44278ad3433c6ad72c029da412e00060012e3839ee38388e383aae38383e382afe382b900000015001c662f2f34\
        39396b39353464364f4c33346f4c394653547679363473410014000b6578616d706c652e6f72670000080014f67024656dd64a3e\
        02b8e0712e85c9a28ca89666
        """)
    static let longTermKey = bytes("e8ca7ad59d5eb0518e312911d2dab2a9")

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
