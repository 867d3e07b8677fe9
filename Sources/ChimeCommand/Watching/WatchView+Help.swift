import ChimeWords

extension WatchView {
  /// Draws the help: keys and signs.
  func drawHelp(on frame: inout Frame) {
    let keys: [(String, String)] = [
      (glyphs.isASCII ? "j k" : "↑ ↓  j k", localized("select what to answer")), ("d", localized("done")),
      ("s", localized("snooze as usual")), ("S", localized("snooze, asking how long")), ("x", localized("dismiss")),
      ("Ctrl-L", localized("draw the screen again")), ("?", localized("this help")),
      ("q  Esc  Ctrl-C", localized("leave")),
    ]
    frame.put(localized("The keys of chime watch"), 0, 0, .strong)
    let column = min(keys.map { TextWidth.of($0.0) }.max() ?? 0, max(6, width / 3)) + 4
    var y = 2
    for (key, meaning) in keys {
      frame.put(key, 2, y, .strong, room: column - 3)
      for line in TextWidth.wrap(meaning, to: max(10, width - column)) {
        frame.put(line, column, y)
        y += 1
      }
    }
    y += 1
    let rest = localized(
      """
      It follows the daemon by itself. If the daemon stops, the screen stays and updates again when it is back. \
      `chime watch --lines` prints a line for each event instead.
      """)
    for line in TextWidth.wrap(rest, to: max(10, width - 2), indent: 2) where y < height {
      frame.put(line, 0, y, .faint)
      y += 1
    }
  }
}
