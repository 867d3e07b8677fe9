internal import CIntl
internal import Glibc

/// Catalogs locates the translations and chooses the language.
///
/// It uses gettext(3): `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG` choose the language. It looks for the catalogs
/// beside the program (`../share/locale`), in a build folder, in `/usr/share/locale`, or in `TEXTDOMAINDIR`.
public enum Catalogs {
  static let domain = "chime"

  /// Takes the language from the environment. Call it once, at the start, while the process has a single thread.
  ///
  /// Numbers keep their C format for code that reads and writes files. Only `LocalizedFormat` uses the locale's.
  ///
  /// - Parameter systemErrors: Whether to translate the C library's error messages (strerror(3)) too. Leave them in
  ///   English for a journal, or for a client who may read another language.
  public static func begin(systemErrors: Bool = true) {
    let wanted = languages(of: environment)
    // Translate even if the machine has not generated the requested locale.
    if setlocale(LC_MESSAGES, "") == nil || current == "C", let language = wanted.first, language != "en" {
      if setlocale(LC_MESSAGES, "C.UTF-8") != nil { setenv("LANGUAGE", wanted.joined(separator: ":"), 1) }
    }
    _ = setlocale(LC_TIME, "")
    if let folder = folder() { _ = bindtextdomain(domain, folder) }
    _ = bind_textdomain_codeset(domain, "UTF-8")
    // Without a codeset, libc's messages would be reduced to ASCII, because LC_CTYPE stays that of C.
    _ = systemErrors ? bind_textdomain_codeset("libc", "UTF-8") : bindtextdomain("libc", "/nonexistent")
  }

  /// The languages that the user reads, best first: `["cs_CZ", "cs", "en"]`. Empty if none is requested.
  public static var languages: [String] { languages(of: environment) }

  /// - Parameter value: Returns the value of an environment variable.
  static func languages(of value: (String) -> String?) -> [String] {
    func set(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }
    let locale = set("LC_ALL") ?? set("LC_MESSAGES") ?? set("LANG") ?? "C"
    let name = String(locale.prefix { $0 != "." && $0 != "@" })
    // As in gettext, LANGUAGE has no effect in the C locale.
    if locale == "C" || locale == "POSIX" { return [] }
    let listed = (set("LANGUAGE") ?? "").split(separator: ":").map { String($0) }
    let all = listed + (name == "C" || name == "POSIX" ? [] : [name])
    var seen: Set<String> = []
    return all.flatMap { [$0, String($0.prefix { $0 != "_" })] }.filter { seen.insert($0).inserted }
  }

  private static var environment: (String) -> String? { { name in getenv(name).map { String(cString: $0) } } }

  private static var current: String { setlocale(LC_MESSAGES, nil).map { String(cString: $0) } ?? "C" }

  /// Whether `begin` found a language other than C.
  static var isSpeaking: Bool { current != "C" }

  /// Whether the C library has the locale of the environment.
  public static var knowsLocale: Bool {
    guard let locale = newlocale(Int32(LC_MESSAGES_MASK), "", nil) else { return false }
    freelocale(locale)
    return true
  }

  /// The languages with a catalog: `["cs"]`.
  public static var installed: [String] {
    guard let folder = folder(), let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if access("\(folder)/\(name)/LC_MESSAGES/\(domain).mo", R_OK) == 0 { names.append(name) }
    }
    return names.sorted()
  }

  private static func folder() -> String? {
    if let given = environment("TEXTDOMAINDIR"), !given.isEmpty { return given }
    guard let program = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(program) }
    let path = String(cString: program)
    guard let slash = path.lastIndex(of: "/") else { return nil }
    let home = path[..<slash]
    return ["\(home)/../share/locale", "\(home)/../../share/locale", "/usr/share/locale"].first {
      access("\($0)/cs/LC_MESSAGES/\(domain).mo", R_OK) == 0
    }
  }

  /// The path of the catalog for the user's language; `nil` if there is none.
  static var file: String? {
    guard isSpeaking, let folder = folder() else { return nil }
    return languages.lazy.map { "\(folder)/\($0)/LC_MESSAGES/\(domain).mo" }.first { access($0, R_OK) == 0 }
  }

  /// Returns the text in the user's language, or unchanged if there is no translation.
  static func translated(_ text: String) -> String {
    text.withCString { key in dgettext(domain, key).map { String(cString: $0) } ?? text }
  }

  /// Returns the translation of a C library error message, or the text unchanged if it is not one.
  static func systemError(_ text: String) -> String {
    text.contains(" ") ? text.withCString { dgettext("libc", $0).map { String(cString: $0) } ?? text } : text
  }

  static func translated(_ one: String, _ many: String, _ count: Int) -> String {
    one.withCString { one in
      many.withCString { many in
        dngettext(domain, one, many, count.magnitude).map { String(cString: $0) } ?? ""
      }
    }
  }
}
