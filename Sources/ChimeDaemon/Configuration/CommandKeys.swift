import ChimeDelivery
import ChimeSchedule

/// The keys of a command's table, below `commands.NAME`.
extension TOMLKey<CommandDefinition> {
  static let all: [Self] = [
    .text(
      "program", \.program,
      "the absolute path of a program (~ is not expanded), or a name without / to look up in PATH", 1...4_000,
      where: { !$0.hasPrefix("~") && ($0.hasPrefix("/") || !$0.contains("/")) }),
    Self(
      "arguments", \.arguments,
      "an array of strings, such as [\"--volume\", \"60\"], at most 256 with 65536 bytes in all",
      read: { value in
        guard let texts = value.strings, texts.count <= 256, !texts.contains(where: { $0.utf8.contains(0) }),
          texts.reduce(0, { $0 + $1.utf8.count }) <= 65_536
        else { return nil }
        return texts
      }, write: TOMLText.array),
    .duration("timeLimit", \.timeLimit, .seconds(1)...(.days(1)), such: "1m"),
    .choice("overlap", \.overlap),
    Self(
      "success", \.success, "an array of exit statuses from 0 to 255, such as [0], not empty",
      read: { value in
        let numbers = value.elements { ConfigurationValue.scalar($0).number(0...255) }
        return numbers.flatMap { (1...256).contains($0.count) ? $0 : nil }
      }, write: { "[" + $0.map(String.init).joined(separator: ", ") + "]" }),
    .string(
      "workingDirectory", \.folder, "the absolute path of a folder",
      read: { $0.utf8.count <= 4_000 && !$0.utf8.contains(0) && $0.hasPrefix("/") ? .some($0) : .none }, write: { $0 }),
    .number("nice", \.nice, 0...19),
    .size("limits.memory", \.limits.memory, (1 << 20)...(1 << 42)),
    .string(
      "limits.processorTime", \.limits.processorTime, "a duration from 1s to 1d, such as \"10s\"",
      read: { Milliseconds($0, in: .seconds(1)...(.days(1))).map(Optional.some) },
      write: { $0.map(DurationText.format) }),
    .number("limits.openFiles", \.limits.openFiles, 8...1_048_576),
    .number("limits.processes", \.limits.processes, 1...1_000_000),
    .size("limits.fileSize", \.limits.fileSize, 0...(1 << 42)),
  ]

  /// A size in bytes, as a number or with a suffix.
  private static func size(_ path: String, _ place: any Spot<Int64?>, _ range: ClosedRange<Int64>) -> Self {
    Self(
      path, place,
      "a size in bytes from \(range.lowerBound) to \(range.upperBound), as a number or such as \"256M\" "
        + "(K, M and G are powers of 1024)",
      read: { bytes($0).flatMap { range.contains($0) ? .some($0) : nil } }, write: { $0.map { String($0) } })
  }

  private static func bytes(_ value: ConfigurationValue) -> Int64? {
    guard let text = value.string else { return value.number(Int64.min...Int64.max) }
    let factors: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    guard let last = text.last, let factor = factors[last], text.utf8.first != UInt8(ascii: "+"),
      let number = Int64(text.dropLast()), number >= 0
    else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
    return isTooLarge ? nil : product
  }
}
