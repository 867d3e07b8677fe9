/// An ExchangeError says why a whole text cannot be imported: a wrong format, or a limit.
///
/// Problems of one event or job are not errors; they are reported beside the rest (``ImportRemark``).
public struct ExchangeError: Error, Hashable, Sendable {
  /// The line, from 1; `nil` if the problem has no single place.
  public let line: Int?
  /// A sentence without a full stop that names what was expected.
  public let message: String

  init(line: Int?, _ message: String) {
    self.line = line
    self.message = message
  }
}

extension ExchangeError: CustomStringConvertible {
  /// The error as `line 7: END:VEVENT was expected`.
  public var description: String { line.map { "line \($0): \(message)" } ?? message }
}

/// Refuses the whole text unless it follows a rule.
func need(_ rule: Bool, line: Int?, _ message: @autoclosure () -> String) throws(ExchangeError) {
  guard rule else { throw ExchangeError(line: line, message()) }
}
