@testable import Hardware

/// A card's controls in memory.
final class TestMixer: MixerAccess {
    let elements: [MixerElement]
    private(set) var values: [String: [Int]] = [:]
    /// Thrown by each call, as by a card that was unplugged.
    var loss: ALSAError?
    /// Called before each setting.
    var onSet: (String) -> Void = { _ in }
    private var changes: [MixerChange] = []

    init(_ elements: [MixerElement], _ values: [String: Int]) {
        self.elements = elements
        for element in elements {
            self.values[element.id.name] = [Int](repeating: values[element.id.name] ?? 0, count: element.valueCount)
        }
    }

    static func toggle(_ name: String) -> MixerElement { element(name, .toggle) }
    static func level(_ name: String, _ range: ClosedRange<Int>) -> MixerElement { element(name, .level(range)) }
    static func choice(_ name: String, _ items: [String]) -> MixerElement { element(name, .choice(items)) }

    private static func element(_ name: String, _ kind: MixerElement.Kind) -> MixerElement {
        let id = MixerElement.ID(interface: 2, device: 0, subdevice: 0, name: name, index: 0)
        return MixerElement(id: id, kind: kind, valueCount: 2, isWritable: true)
    }

    /// The first channel of each.
    var shown: [String: Int] { values.compactMapValues(\.first) }

    func plug(_ jack: String, _ isIn: Bool) {
        values[jack] = [isIn ? 1 : 0, isIn ? 1 : 0]
        changes += [.other, .jack]
    }

    func values(of element: MixerElement) throws(ALSAError) -> [Int] {
        if let loss { throw loss }
        return values[element.id.name] ?? []
    }

    func set(_ values: [Int], of element: MixerElement) throws(ALSAError) {
        if let loss { throw loss }
        onSet(element.id.name)
        self.values[element.id.name] = values
    }

    func nextChange() throws(ALSAError) -> MixerChange? {
        if let loss { throw loss }
        return changes.isEmpty ? nil : changes.removeFirst()
    }
}
