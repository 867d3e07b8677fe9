internal import ChimeSchedule

/// The product's words in the user's language.
///
/// A text is its own key, in English. `%1`, `%2` … stand for values; `%n` for a count. Called with the text itself, not
/// with a variable, so that `Packaging/words` finds it; what stands in a table is marked there, and said with `say(key:)`.
///
///     Words.say("Logged %1 of %2", "250 ml", "Water")
///     Words.say(count: 3, "%n day", "%n days")
public enum Words {
  public static func say(_ text: StaticString, _ values: any CustomStringConvertible...) -> String {
    filled(Catalogs.translated(text.description), values)
  }

  /// A text that is known from elsewhere, such as a row of the table of verbs.
  public static func say(key text: String, _ values: any CustomStringConvertible...) -> String {
    filled(Catalogs.translated(text), values)
  }

  /// The right plural form for `count`, which stands for `%n`.
  public static func say(
    count: Int, _ one: StaticString, _ many: StaticString, _ values: any CustomStringConvertible...
  ) -> String {
    filled(Catalogs.translated(one.description, many.description, count), values, count: String(count))
  }

  /// `3rd`, and in Czech `3.`.
  public static func ordinal(_ number: Int) -> String {
    // One form is enough for languages that have but one; English has four.
    let plain = "\(number)th"
    let translated = Words.say("%1th", number)
    guard translated == plain else { return translated }
    switch (number % 10, number % 100) {
    case (_, 11...13): return plain
    case (1, _): return "\(number)st"
    case (2, _): return "\(number)nd"
    case (3, _): return "\(number)rd"
    default: return plain
    }
  }

  /// Marks a text for `Packaging/words` that is said later, with `say(key:)`.
  public static func mark(_ text: StaticString) -> String { text.description }

  /// The same with the values in a list.
  public static func say(key text: String, filling values: [String]) -> String {
    filled(Catalogs.translated(text), values)
  }

  /// The text as it stands in the program, for other programs.
  public static func english(_ text: String, filling values: [String]) -> String { filled(text, values) }

  /// A sentence that the daemon or a room without a locale wrote in English; itself where the catalog does not know it.
  ///
  /// For the screen only: JSON, `--plain` and what is compared have it as it came.
  ///
  ///     Words.told("water has no items: leave the item out")
  public static func told(_ sentence: String) -> String {
    Sayings.current.translated(sentence) { CivilDate($0).map(Figures.date) ?? Catalogs.systemError($0) } ?? sentence
  }

  /// One pass, so that a value with a `%` in it stays as it is; `percents`: %% stands for one.
  static func filled(
    _ text: String, _ values: [any CustomStringConvertible], count: String? = nil, percents: Bool = false
  ) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result = ""
    var rest = text[...]
    while let sign = rest.firstIndex(of: "%") {
      result += rest[..<sign]
      rest = rest[rest.index(after: sign)...]
      guard let mark = rest.first else { return result + "%" }
      if mark == "n", let count {
        result += count
      } else if let position = mark.wholeNumberValue, values.indices.contains(position - 1) {
        result += values[position - 1].description
      } else {
        result += "%"
        if percents, mark == "%" { rest = rest.dropFirst() }
        continue
      }
      rest = rest.dropFirst()
    }
    return result + rest
  }
}
