/// A secret or an address on its way to where it is needed: whatever prints it prints "<redacted>".
///
/// `reveal()` is called only where the value leaves the process, by whoever needs it there, never to make a sentence.
struct Redacted<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: Value

    init(_ value: Value) {
        self.value = value
    }

    func reveal() -> Value { value }

    var description: String { "<redacted>" }
    var debugDescription: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redacted: Equatable where Value: Equatable {}
