package import ChimeDelivery
import ChimeSchedule

/// An EndpointSecretFile holds the secrets of one endpoint: signing secrets and a token.
///
/// The text has a line for each. Empty lines and lines that begin with `#` are ignored:
///
///     whsec_…
///     whsk_…
///     whsec_… until 2026-03-30T08:30:00Z
///     token tk_…
///
/// A second token in the `token` line serves to withdraw messages.
package struct EndpointSecretFile: Sendable {
  package struct Line: Sendable {
    package let text: String
    package var signing: SigningSecret

    init(_ text: String, until: Instant? = nil) throws(SecretError) {
      self.text = text.trimmed
      signing = SigningSecret(try Secret(text), until: until)
    }
  }

  /// The signing secrets, newest first.
  package var secrets: [Line] = []
  package var token: Token?

  init() {}

  /// Parses the text of a file.
  ///
  /// - Throws: `EndpointSecretFileError`, which quotes nothing of the text.
  package init(parsing text: String) throws(EndpointSecretFileError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      do {
        switch (words.count, first) {
        case (2...3, "token"): token = try Token(words.dropFirst().joined(separator: "\n"))
        case (1, _): secrets.append(try Line(first))
        case (3, _) where words[1] == "until":
          guard let until = try? RFC3339.parse(words[2]) else {
            throw EndpointSecretFileError(
              "line \(index + 1): until needs a time, such as 2026-12-01T09:00:00Z")
          }
          secrets.append(try Line(first, until: until))
        default:
          throw EndpointSecretFileError("line \(index + 1) must be a secret, or SECRET until TIME, or token TEXT")
        }
      } catch let error as EndpointSecretFileError {
        throw error
      } catch {
        throw EndpointSecretFileError("line \(index + 1): \(error)")
      }
    }
  }

  package var text: String {
    var lines = secrets.map { line in
      line.text + (line.signing.until.map { " until \(RFC3339.format($0, in: .utc))" } ?? "")
    }
    if let token { lines.append("token \(token.stored)") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The secrets that were not replaced.
  var current: [Line] { secrets.filter { $0.signing.until == nil } }

  /// The time when the last replaced secret stops signing.
  var rotationEnds: Instant? { secrets.compactMap(\.signing.until).max() }

  /// Removes expired secrets. Returns whether there were any.
  mutating func forget(before now: Instant) -> Bool {
    let count = secrets.count
    secrets.removeAll { line in line.signing.until.map { $0 <= now } ?? false }
    return secrets.count != count
  }
}

/// An error in a file of secrets, without any of its content.
package struct EndpointSecretFileError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
