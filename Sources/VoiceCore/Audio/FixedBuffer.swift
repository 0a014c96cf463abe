/// Memory of a fixed number of elements, allocated once and freed with its owner, so that the audio path never allocates.
///
/// Whoever indexes it keeps the index in range; no number from the wire is ever one.
struct FixedBuffer<Element: BitwiseCopyable>: ~Copyable {
    let elements: UnsafeMutableBufferPointer<Element>

    init(repeating element: Element, count: Int) {
        elements = .allocate(capacity: count)
        elements.initialize(repeating: element)
    }

    /// Its elements mean nothing until they are written, and its pages cost nothing until then.
    init(unwrittenCount count: Int) {
        elements = .allocate(capacity: count)
    }

    deinit {
        elements.deallocate()
    }

    var count: Int { elements.count }

    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < elements.count)
            return elements[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < elements.count)
            elements[index] = newValue
        }
    }
}
