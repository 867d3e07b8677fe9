/// Extracts the end of a program's output.
public enum OutputEnd {
  /// Returns the last bytes of a text without control characters other than line ends; nil if nothing is left.
  ///
  ///     OutputEnd.printable("copied\u{7}\nall done\n", bytes: 7)   // "…done"
  public static func printable(_ text: String, bytes: Int) -> String? {
    // Controls are removed before the cut, since they would use up the byte limit.
    var clean = PlainText.withoutControls(text, lines: true)
    while clean.last?.isWhitespace == true { clean.removeLast() }
    guard clean.utf8.count > bytes else { return clean.isEmpty ? nil : clean }
    let mark = "…"
    var start = clean.utf8.index(clean.endIndex, offsetBy: mark.utf8.count - bytes)
    // Move to the next character boundary.
    while start < clean.endIndex, start.samePosition(in: clean) == nil { start = clean.utf8.index(after: start) }
    return mark + clean[start...]
  }
}
