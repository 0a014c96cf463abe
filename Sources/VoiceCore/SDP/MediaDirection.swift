/// Who sends and who receives, from the point of view of the side that says it (RFC 8866 6.7).
enum MediaDirection: String, CaseIterable, Sendable {
    case sendrecv
    case sendonly
    case recvonly
    case inactive

    var sends: Bool { self == .sendrecv || self == .sendonly }
    var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same as the other side sees it.
    var reversed: MediaDirection {
        switch self {
        case .sendonly: .recvonly
        case .recvonly: .sendonly
        case .sendrecv, .inactive: self
        }
    }
}
