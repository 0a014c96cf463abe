/// Who holds a busy device: from /proc/asound and the process's own name. Pure but for reading those files.
enum SoundUser {
    /// The programs that have a subdevice of `place` in their hands, as "name (process 123)".
    static func names(of place: SoundPlace, proc: String = "/proc") -> [String] {
        let letter = place.direction == .playback ? "p" : "c"
        let pcm = "\(proc)/asound/card\(place.cardNumber)/pcm\(place.device)\(letter)"
        // A card has at most 32 subdevices in practice; the loop ends at the first that is missing.
        let subdevices = place.subdevice.map { $0...$0 } ?? 0...31
        var owners: [String] = []
        for subdevice in subdevices {
            guard let status = KernelFile.read("\(pcm)/sub\(subdevice)/status") else { break }
            guard let thread = owner(in: status) else { continue }
            // The kernel keeps the thread that opened it; the program is its group (proc_pid_status(5)).
            let process =
                KernelFile.read("\(proc)/\(thread)/status").flatMap { number(after: "Tgid", in: $0) } ?? thread
            let name = KernelFile.read("\(proc)/\(process)/comm")?.prefix { $0 != "\n" }
            let text = name.map { "\($0) (process \(process))" } ?? "process \(process)"
            if !owners.contains(text) { owners.append(text) }
        }
        return owners
    }

    /// The number after "owner_pid" in a status file; nil where the subdevice is closed (the kernel's sound/core/pcm.c).
    static func owner(in status: String) -> Int? {
        number(after: "owner_pid", in: status)
    }

    private static func number(after key: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            let value = line.drop { $0 != ":" }.dropFirst().drop { $0 == " " || $0 == "\t" }
            guard let number = Int(value), number > 0 else { return nil }
            return number
        }
        return nil
    }
}
