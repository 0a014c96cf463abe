import Glibc

/// Where the appliance keeps what must outlive the program.
enum StateDirectory {
    /// The config's folder, else the one that systemd made for the unit, else the usual place.
    static func path(
        _ state: Configuration.State, environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) -> String {
        if let directory = state.directory { return directory }
        // A list, of which the first is this unit's (systemd.exec(5), StateDirectory=).
        let first = environment("STATE_DIRECTORY")?.split(separator: ":").first
        return first.map(String.init) ?? "/var/lib/talkpost"
    }
}
