/// Quotes text as one word of a POSIX shell, for commands that are shown to be typed.
public enum ShellText {
  public static func quoted(_ text: String) -> String {
    let signs = "0123456789/.,-_@:+".unicodeScalars
    let isPlain = text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || signs.contains($0) }
    if isPlain, !text.isEmpty { return text }
    let words = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "'\\''") + "'"
  }
}
