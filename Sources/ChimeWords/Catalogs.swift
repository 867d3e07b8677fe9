internal import CIntl
internal import Glibc

/// Where the translations are, and in which language they are wanted.
///
/// gettext(3) does the work: `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG` say which language, and the catalogs are looked
/// for beside the program (`../share/locale`), in a build folder, in `/usr/share/locale`, or where `TEXTDOMAINDIR` says.
public enum Catalogs {
  static let domain = "chime"

  /// Takes the language from the environment. Called once, first of all, while the process has one thread.
  ///
  /// Numbers stay as C writes them for all that reads and writes files: only `LocalizedFormat` knows the locale's.
  ///
  /// - Parameter systemErrors: whether what the C library calls an error (strerror(3)) is translated too. It is not where
  ///   that goes into a journal, or to a client who may read another language.
  public static func begin(systemErrors: Bool = true) {
    let wanted = languages(of: environment)
    // A locale that this machine has not generated is no reason to be spoken to in English.
    if setlocale(LC_MESSAGES, "") == nil || current == "C", let language = wanted.first, language != "en" {
      if setlocale(LC_MESSAGES, "C.UTF-8") != nil { setenv("LANGUAGE", wanted.joined(separator: ":"), 1) }
    }
    _ = setlocale(LC_TIME, "")
    if let folder = folder() { _ = bindtextdomain(domain, folder) }
    _ = bind_textdomain_codeset(domain, "UTF-8")
    // Its catalogs are bound as any other's. Without a coding its words would be cut down to ASCII, as LC_CTYPE is C's.
    _ = systemErrors ? bind_textdomain_codeset("libc", "UTF-8") : bindtextdomain("libc", "/nonexistent")
  }

  /// The languages that the user reads, best first: `["cs_CZ", "cs", "en"]`. Empty where none is asked for.
  public static var languages: [String] { languages(of: environment) }

  /// - Parameter value: an environment variable.
  static func languages(of value: (String) -> String?) -> [String] {
    func set(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }
    let locale = set("LC_ALL") ?? set("LC_MESSAGES") ?? set("LANG") ?? "C"
    let name = String(locale.prefix { $0 != "." && $0 != "@" })
    // As gettext has it: in the locale C nothing is translated, whatever LANGUAGE says.
    if locale == "C" || locale == "POSIX" { return [] }
    let listed = (set("LANGUAGE") ?? "").split(separator: ":").map { String($0) }
    let all = listed + (name == "C" || name == "POSIX" ? [] : [name])
    var seen: Set<String> = []
    return all.flatMap { [$0, String($0.prefix { $0 != "_" })] }.filter { seen.insert($0).inserted }
  }

  private static var environment: (String) -> String? { { name in getenv(name).map { String(cString: $0) } } }

  private static var current: String { setlocale(LC_MESSAGES, nil).map { String(cString: $0) } ?? "C" }

  /// Whether `begin` has found a language to speak other than that of C.
  static var isSpeaking: Bool { current != "C" }

  /// Whether the C library has the locale that the environment names.
  public static var knowsLocale: Bool {
    guard let locale = newlocale(Int32(LC_MESSAGES_MASK), "", nil) else { return false }
    freelocale(locale)
    return true
  }

  /// The languages that there are catalogs of: `["cs"]`.
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

  /// The catalog of the user's language; nil where there is none.
  static var file: String? {
    guard isSpeaking, let folder = folder() else { return nil }
    return languages.lazy.map { "\(folder)/\($0)/LC_MESSAGES/\(domain).mo" }.first { access($0, R_OK) == 0 }
  }

  /// The text in the user's language; itself where there is none.
  static func translated(_ text: String) -> String {
    text.withCString { key in dgettext(domain, key).map { String(cString: $0) } ?? text }
  }

  /// What the C library calls an error, in the user's language, when the text is such a name.
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
