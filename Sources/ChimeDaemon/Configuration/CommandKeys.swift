import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A CommandKey is one key of a command's table, with its parser and formatter.
struct CommandKey: Sendable {
  /// The path below `commands.NAME`.
  let path: String
  /// The valid values, for error messages.
  let expected: String
  /// Sets the value. Returns false for an invalid value.
  let set: @Sendable (inout CommandDefinition, ConfigurationValue) -> Bool
  /// Returns the value as TOML; nil if it is not set.
  let show: @Sendable (CommandDefinition) -> String?

  static let all: [CommandKey] = [
    CommandKey(
      path: "program",
      expected: "the absolute path of a program (~ is not expanded), or a name without / to look up in PATH",
      set: { command, value in
        guard case .scalar(.string(let text)) = value, isText(text, 1...4_000), !text.hasPrefix("~"),
          text.hasPrefix("/") || !text.contains("/")
        else { return false }
        command.program = text
        return true
      }, show: { TOMLText.quoted($0.program) }),
    CommandKey(
      path: "arguments",
      expected: "an array of strings, such as [\"--volume\", \"60\"], at most 256 with 65536 bytes in all",
      set: { command, value in
        guard let texts = value.strings, texts.count <= 256, texts.allSatisfy({ isText($0, 0...65_536) }),
          texts.reduce(0, { $0 + $1.utf8.count }) <= 65_536
        else { return false }
        command.arguments = texts
        return true
      }, show: { TOMLText.array($0.arguments) }),
    CommandKey(
      path: "timeLimit", expected: "a duration from 1s to 1d, such as \"1m\"",
      set: { command, value in
        guard let length = duration(value, .seconds(1)...(.days(1))) else { return false }
        command.timeLimit = length
        return true
      }, show: { TOMLText.quoted(DurationText.format($0.timeLimit)) }),
    CommandKey(
      path: "overlap",
      expected: "one of "
        + CommandDefinition.Overlap.allCases.map { TOMLText.quoted($0.rawValue) }.joined(separator: ", "),
      set: { command, value in
        guard case .scalar(.string(let text)) = value, let overlap = CommandDefinition.Overlap(rawValue: text) else {
          return false
        }
        command.overlap = overlap
        return true
      }, show: { TOMLText.quoted($0.overlap.rawValue) }),
    CommandKey(
      path: "success", expected: "an array of exit statuses from 0 to 255, such as [0], not empty",
      set: { command, value in
        guard case .array(let values) = value, !values.isEmpty, values.count <= 256 else { return false }
        let numbers = values.compactMap { value -> Int? in
          if case .integer(let number) = value, (0...255).contains(number) { Int(number) } else { nil }
        }
        guard numbers.count == values.count else { return false }
        command.success = numbers
        return true
      }, show: { "[" + $0.success.map(String.init).joined(separator: ", ") + "]" }),
    CommandKey(
      path: "workingDirectory", expected: "the absolute path of a folder",
      set: { command, value in
        guard case .scalar(.string(let text)) = value, isText(text, 1...4_000), text.hasPrefix("/") else {
          return false
        }
        command.folder = text
        return true
      }, show: { $0.folder.map(TOMLText.quoted) }),
    CommandKey(
      path: "nice", expected: "a whole number from 0 to 19",
      set: { command, value in
        guard case .scalar(.integer(let number)) = value, (0...19).contains(number) else { return false }
        command.nice = Int(number)
        return true
      }, show: { String($0.nice) }),
    .size("limits.memory", \.limits.memory, (1 << 20)...(1 << 42)),
    CommandKey(
      path: "limits.processorTime", expected: "a duration from 1s to 1d, such as \"10s\"",
      set: { command, value in
        guard let length = duration(value, .seconds(1)...(.days(1))) else { return false }
        command.limits.processorTime = length
        return true
      }, show: { $0.limits.processorTime.map { TOMLText.quoted(DurationText.format($0)) } }),
    .number("limits.openFiles", \.limits.openFiles, 8...1_048_576),
    .number("limits.processes", \.limits.processes, 1...1_000_000),
    .size("limits.fileSize", \.limits.fileSize, 0...(1 << 42)),
  ]

  private typealias Spot = WritableKeyPath<CommandDefinition, Int64?> & Sendable

  private static func number(_ path: String, _ place: any Spot, _ range: ClosedRange<Int64>) -> CommandKey {
    CommandKey(
      path: path, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      set: { command, value in
        guard case .scalar(.integer(let number)) = value, range.contains(number) else { return false }
        command[keyPath: place] = number
        return true
      }, show: { $0[keyPath: place].map { String($0) } })
  }

  /// A size in bytes, as a number or with a suffix.
  private static func size(_ path: String, _ place: any Spot, _ range: ClosedRange<Int64>) -> CommandKey {
    CommandKey(
      path: path,
      expected: "a size in bytes from \(range.lowerBound) to \(range.upperBound), as a number or such as \"256M\" "
        + "(K, M and G are powers of 1024)",
      set: { command, value in
        guard let bytes = bytes(value), range.contains(bytes) else { return false }
        command[keyPath: place] = bytes
        return true
      }, show: { $0[keyPath: place].map { String($0) } })
  }

  private static func bytes(_ value: ConfigurationValue) -> Int64? {
    switch value {
    case .scalar(.integer(let number)): return number
    case .scalar(.string(let text)):
      let factors: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
      guard let last = text.last, let factor = factors[last], text.utf8.first != UInt8(ascii: "+"),
        let number = Int64(text.dropLast()), number >= 0
      else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
      return isTooLarge ? nil : product
    default: return nil
    }
  }

  private static func duration(_ value: ConfigurationValue, _ range: ClosedRange<Milliseconds>) -> Milliseconds? {
    guard case .scalar(.string(let text)) = value, let length = try? DurationText.parse(text), range.contains(length)
    else { return nil }
    return length
  }

  private static func isText(_ text: String, _ length: ClosedRange<Int>) -> Bool {
    length.contains(text.utf8.count) && !text.utf8.contains(0)
  }
}
