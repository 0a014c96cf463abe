internal import CALSA
import Glibc

/// The controls of a card: the one owner of a `snd_ctl_t`.
///
/// Whoever holds the mixer owns it. Opened non-blocking; `nextChange` allocates nothing.
final class MixerCard: MixerAccess {
    let elements: [MixerElement]
    private let handle: OpaquePointer
    private let event: OpaquePointer
    private let place: String

    /// - Throws: the card is gone, or may not be used.
    init(cardID: String) throws(ALSAError) {
        talkpost_alsa_be_quiet()
        place = "the mixer of the sound card \(cardID)"
        var made: OpaquePointer?
        let code = snd_ctl_open(&made, "hw:CARD=\(cardID)", Int32(SND_CTL_NONBLOCK))
        guard code >= 0, let handle = made else { throw ALSAError("snd_ctl_open", code: Int(code), at: place) }
        var event: OpaquePointer?
        do throws(ALSAError) {
            elements = try Self.elements(handle, place: place)
            guard snd_ctl_event_malloc(&event) >= 0, let event else {
                throw ALSAError("snd_ctl_event_malloc", code: Int(-ENOMEM), at: place)
            }
            // Without events no jack is followed, all else works.
            _ = snd_ctl_subscribe_events(handle, 1)
            self.event = event
            self.handle = handle
        } catch {
            snd_ctl_close(handle)
            throw error
        }
    }

    deinit {
        snd_ctl_event_free(event)
        snd_ctl_close(handle)
    }

    func values(of element: MixerElement) throws(ALSAError) -> [Int] {
        try withValue(of: element) { (value) throws(ALSAError) in
            try check(snd_ctl_elem_read(handle, value), "snd_ctl_elem_read")
            return (0..<element.valueCount).map { index in
                let index = UInt32(clamping: index)
                switch element.kind {
                case .toggle: return Int(snd_ctl_elem_value_get_boolean(value, index))
                case .level: return snd_ctl_elem_value_get_integer(value, index)
                case .choice: return Int(snd_ctl_elem_value_get_enumerated(value, index))
                case .other: return 0
                }
            }
        }
    }

    func set(_ values: [Int], of element: MixerElement) throws(ALSAError) {
        guard values.count == element.valueCount else { return }
        try withValue(of: element) { (value) throws(ALSAError) in
            for (index, number) in values.enumerated() {
                let index = UInt32(clamping: index)
                switch element.kind {
                case .toggle: snd_ctl_elem_value_set_boolean(value, index, number == 0 ? 0 : 1)
                case .level(let range):
                    snd_ctl_elem_value_set_integer(value, index, min(range.upperBound, max(range.lowerBound, number)))
                case .choice(let items):
                    snd_ctl_elem_value_set_enumerated(
                        value, index, UInt32(clamping: min(items.count - 1, max(0, number))))
                case .other: return
                }
            }
            try check(snd_ctl_elem_write(handle, value), "snd_ctl_elem_write")
        }
    }

    func nextChange() throws(ALSAError) -> MixerChange? {
        let code = snd_ctl_read(handle, event)
        if code == -EAGAIN || code == -EINTR || code == 0 { return nil }
        try check(code, "snd_ctl_read")
        guard snd_ctl_event_get_type(event) == SND_CTL_EVENT_ELEM else { return .other }
        // A jack's value changed; the end of its name is looked at where it lies.
        let name = snd_ctl_event_elem_get_name(event)
        guard let name, strlen(name) >= 5 else { return .other }
        return strcmp(name + (strlen(name) - 5), " Jack") == 0 ? .jack : .other
    }

    private func withValue<Result>(
        of element: MixerElement, _ body: (OpaquePointer) throws(ALSAError) -> Result
    ) throws(ALSAError) -> Result {
        var made: OpaquePointer?
        guard snd_ctl_elem_value_malloc(&made) >= 0, let value = made else {
            throw ALSAError("snd_ctl_elem_value_malloc", code: Int(-ENOMEM), at: place)
        }
        defer { snd_ctl_elem_value_free(value) }
        let id = element.id
        snd_ctl_elem_value_set_interface(value, snd_ctl_elem_iface_t(UInt32(clamping: id.interface)))
        snd_ctl_elem_value_set_device(value, UInt32(clamping: id.device))
        snd_ctl_elem_value_set_subdevice(value, UInt32(clamping: id.subdevice))
        snd_ctl_elem_value_set_name(value, id.name)
        snd_ctl_elem_value_set_index(value, UInt32(clamping: id.index))
        return try body(value)
    }

    private func check(_ code: Int32, _ operation: StaticString) throws(ALSAError) {
        guard code >= 0 else { throw ALSAError(operation, code: Int(code), at: place) }
    }

    // MARK: What there is

    private static func elements(_ handle: OpaquePointer, place: String) throws(ALSAError) -> [MixerElement] {
        var made: OpaquePointer?
        var info: OpaquePointer?
        guard snd_ctl_elem_list_malloc(&made) >= 0, let list = made else {
            throw ALSAError("snd_ctl_elem_list_malloc", code: Int(-ENOMEM), at: place)
        }
        defer { snd_ctl_elem_list_free(list) }
        guard snd_ctl_elem_info_malloc(&info) >= 0, let info else {
            throw ALSAError("snd_ctl_elem_info_malloc", code: Int(-ENOMEM), at: place)
        }
        defer { snd_ctl_elem_info_free(info) }
        var code = snd_ctl_elem_list(handle, list)
        guard code >= 0 else { throw ALSAError("snd_ctl_elem_list", code: Int(code), at: place) }
        code = snd_ctl_elem_list_alloc_space(list, snd_ctl_elem_list_get_count(list))
        guard code >= 0 else { throw ALSAError("snd_ctl_elem_list_alloc_space", code: Int(code), at: place) }
        defer { snd_ctl_elem_list_free_space(list) }
        code = snd_ctl_elem_list(handle, list)
        guard code >= 0 else { throw ALSAError("snd_ctl_elem_list", code: Int(code), at: place) }
        return (0..<snd_ctl_elem_list_get_used(list)).compactMap { index in
            // A control that vanishes meanwhile is none.
            snd_ctl_elem_info_set_numid(info, snd_ctl_elem_list_get_numid(list, index))
            guard snd_ctl_elem_info(handle, info) >= 0 else { return nil }
            return element(handle, info)
        }
    }

    private static func element(_ handle: OpaquePointer, _ info: OpaquePointer) -> MixerElement? {
        guard let name = snd_ctl_elem_info_get_name(info), snd_ctl_elem_info_is_inactive(info) == 0,
            snd_ctl_elem_info_is_readable(info) != 0
        else { return nil }
        let id = MixerElement.ID(
            interface: Int(snd_ctl_elem_info_get_interface(info).rawValue),
            device: Int(snd_ctl_elem_info_get_device(info)),
            subdevice: Int(snd_ctl_elem_info_get_subdevice(info)), name: String(cString: name),
            index: Int(snd_ctl_elem_info_get_index(info)))
        let valueCount = Int(snd_ctl_elem_info_get_count(info))
        let isWritable = snd_ctl_elem_info_is_writable(info) != 0
        var kind = MixerElement.Kind.other
        switch snd_ctl_elem_info_get_type(info) {
        case SND_CTL_ELEM_TYPE_BOOLEAN: kind = .toggle
        case SND_CTL_ELEM_TYPE_INTEGER:
            let (least, most) = (snd_ctl_elem_info_get_min(info), snd_ctl_elem_info_get_max(info))
            if least <= most { kind = .level(least...most) }
        case SND_CTL_ELEM_TYPE_ENUMERATED:
            // No card has more; a list of four billion would be a driver's fault.
            let items = (0..<min(256, snd_ctl_elem_info_get_items(info))).compactMap { item -> String? in
                snd_ctl_elem_info_set_item(info, item)
                guard snd_ctl_elem_info(handle, info) >= 0 else { return nil }
                return snd_ctl_elem_info_get_item_name(info).map { String(cString: $0) }
            }
            if !items.isEmpty { kind = .choice(items) }
        default: break
        }
        guard (1...128).contains(valueCount) else { return nil }
        return MixerElement(id: id, kind: kind, valueCount: valueCount, isWritable: isWritable)
    }
}
