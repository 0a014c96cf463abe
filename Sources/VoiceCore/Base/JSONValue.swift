internal import CJansson

/// A JSON value (RFC 8259), read and written by jansson. Pure; no input makes it trap.
///
/// Numbers are doubles, and nesting beyond 32 levels is refused: nothing that a backend or a provider sends goes deeper.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    /// The last of two members of one name counts.
    case object([String: JSONValue])

    private static let depthLimit = 32

    /// Reads a whole text, an object or an array, in UTF-8.
    /// - Returns: nil where it is not valid. jansson refuses what is no UTF-8, half a surrogate pair, and U+0000 in a name.
    package init?(reading bytes: [UInt8]) {
        let flags = Int(JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL)
        let tree = bytes.withUnsafeBytes { json_loadb($0.baseAddress, $0.count, flags, nil) }
        guard let tree else { return nil }
        defer { json_decref(tree) }
        self.init(tree, depth: 0)
    }

    /// The text, in UTF-8 without blanks; an object's members stand in the order of their names. A number that JSON has no
    /// word for is null.
    package var encoded: [UInt8] {
        guard let tree = tree() else { return Array("null".utf8) }
        defer { json_decref(tree) }
        // 15 digits are what a double keeps of any decimal number (C11 5.2.4.2.2, DBL_DIG).
        let flags = Int(JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) | Int(talkpost_json_digits(15))
        let byteCount = json_dumpb(tree, nil, 0, flags)
        return [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, initializedCount in
            bytes.withMemoryRebound(to: CChar.self) { _ = json_dumpb(tree, $0.baseAddress, byteCount, flags) }
            initializedCount = byteCount
        }
    }

    /// A member of an object; nil where there is none, or the value is no object.
    package subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// A text; nil where it is something else.
    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// A number; nil where it is something else.
    package var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    private init?(_ tree: UnsafeMutablePointer<json_t>, depth: Int) {
        guard depth < Self.depthLimit else { return nil }
        switch tree.pointee.type {
        case JSON_OBJECT:
            var members: [String: JSONValue] = [:]
            var next = json_object_iter(tree)
            while let place = next {
                guard let name = json_object_iter_key(place), let member = json_object_iter_value(place),
                    let value = JSONValue(member, depth: depth + 1)
                else { return nil }
                members[String(cString: name)] = value
                next = json_object_iter_next(tree, place)
            }
            self = .object(members)
        case JSON_ARRAY:
            var elements: [JSONValue] = []
            for index in 0..<json_array_size(tree) {
                guard let element = json_array_get(tree, index), let value = JSONValue(element, depth: depth + 1) else {
                    return nil
                }
                elements.append(value)
            }
            self = .array(elements)
        case JSON_STRING:
            let bytes = UnsafeRawBufferPointer(start: json_string_value(tree), count: json_string_length(tree))
            self = .text(String(decoding: bytes, as: UTF8.self))
        case JSON_INTEGER, JSON_REAL: self = .number(json_number_value(tree))
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        default: self = .null
        }
    }

    /// The same value as jansson's, for the caller to let go of; nil where the memory is used up.
    private func tree() -> UnsafeMutablePointer<json_t>? {
        switch self {
        case .null: return json_null()
        case .bool(let value): return value ? json_true() : json_false()
        case .number(let value): return value.isFinite ? json_real(value) : json_null()
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress, $0.count) }
            } ?? json_string("")
        case .array(let elements):
            let array = json_array()
            for element in elements { json_array_append_new(array, element.tree()) }
            return array
        case .object(let members):
            let object = json_object()
            for (name, value) in members { json_object_set_new(object, name, value.tree()) }
            return object
        }
    }
}
