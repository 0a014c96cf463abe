internal import CCurl
import Glibc

/// The time of day, for judging certificates only; nothing else goes by it.
enum WallClock {
    /// Seconds since 1970, as this machine believes.
    static func now() -> Int64 { Int64(time(nil)) }

    /// When this program's file was written, which no right clock is before; 0 where that is not known.
    static let buildDate: Int64 = {
        var status = stat()
        return stat("/proc/self/exe", &status) == 0 ? max(0, Int64(status.st_mtim.tv_sec)) : 0
    }()

    /// Seconds since 1970 of a date such as RFC 9110 5.6.7 has it.
    static func date(_ text: String) -> Int64? {
        let seconds = curl_getdate(text, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }

    /// Whether a clock is wrong: before the program was built, or away from the far end's by more than any certificate's margin.
    static func isWrong(now: Int64, buildDate: Int64, farEnd: Int64?) -> Bool {
        if now < buildDate { return true }
        guard let farEnd else { return false }
        // An hour is what no clock that is kept by the network errs by, and no certificate is renewed later than.
        let difference = now.subtractingReportingOverflow(farEnd)
        return difference.overflow || abs(difference.partialValue) > 3600
    }
}
