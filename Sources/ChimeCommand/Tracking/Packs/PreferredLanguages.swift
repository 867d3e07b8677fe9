/// The user's languages, best first, for texts that contain several languages, as those of packs do.
///
///     PreferredLanguages(environment: ["LANG": "cs_CZ.UTF-8"]).text(["en": "Water", "cs": "Voda"])   // "Voda"
///
/// Source: gettext(3) for LANGUAGE, locale(7) for the others; BCP 47 for the tags.
struct PreferredLanguages: Equatable, Sendable {
  /// BCP 47 tags such as `cs` and `pt-BR`.
  var languages: [String]

  init(languages: [String]) { self.languages = languages }

  init(environment: [String: String]) {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG") ?? "C"
    let bare = Self.tag(locale)
    // LANGUAGE counts in any locale except C itself; gettext honors it in C.UTF-8 too.
    let listed = locale == "C" || locale == "POSIX" ? nil : value("LANGUAGE")
    let wanted = (listed?.split(separator: ":").map { Self.tag(String($0)) } ?? []) + [bare, "en"]
    languages = wanted.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Returns `cs-CZ` for `cs_CZ.UTF-8`; C and POSIX mean English.
  private static func tag(_ locale: String) -> String {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    if name == "C" || name == "POSIX" || name.isEmpty { return "en" }
    return String(name).replacing("_", with: "-")
  }

  /// The language of the interface, for `<html lang>`.
  var first: String { languages.first ?? "en" }

  /// Returns the best available text and its language tag.
  func choose(_ texts: [String: String]) -> (language: String, text: String)? {
    // Prefer a language without its region over the next language.
    for language in languages.flatMap({ [$0, String($0.prefix { $0 != "-" })] }) {
      if let text = texts[language] { return (language, text) }
    }
    return texts.min { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the best available text; `fallback` if there is none.
  func text(_ texts: [String: String], or fallback: String = "") -> String { choose(texts)?.text ?? fallback }

  /// Whether the language is written from right to left.
  static func isRightToLeft(_ language: String) -> Bool {
    let base = String(language.lowercased().prefix { $0 != "-" && $0 != "_" })
    return ["ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "dv", "ckb", "syr", "arc"].contains(base)
  }
}
