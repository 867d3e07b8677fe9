import ChimeDaemon
import ChimeDelivery

/// A file is refused with a place in it, or what it says is written so that it is read as the same.
func checkConfiguration(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let loaded = try configuration(bytes) else { return }
  // Values of environment variables are not written.
  var expected = loaded.configuration
  for name in expected.commands.keys { expected.commands[name]?.environment = [:] }
  guard let again = try configuration(Array(loaded.text.utf8)) else {
    throw BrokenProperty("what was written is refused: \(loaded.text)")
  }
  try require(again.configuration == expected, "\(loaded.text) became \(again.text)")
}

/// Nil for one that is refused.
private func configuration(_ bytes: [UInt8]) throws(BrokenProperty) -> LoadedConfiguration? {
  var loaded = LoadedConfiguration()
  do throws(ConfigurationError) {
    try ConfigurationFiles.apply(bytes, file: "/f", to: &loaded)
    try ConfigurationFiles.checkWhole(loaded)
    return loaded
  } catch {
    return try check(error, bytes)
  }
}

private func check(_ error: ConfigurationError, _ bytes: [UInt8]) throws(BrokenProperty) -> LoadedConfiguration? {
  // A name that is not known is quoted, with its beginning only.
  try requireSentence(error.message, atMost: 4_000)
  let lines = bytes.count { $0 == 0x0A } + 1
  if let line = error.line { try require((1...lines).contains(line), "line \(line) of \(lines)") }
  if let column = error.column { try require(column >= 0 && column <= bytes.count + 1, "column \(column)") }
  return nil
}
