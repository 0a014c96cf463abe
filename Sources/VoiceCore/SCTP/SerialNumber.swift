/// Order among numbers that wrap around (RFC 1982), as TSNs, stream sequence numbers and request numbers do (RFC 9260 1.6).
extension FixedWidthInteger where Self: UnsignedInteger {
    /// Whether it comes before `other` by less than half of the numbers there are.
    func precedes(_ other: Self) -> Bool {
        let distance = other &- self
        return distance != 0 && distance <= Self.max / 2
    }
}

/// First in, first out, in an array; both ends take the same short time on the whole.
struct FIFO<Element> {
    private var elements: [Element] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { head == elements.count }
    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        _read { yield elements[head + index] }
        _modify { yield &elements[head + index] }
    }

    var first: Element? { isEmpty ? nil : elements[head] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// The first is taken out. What it holds lives on until as many were taken as are left.
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= 1_024)
            head = 0
        } else if head >= 32, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll() {
        elements = []
        head = 0
    }
}
