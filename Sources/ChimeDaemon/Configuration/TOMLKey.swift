import ChimeControl
import ChimeSchedule

/// A TOMLKey is one key of a table that configures a `Root`, with its parser and formatter.
struct TOMLKey<Root>: Sendable {
  /// The path below the root's table.
  let path: String
  /// The valid values, for error messages.
  let expected: String
  /// Sets the value. Returns false for an invalid value.
  let set: @Sendable (inout Root, ConfigurationValue) -> Bool
  /// Returns the value as TOML; nil if it is not set.
  let show: @Sendable (Root) -> String?

  typealias Spot<Value> = WritableKeyPath<Root, Value> & Sendable
}

/// The value of a key: a scalar, or an array of scalars.
enum ConfigurationValue: Hashable, Sendable {
  case scalar(TOMLEntry.Value)
  case array([TOMLEntry.Value])

  var kind: String {
    switch self {
    case .scalar(let value): value.kind
    case .array: "an array"
    }
  }

  var string: String? { if case .scalar(.string(let text)) = self { text } else { nil } }

  /// The elements of an array of strings; nil for any other value.
  var strings: [String]? { elements { if case .string(let text) = $0 { text } else { nil } } }

  /// Returns the elements of an array, each as `read` returns it; nil for a scalar, or if it returns nil for one.
  func elements<Element>(_ read: (TOMLEntry.Value) -> Element?) -> [Element]? {
    guard case .array(let values) = self else { return nil }
    let elements = values.compactMap(read)
    return elements.count == values.count ? elements : nil
  }

  func number<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number? {
    guard case .scalar(.integer(let number)) = self, let number = Number(exactly: number), range.contains(number) else {
      return nil
    }
    return number
  }
}

extension Milliseconds {
  /// Parses a duration within a range.
  init?(_ text: String, in range: ClosedRange<Milliseconds>) {
    guard let length = try? DurationText.parse(text), range.contains(length) else { return nil }
    self = length
  }
}

extension TOMLKey {
  /// A value that `read` parses, or returns nil for, and `write` formats as TOML.
  init<Value>(
    _ path: String, _ place: any Spot<Value>, _ expected: String,
    read: @escaping @Sendable (ConfigurationValue) -> Value?, write: @escaping @Sendable (Value) -> String?
  ) {
    self.init(
      path: path, expected: expected,
      set: { root, value in
        guard let value = read(value) else { return false }
        root[keyPath: place] = value
        return true
      }, show: { write($0[keyPath: place]) })
  }

  /// A value written as a string.
  static func string<Value>(
    _ path: String, _ place: any Spot<Value>, _ expected: String, read: @escaping @Sendable (String) -> Value?,
    write: @escaping @Sendable (Value) -> String?
  ) -> Self {
    Self(path, place, expected, read: { $0.string.flatMap(read) }, write: { write($0).map(TOMLText.quoted) })
  }

  /// A text of so many bytes without NUL.
  static func text(
    _ path: String, _ place: any Spot<String>, _ expected: String = "a string", _ length: ClosedRange<Int> = 0...4_000,
    where isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    .string(
      path, place, expected, read: { length.contains($0.utf8.count) && !$0.utf8.contains(0) && isValid($0) ? $0 : nil },
      write: { $0 })
  }

  /// Values written as an array of strings, each of which `read` parses.
  static func array<Value>(
    _ path: String, _ place: any Spot<[Value]>, _ expected: String, _ count: ClosedRange<Int>,
    read: @escaping @Sendable (String) -> Value?, write: @escaping @Sendable (Value) -> String
  ) -> Self {
    Self(
      path, place, expected,
      read: { value in
        guard let texts = value.strings, count.contains(texts.count) else { return nil }
        let values = texts.compactMap(read)
        return values.count == texts.count ? values : nil
      }, write: { TOMLText.array($0.map(write)) })
  }

  static func flag(_ path: String, _ place: any Spot<Bool>) -> Self {
    Self(
      path, place, "true or false", read: { if case .scalar(.boolean(let isOn)) = $0 { isOn } else { nil } },
      write: { String($0) })
  }

  static func number<Number: FixedWidthInteger & Sendable>(
    _ path: String, _ place: any Spot<Number>, _ range: ClosedRange<Number>
  ) -> Self {
    Self(path, place, Self.whole(range), read: { $0.number(range) }, write: { String($0) })
  }

  /// A number that may be missing.
  static func number<Number: FixedWidthInteger & Sendable>(
    _ path: String, _ place: any Spot<Number?>, _ range: ClosedRange<Number>
  ) -> Self {
    Self(
      path, place, Self.whole(range), read: { $0.number(range).map(Optional.some) }, write: { $0.map { String($0) } })
  }

  private static func whole(_ range: ClosedRange<some FixedWidthInteger>) -> String {
    "a whole number from \(range.lowerBound) to \(range.upperBound)"
  }

  /// A number up to `most`; 0 means none.
  static func limit(_ path: String, _ place: any Spot<Int?>, _ expected: String, _ most: Int) -> Self {
    Self(
      path, place, expected,
      read: { $0.number(0...most).map { $0 == 0 ? .none : .some($0) } }, write: { String($0 ?? 0) })
  }

  /// - Parameter such: an example.
  static func duration(
    _ path: String, _ place: any Spot<Milliseconds>, _ range: ClosedRange<Milliseconds>, such: String
  ) -> Self {
    .string(
      path, place,
      "a duration from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound)), such as "
        + "\"\(such)\"", read: { Milliseconds($0, in: range) }, write: DurationText.format)
  }

  static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    _ path: String, _ place: any Spot<Choice>
  ) -> Self {
    .string(
      path, place, "one of " + Choice.allCases.map { TOMLText.quoted($0.rawValue) }.joined(separator: ", "),
      read: Choice.init(rawValue:), write: \.rawValue)
  }
}

// Tables with the names of users' own things, such as `[commands.backup]`.
extension ConfigurationFiles {
  /// Sets a key of such a table.
  ///
  /// - Parameters:
  ///   - more: names of keys that are not in `keys`, for messages.
  ///   - unknown: returns the message about a name that is no key, from the quoted name and a hint.
  static func set<Root>(
    _ name: String, of keys: [TOMLKey<Root>], more: [String] = [], _ entry: TOMLEntry,
    _ elements: [TOMLEntry], file: String, in root: inout Root,
    unknown: (String, String) -> String
  ) throws(ConfigurationError) {
    guard let key = keys.first(where: { $0.path == name }) else {
      let names = keys.map(\.path) + more
      let hint =
        SpellingSuggestions.to(name, among: names).first.map { "did you mean \($0)?" }
        ?? "it takes \(names.joined(separator: ", "))"
      throw entry.refusal(file, unknown(TOMLText.quoted(String(name.prefix(80))), hint), atKey: true)
    }
    let value = entry.whole(elements)
    guard key.set(&root, value) else {
      throw entry.refusal(file, "\(entry.path) must be \(key.expected); found \(shown(value))")
    }
  }
}

extension LoadedConfiguration {
  /// Returns such a table as TOML, each value with its origin.
  func lines<Root>(_ table: String, _ keys: [TOMLKey<Root>], of root: Root) -> [String] {
    ["", "[\(table)]"]
      + keys.compactMap { key in key.show(root).map { line("\(key.path) = \($0)", from: "\(table).\(key.path)") } }
  }

  /// Returns a line of TOML with the origin of its value.
  func line(_ text: String, from key: String) -> String {
    text + String(repeating: " ", count: max(1, 44 - text.count)) + "# \(origins[key] ?? "default")"
  }
}

extension TOMLEntry {
  /// Returns the error of this entry; `atKey` locates it at the key instead of the value.
  func refusal(_ file: String, _ message: String, atKey: Bool = false) -> ConfigurationError {
    ConfigurationError(
      file: file, line: atKey ? keyLine : line, column: atKey ? keyColumn : column, message: message)
  }

  /// Returns the value, with the elements of an array.
  func whole(_ elements: [TOMLEntry]) -> ConfigurationValue {
    value == .array ? .array(elements.map(\.value)) : .scalar(value)
  }
}
