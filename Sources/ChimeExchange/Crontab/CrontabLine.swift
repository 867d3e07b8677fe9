import ChimeSchedule

/// A CrontabComment is the role of a comment in a crontab.
enum CrontabComment: Equatable {
  /// The title of the job below it.
  case title(String)
  /// An explanation of the fields (`# m h dom mon dow command`, or a drawing of them).
  case legend
  /// A disabled job, a ruler, or nothing.
  case other

  /// The names of fields in a legend. Three of them make a comment a legend.
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
      // Ansible names its jobs like this.
      let name = text.hasPrefix("Ansible: ") ? trimmed(text.dropFirst(9)) : text
      self = name.isEmpty ? .other : .title(name)
    } else {
      self = .other
    }
  }
}

/// A CrontabVariable is a line that sets a variable: `NAME=value`, with optional blanks and quotes on both sides.
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

/// A CrontabCommand is what a job runs: a command and its input.
struct CrontabCommand: Equatable {
  /// The longest title made from a command, in bytes.
  static let longestTitle = 72

  var command: String
  var input: String?

  /// Parses a command. The first `%` without a backslash ends it; each one begins a line of input. `\%` is a literal `%`.
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
