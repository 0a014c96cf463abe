internal import CALSA
import Glibc

/// Why a sound card cannot be used, for whoever decides and for whoever mends it.
public struct ALSAError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a program decides by.
    public enum Reason: Sendable {
        case absent
        case busy
        case notPermitted
        case unsupported
        case lost
    }

    /// Which of them it is.
    public var reason: Reason
    /// What is wrong and where: a sentence without its end.
    public var what: String
    /// What to do about it: the sentence's end.
    public var cure: String

    init(_ reason: Reason, _ what: String, cure: String) {
        self.reason = reason
        self.what = what
        self.cure = cure
    }

    public var description: String { "\(what); \(cure)." }

    /// From the code of a failed call.
    /// - Parameters:
    ///   - operation: the function of alsa-lib.
    ///   - place: the card or PCM it was called for.
    init(_ operation: StaticString, code: Int, at place: String) {
        let number = code < 0 ? -code : code
        switch Int32(clamping: number) {
        case ENODEV, ENXIO, EBADFD, EIO, ENOTTY:
            self.init(.lost, "\(place) is gone", cure: "plug it in again; it is looked for each second")
        case ENOENT:
            self.init(.absent, "\(place) is not there", cure: "plug it in, or name another")
        case EBUSY, EAGAIN:
            self.init(.busy, "\(place) is in use by another program", cure: "end that program, or name another card")
        case EACCES, EPERM:
            self.init(
                .notPermitted, "\(place) may not be used by this program's user",
                cure:
                    "add the user to the group audio (SupplementaryGroups=audio, DeviceAllow=char-alsa rw in the unit)")
        case EINVAL, ENOTSUP, ENOSYS:
            self.init(
                .unsupported, "\(place) refuses what it is asked for (\(operation))", cure: "use another card or device"
            )
        default:
            let reason = snd_strerror(Int32(clamping: code)).map { String(cString: $0) } ?? "error \(code)"
            self.init(.lost, "\(place) fails (\(operation): \(reason))", cure: "plug it in again, or try another card")
        }
    }
}
