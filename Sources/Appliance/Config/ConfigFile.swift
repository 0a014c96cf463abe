import Glibc

/// A config file as it was found: what it says, and everything that is wrong with it.
struct ConfigFile {
    /// What the lines without a mistake say; everything else has its default.
    let configuration: Configuration
    /// A line for the console each, "file:line: what; cure"; empty: all can be used.
    let problems: [String]

    /// Why no backend may be asked though there are defaults: a voice is never offered to another one than the installer meant.
    let backendProblem: String?

    /// Reads it, and where credentials lie ($CREDENTIALS_DIRECTORY, systemd.exec(5)).
    init(path: String) {
        guard let bytes = SmallFile.read(path, byteLimit: ConfigReader.byteLimit + 1) else {
            configuration = Configuration()
            let problem =
                "\(path): the config cannot be read: \(String(cString: strerror(errno))); name another with --config"
            problems = [problem]
            backendProblem = problem
            return
        }
        var problems: [String] = []
        var configuration: Configuration
        var backendProblem: String?
        do throws(ConfigProblems) {
            configuration = try ConfigReader.read(bytes)
        } catch {
            configuration = error.configuration
            problems = error.problems.map { $0.described(inFile: path) }
            let mistake = error.problems.first { $0.key == "url" || $0.key == "kind" }
            backendProblem = mistake?.described(inFile: path)
        }
        configuration.backend.credentialsDirectory = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
        do throws(BackendError) {
            try BackendClient.check(configuration.backend)
        } catch {
            problems.append("\(path): \(error.message)")
        }
        problems += ReachSettings.problems(configuration).map { "\(path): \($0)" }
        if configuration.talk.turns == .button, configuration.voice.channel == nil {
            problems.append(
                "\(path): turns = button in [talk] needs a channel in [voice], on which the provider is told")
        }
        self.backendProblem = backendProblem
        self.configuration = configuration
        self.problems = problems
    }
}
