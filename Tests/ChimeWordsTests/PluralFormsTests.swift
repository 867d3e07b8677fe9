import Foundation
import Testing

/// All sentences with a count, for 0, 1, 2 and 5, in English and Czech. They are written to `.build/plurals.txt` for a
/// human reader, who notices what no rule finds.
@Suite struct PluralFormsTests {
  private static let root = URL(filePath: Package.folder)

  struct Entry {
    var one = ""
    var many = ""
    /// The Czech forms by their number.
    var czech: [Int: String] = [:]
  }

  /// Returns the catalog's entries with a plural form (gettext manual, "PO Files").
  private static func entries() throws -> [Entry] {
    let catalog = try String(contentsOf: root.appending(path: "po/cs.po"), encoding: .utf8)
    return catalog.components(separatedBy: "\n\n").compactMap { block in
      var entry = Entry()
      var texts: [String: String] = [:]
      var current = ""
      for line in block.split(separator: "\n") where !line.hasPrefix("#") {
        guard let begin = line.firstIndex(of: "\"") else { continue }
        let name = line[..<begin].trimmingCharacters(in: .whitespaces)
        if !name.isEmpty { current = name }
        texts[current, default: ""] += line[line.index(after: begin)...].dropLast()
          .replacingOccurrences(of: "\\n", with: "\n").replacingOccurrences(of: "\\\"", with: "\"")
      }
      guard let many = texts["msgid_plural"] else { return nil }
      (entry.one, entry.many) = (texts["msgid"] ?? "", many)
      for form in 0...2 { entry.czech[form] = texts["msgstr[\(form)]"] }
      return entry
    }
  }

  /// Returns the Czech form: one for 1, one for 2 to 4, and one for all others.
  private static func form(_ count: Int) -> Int { count == 1 ? 0 : (2...4).contains(count) ? 1 : 2 }

  @Test func everyPluralFormIsTranslated() throws {
    let entries = try Self.entries()
    #expect(entries.count > 50)
    var list = ""
    for entry in entries {
      for count in [0, 1, 2, 5] {
        let english = (count == 1 ? entry.one : entry.many).replacingOccurrences(of: "%n", with: "\(count)")
        let czech = try #require(entry.czech[Self.form(count)], "\(entry.one): form \(Self.form(count)) is missing")
          .replacingOccurrences(of: "%n", with: "\(count)")
        list += "\(count)\t\(english)\n\t\(czech)\n"
        for (text, source) in [
          (english, count == 1 ? entry.one : entry.many), (czech, entry.czech[Self.form(count)] ?? ""),
        ] {
          #expect(!text.isEmpty, "\(entry.one)")
          // No number is joined to a word, as in "1pages"; Czech "5krát" is correct.
          #expect(
            source.replacingOccurrences(of: "%nkrát", with: "").firstMatch(of: /%n\p{L}|\p{L}%n/) == nil, "\(source)")
          #expect(!text.contains("  ") || source.hasPrefix("  "), "two spaces: \(text)")
        }
        // A form with English words must be translated.
        let words = english.replacing(/%\d|\d|[^\p{L}]/, with: "")
        if words.count > 3 { #expect(czech != english, "not translated: \(english)") }
        // Both languages have the same placeholders.
        for mark in ["%1", "%2", "%3"] {
          #expect(entry.many.contains(mark) == czech.contains(mark), "\(mark) in \(entry.many)")
        }
      }
      list += "\n"
    }
    try list.write(to: Self.root.appending(path: ".build/plurals.txt"), atomically: true, encoding: .utf8)
  }
}
