internal import ChimeSchedule

/// Translates a message of the command into the user's language (gettext(3)).
///
/// The English text is the key. `%1`, `%2` … stand for values, `%n` for a count. Pass a literal, because `Packaging/words`
/// collects the literals from the sources; a text from a table is marked with `localizable` and passed as `key:`.
///
///     localized("Logged %1 of %2", "250 ml", "Water")
///     localized(count: 3, "%n day", "%n days")
public func localized(_ text: StaticString, _ values: any CustomStringConvertible...) -> String {
  Words.filled(Catalogs.translated(text.description), values)
}

/// Translates a text that is not a literal here, such as a row of the table of verbs.
public func localized(key text: String, _ values: any CustomStringConvertible...) -> String {
  Words.filled(Catalogs.translated(text), values)
}

/// Translates a text whose values come as a list.
public func localized(key text: String, filling values: [String]) -> String {
  Words.filled(Catalogs.translated(text), values)
}

/// Translates a text with the plural form for `count`, which replaces `%n`.
public func localized(
  count: Int, _ one: StaticString, _ many: StaticString, _ values: any CustomStringConvertible...
) -> String {
  Words.filled(Catalogs.translated(one.description, many.description, count), values, count: String(count))
}

/// Marks a text for `Packaging/words` that is translated later, with `localized(key:)`.
public func localizable(_ text: StaticString) -> String { text.description }

/// Translates a sentence that the daemon, or a module without a locale, wrote in English. Returns it unchanged where the
/// catalog does not know it.
///
/// For the screen only: JSON, `--plain` and comparisons use the English sentence.
///
///     localizedServerMessage("water has no items: leave the item out")
public func localizedServerMessage(_ sentence: String) -> String {
  ServerMessagePatterns.current.translated(sentence) {
    CivilDate($0).map(LocalizedFormat.date) ?? Catalogs.systemError($0)
  } ?? sentence
}

/// Words fills values into texts, in the user's language or in English.
public enum Words {
  /// Returns `3rd` for 3, and `3.` in Czech.
  public static func ordinal(_ number: Int) -> String {
    // Languages with one form translate "%1th". English needs four forms.
    let plain = "\(number)th"
    let translated = localized("%1th", number)
    guard translated == plain else { return translated }
    switch (number % 10, number % 100) {
    case (_, 11...13): return plain
    case (1, _): return "\(number)st"
    case (2, _): return "\(number)nd"
    case (3, _): return "\(number)rd"
    default: return plain
    }
  }

  /// Returns the English text with its values, for other programs.
  public static func english(_ text: String, filling values: [String]) -> String { filled(text, values) }

  /// Fills values in one pass, so that a `%` in a value stays unchanged. With `percents`, %% becomes %.
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
