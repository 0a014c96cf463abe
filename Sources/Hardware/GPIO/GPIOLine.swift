internal import CGPIO
import Glibc

/// One change of an input's level, with the kernel's time of it.
struct GPIOEdge: Equatable, Sendable {
    /// The level after it.
    var isActive: Bool
    /// Time since the zero of CLOCK_MONOTONIC.
    var at: Duration
    /// Whether edges between the one before and this one were lost: the kernel's buffer was full.
    var followsLoss = false
}

/// An input as the button reads it. Lives on the main actor.
@MainActor
protocol InputLine: AnyObject {
    /// Readable when there is an edge, or when the chip is gone.
    var descriptor: Int32 { get }
    /// - Throws: `gone` or `refused`; the caller lets go of the line.
    func isActive() throws(GPIOError) -> Bool
    /// Takes the edges that wait, oldest first, and never blocks.
    /// - Returns: `isFull` where there may have been more than the kernel keeps, so that the last level is unknown.
    /// - Throws: `gone` or `refused`; the caller lets go of the line.
    func takeEdges() throws(GPIOError) -> (edges: [GPIOEdge], isFull: Bool)
}

/// An output as the LED drives it. Lives on the main actor.
@MainActor
protocol OutputLine: AnyObject {
    /// - Throws: `gone` or `refused`; the caller lets go of the line.
    func set(_ isActive: Bool) throws(GPIOError)
}

/// A GPIO line that was asked for and granted: the owner of libgpiod's request. Lives on the main actor; given back by being let go of.
///
/// What its level is after that, the chip's driver decides: most keep it, some go back to the pull.
@MainActor
final class GPIOLine: InputLine, OutputLine {
    enum Direction {
        case input(GPIOPolarity, GPIOBias)
        /// With its first value, which the line has from its request on.
        case output(GPIOPolarity, GPIODrive, isActive: Bool)
    }

    /// For messages: what the installer called it.
    private let name: String
    private let request: Request
    /// The number of the last edge, counted from 1; 0: none yet, or not counted.
    private var lastSequence: UInt = 0

    /// Owns libgpiod's handles; a class of its own, so that they are given back whichever thread lets go last.
    private final class Request {
        var handle: talkpost_gpio_line

        init(_ handle: talkpost_gpio_line) {
            self.handle = handle
        }

        deinit {
            talkpost_gpio_release(&handle)
        }
    }

    /// - Throws: any `GPIOError` but `gone`; the caller says it and tries again later.
    init(_ name: GPIOLineName, _ direction: Direction) throws(GPIOError) {
        let place = try GPIODevices.place(of: name)
        let chip = try GPIODevices.chip(place.chip)
        var settings = talkpost_gpio_settings(direction)
        var handle = talkpost_gpio_line()
        guard talkpost_gpio_request(chip, UInt32(place.offset), &settings, &handle) == 0 else {
            let code = errno
            guard code != EBUSY else {
                throw .busy(line: name.description, consumer: GPIODevices.consumer(of: place))
            }
            throw .refused(line: name.description, what: "set up", code: code)
        }
        self.name = name.description
        request = Request(handle)
    }

    var descriptor: Int32 { request.handle.fd }

    func isActive() throws(GPIOError) -> Bool {
        let level = talkpost_gpio_get(&request.handle)
        guard level >= 0 else { throw failure("read") }
        return level > 0
    }

    func set(_ isActive: Bool) throws(GPIOError) {
        guard talkpost_gpio_set(&request.handle, isActive) == 0 else { throw failure("set") }
    }

    func takeEdges() throws(GPIOError) -> (edges: [GPIOEdge], isFull: Bool) {
        let limit = Int(TALKPOST_GPIO_EDGE_LIMIT)
        var taken = [talkpost_gpio_edge](repeating: talkpost_gpio_edge(), count: limit)
        let count = Int(talkpost_gpio_read_edges(&request.handle, &taken))
        guard count >= 0 else { throw failure("read") }
        let edges = taken.prefix(count).map { edge in
            let followsLoss = edge.sequence != 0 && edge.sequence != lastSequence &+ 1
            lastSequence = edge.sequence
            return GPIOEdge(
                isActive: edge.is_active, at: .nanoseconds(Int64(clamping: edge.nanoseconds)), followsLoss: followsLoss)
        }
        return (edges, count == limit)
    }

    private func failure(_ what: String) -> GPIOError {
        let code = errno
        return code == ENODEV || code == ENXIO ? .gone(line: name) : .refused(line: name, what: what, code: code)
    }
}

extension talkpost_gpio_settings {
    fileprivate init(_ direction: GPIOLine.Direction) {
        self.init()
        bias = TALKPOST_GPIO_BIAS_AS_IS
        drive = TALKPOST_GPIO_DRIVE_PUSH_PULL
        switch direction {
        case .input(let polarity, let bias):
            is_active_low = polarity == .low
            switch bias {
            case .asIs: self.bias = TALKPOST_GPIO_BIAS_AS_IS
            case .none: self.bias = TALKPOST_GPIO_BIAS_NONE
            case .pullUp: self.bias = TALKPOST_GPIO_BIAS_PULL_UP
            case .pullDown: self.bias = TALKPOST_GPIO_BIAS_PULL_DOWN
            }
        case .output(let polarity, let drive, let isActive):
            is_output = true
            is_active_low = polarity == .low
            is_active = isActive
            switch drive {
            case .pushPull: self.drive = TALKPOST_GPIO_DRIVE_PUSH_PULL
            case .openDrain: self.drive = TALKPOST_GPIO_DRIVE_OPEN_DRAIN
            case .openSource: self.drive = TALKPOST_GPIO_DRIVE_OPEN_SOURCE
            }
        }
    }
}
