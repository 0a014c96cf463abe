/// The error of this type that `body` throws; nil where it throws none. (`#require(throws:)` gives it back from Swift 6.1 on.)
func thrown<Failure: Error, Value>(_ type: Failure.Type, _ body: () throws -> Value) -> Failure? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? Failure
    }
}
