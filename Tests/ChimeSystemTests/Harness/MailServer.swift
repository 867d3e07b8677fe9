import Foundation

/// A mail server of aiosmtpd's (PyPI), and the mailboxes behind it.
struct MailServer {
  /// How TLS begins.
  enum Security: String { case none, smtps, starttls, denied }

  let address: String
  let port: Int
  /// Its certificate, which it has signed itself; nil without TLS.
  let certificate: String?
  let folder: String
  private let security: Security
  private let process: Child

  /// - Parameters:
  ///   - address: 127.0.0.1 counts as this very machine, where TLS may be done without; 127.0.0.2 does not.
  ///   - login: `NAME:PASSWORD` without which nothing is taken.
  static func start(
    in home: Home, _ security: Security = .none, at address: String = "127.0.0.1", login: String? = nil
  ) async throws -> MailServer {
    let folder = home.path + "/mail-\(security.rawValue)-\(address)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var words = [Machine.support("mail-server"), folder, "--address", address]
    if security != .none { words.append("--\(security.rawValue)") }
    if let login { words += ["--login", login] }
    let process = try await home.spawn(Machine.clients, words)
    let said = try await eventually("the server says its port") { () -> JSON? in
      if let end = process.end { throw HarnessFailure("the server ended with \(end): \(process.errors)") }
      return try process.lines.first.map { try JSON(parsing: $0) }
    }
    return MailServer(
      address: address, port: said["port"].int ?? 0, certificate: said["certificate"].string, folder: folder,
      security: security, process: process)
  }

  var url: String { "\(security == .smtps ? "smtps" : "smtp")://\(address):\(port)" }

  private var said: [JSON] { Array(process.said.dropFirst()) }

  /// What it took, or is about to.
  var messages: [JSON] { said.filter { $0["sender"].string != nil } }

  /// How often it refused a recipient.
  var refusals: Int { said.count { $0["refused"].string != nil } }

  /// Makes the file by which a mailbox that refuses takes messages, or `hold`.
  func make(_ name: String) { _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
}
