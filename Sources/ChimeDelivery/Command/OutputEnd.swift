/// The end of what a program wrote.
public enum OutputEnd {
  /// The last bytes of a text, cut between characters, without control characters but line ends; nil when nothing is left.
  ///
  ///     OutputEnd.printable("copied\u{7}\nall done\n", bytes: 7)   // "…done"
  public static func printable(_ text: String, bytes: Int) -> String? {
    // Controls go first: a text full of them may end in little that can be read.
    var clean = PlainText.withoutControls(text, lines: true)
    while clean.last?.isWhitespace == true { clean.removeLast() }
    guard clean.utf8.count > bytes else { return clean.isEmpty ? nil : clean }
    let mark = "…"
    var start = clean.utf8.index(clean.endIndex, offsetBy: mark.utf8.count - bytes)
    // A character is not cut in two.
    while start < clean.endIndex, start.samePosition(in: clean) == nil { start = clean.utf8.index(after: start) }
    return mark + clean[start...]
  }
}
