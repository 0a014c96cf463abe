/// The layer table of HANDBOOK.md, as the architecture test reads it.
///
/// A folder that is not named here fails the test: a new one is first given its place.
enum Layers {
    struct Layer {
        /// Folders of the same target whose types it may name, beside its own.
        var uses: Set<String> = []
        /// Modules it may import.
        var imports: Set<String> = []
        /// Bytes and `now` in, bytes and values out: no socket, clock, thread, task, lock, log or system randomness.
        var isPure = false
    }

    private static let protocols: Set<String> = [
        "SDP", "STUN", "TURN", "ICE", "Stream", "TLS", "DTLS", "SRTP", "RTP", "Audio", "Playout", "SCTP",
    ]

    static let all: [String: Layer] = {
        var layers: [String: Layer] = [
            "VoiceCore/Base": Layer(imports: ["CLinux", "CJansson"], isPure: true),
            "VoiceCore/SDP": Layer(uses: ["Base"], isPure: true),
            "VoiceCore/STUN": Layer(uses: ["Base"], imports: ["COpenSSL"], isPure: true),
            "VoiceCore/TURN": Layer(uses: ["Base", "STUN"], isPure: true),
            "VoiceCore/ICE": Layer(uses: ["Base", "STUN"], isPure: true),
            "VoiceCore/Stream": Layer(uses: ["Base"], isPure: true),
            "VoiceCore/TLS": Layer(uses: ["Base"], imports: ["COpenSSL"], isPure: true),
            "VoiceCore/DTLS": Layer(uses: ["Base"], imports: ["COpenSSL"], isPure: true),
            "VoiceCore/SRTP": Layer(uses: ["Base"], imports: ["CSRTP"], isPure: true),
            "VoiceCore/RTP": Layer(uses: ["Base"], isPure: true),
            "VoiceCore/Audio": Layer(uses: ["Base"], imports: ["COpus", "CAudioProcessing"], isPure: true),
            "VoiceCore/Playout": Layer(uses: ["Base", "Audio"], isPure: true),
            "VoiceCore/SCTP": Layer(uses: ["Base"], isPure: true),
            "VoiceCore/Engine": Layer(uses: protocols.union(["Base"]), isPure: true),
            "VoiceCore/Runtime": Layer(
                uses: protocols.union(["Base", "Engine"]), imports: ["CLinux", "Glibc", "Synchronization"]),
            "VoiceCore/Voice": Layer(
                uses: protocols.union(["Base", "Engine", "Runtime"]), imports: ["Synchronization"]),
        ]
        let shelf = Layer(imports: ["CLinux", "Glibc", "Synchronization", "Dispatch"])
        for (name, library) in [("ALSA", "CALSA"), ("GPIO", "CGPIO"), ("Systemd", "CSystemd")] {
            var own = shelf
            own.imports.insert(library)
            layers["Hardware/\(name)"] = own
        }
        layers["Hardware/ALSA"]?.imports.insert("CSpeexDSP")
        let host: Set = ["VoiceCore", "CLinux", "Glibc", "Synchronization", "Dispatch"]
        for name in ["", "/Config", "/Kiosk", "/Backend", "/Audio", "/Health", "/Log", "/Service", "/Simulation"] {
            layers["Appliance\(name)"] = Layer(
                uses: ["*"], imports: host.union(["Hardware", "CCurl"]))
        }
        layers["DemoProvider"] = Layer(uses: ["*"], imports: host.union(["CMicroHTTPD"]))
        return layers
    }()

    /// What the face is described with. It stands in Voice because the host sees it; Runtime, which serves it, may name it.
    static let faceWords: Set<String> = [
        "AudioDevice", "AudioCapture", "AudioPlayback", "AudioDeviceError", "PBAudioSession", "PBVoiceState",
        "PBVoiceError", "VoiceConfiguration", "VoiceDiagnostic", "ICEServer", "VoiceProxy",
    ]

    /// Names that a pure folder may not use in any place.
    static let impureNames: Set<String> = [
        "Task", "TaskGroup", "Mutex", "Atomic", "AtomicLazyReference", "NSLock", "MainActor", "actor", "async", "await",
        "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", "DispatchQueue", "DispatchSource",
        "DispatchTime", "AsyncStream", "FileManager", "FileHandle", "errno",
    ]

    /// Functions of the system that a pure folder may not call; a method of the same name (`.print(`) is another thing.
    static let impureCalls: Set<String> = [
        "print", "debugPrint", "dump", "socket", "recvfrom", "recvmsg", "sendto", "sendmsg", "clock", "time", "sleep",
        "usleep", "nanosleep", "clock_gettime", "clock_nanosleep", "gettimeofday", "timerfd_create", "eventfd",
        "epoll_create1", "getrandom", "arc4random", "rand", "random", "getenv", "fopen", "syslog", "exit", "abort",
        "getifaddrs", "malloc_info", "mmap",
    ]
}
