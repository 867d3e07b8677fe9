import ChimeSchedule

/// What a comment of a crontab is good for.
enum CrontabComment: Equatable {
  /// It says what the job below is.
  case title(String)
  /// It explains the fields (`# m h dom mon dow command`, or a drawing of them).
  case legend
  /// A job that is switched off, a ruler, nothing.
  case other

  /// The names by which legends call the fields; three of them make one.
  private static let fields: Set<String> = [
    "m", "min", "minute", "minutes", "h", "hour", "hours", "dom", "dow", "mon", "month", "day", "weekday", "command",
    "user", "user-name",
  ]

  /// - Parameter line: A line that begins with `#`.
  init(_ line: [UInt8]) {
    let bytes = Array(line.drop { $0 == UInt8(ascii: "#") || $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "!") })
    if let first = bytes.first,
      (0x30...0x39).contains(first) || first == UInt8(ascii: "*") || first == UInt8(ascii: "@"),
      let time = try? CrontabTime(line: bytes), time.commandStart < bytes.count
    {
      self = .other
      return
    }
    guard let text = DraftText.line(String(decoding: bytes, as: UTF8.self)), let first = text.unicodeScalars.first
    else {
      self = .other
      return
    }
    let words = Set(text.lowercased().split(separator: " ").map(String.init))
    if words.intersection(Self.fields).count >= 3 || ".|*".unicodeScalars.contains(first) {
      self = .legend
    } else if text.unicodeScalars.contains(where: { $0.properties.isAlphabetic }),
      first.properties.isAlphabetic || first.properties.numericType != nil || "\"'(<[/@$".unicodeScalars.contains(first)
        || first.properties.isEmojiPresentation
    {
      // Ansible names its jobs so.
      let name = text.hasPrefix("Ansible: ") ? trimmed(text.dropFirst(9)) : text
      self = name.isEmpty ? .other : .title(name)
    } else {
      self = .other
    }
  }
}

/// A line that sets a variable: `NAME=value`, blanks around the sign, quotes around either side.
struct CrontabVariable: Equatable {
  var name: String
  var value: String

  init?(_ line: [UInt8]) {
    guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = Self.unquoted(line[..<sign])
    guard let first = name.utf8.first, !(0x30...0x39).contains(first),
      name.utf8.allSatisfy({
        $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
      })
    else { return nil }
    self.name = name
    value = Self.unquoted(line[(sign + 1)...])
  }

  private static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
    let text = trimmed(String(decoding: bytes, as: UTF8.self))
    guard text.utf8.count >= 2, let quote = text.utf8.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
      text.utf8.last == quote
    else { return text }
    return String(text.dropFirst().dropLast())
  }
}

/// What a job runs: a command, and what it is given to read.
struct CrontabCommand: Equatable {
  /// How much of a command makes a title, in bytes.
  static let longestTitle = 72

  var command: String
  var input: String?

  /// The first `%` that has no backslash before it ends the command; behind it each begins a line of input. `\%` is `%`.
  init(_ bytes: ArraySlice<UInt8>) {
    var parts: [[UInt8]] = [[]]
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\\"), index + 1 < bytes.endIndex, bytes[index + 1] == UInt8(ascii: "%") {
        parts[parts.count - 1].append(UInt8(ascii: "%"))
        index += 1
      } else if byte == UInt8(ascii: "%") {
        parts.append([])
      } else {
        parts[parts.count - 1].append(byte)
      }
      index += 1
    }
    command = trimmed(String(decoding: parts[0], as: UTF8.self))
    if parts.count > 1 {
      input = parts.dropFirst().map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
  }
}
