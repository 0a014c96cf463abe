/// Randomness handed in from outside, so that a test can seed it and pure code never asks the system.
///
/// In the product it is fed by getrandom(2); ICE passwords and STUN transaction ids are made from it.
struct Entropy: RandomNumberGenerator, Sendable {
    private let word: @Sendable () -> UInt64

    /// - Parameter word: gives 64 fresh random bits at each call, from any thread.
    init(_ word: @escaping @Sendable () -> UInt64) {
        self.word = word
    }

    mutating func next() -> UInt64 { word() }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Text of `length` characters from the ice-char alphabet, 6 bits each (RFC 8839 5.4).
    mutating func iceText(length: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return String(decoding: (0..<length).map { _ in alphabet[Int(next() & 63)] }, as: UTF8.self)
    }
}
