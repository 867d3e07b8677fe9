import ChimeCore
import Foundation
import Testing

@testable import ChimeStorePostgres

/// A server with TLS, whose certificate must be signed by the authority in `sslrootcert`.
@Suite(
  .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Authority.isPossible, "openssl is not installed (apt install openssl)"))
struct TLSTests {
  private func refusal(_ connection: String) -> String {
    do throws(StoreFailure) {
      _ = try PostgresStore.open(try PostgresConfiguration(connection: connection))
      return "it was opened"
    } catch {
      guard case .unavailable(let sentence) = error else { return "\(error)" }
      return sentence
    }
  }

  @Test func onlyTheConfiguredCAIsTrusted() async throws {
    let folder = try Authority.Folder()
    let (ours, other) = (try Authority("ours", folder), try Authority("other", folder))
    try ours.sign("server", for: "localhost", folder)
    let port: UInt16 = 5_441
    let server = try PostgresServer(
      settings: [
        "ssl = on", "ssl_cert_file = '\(folder.path)/server.crt'", "ssl_key_file = '\(folder.path)/server.key'",
      ], port: port)
    let database = try server.makeDatabase()
    func connection(_ host: String, _ authority: String) -> String {
      "host=\(host) hostaddr=\(PostgresServer.address) port=\(port) dbname=\(database) user=chime sslmode=verify-full "
        + "sslrootcert=\(authority)"
    }
    let place = try PostgresConfiguration(connection: connection("localhost", ours.certificate))
    let store = try PostgresStore.open(place)
    try await store.write { try $0.setNote("a", "1") }
    #expect(
      try server.sql(
        "SELECT bool_and(ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.datname = '\(database)' "
          + "AND a.application_name = 'chimed'", on: "postgres") == "t")
    await store.close()

    let wrong = refusal(connection("localhost", other.certificate))
    #expect(wrong.contains("certificate verify failed"), "\(wrong)")
    let stranger = refusal(connection("db.example", ours.certificate))
    #expect(stranger.contains("does not match host name"), "\(stranger)")
    let expired = refusal(connection("localhost", try ours.expired(folder)))
    #expect(expired.contains("certificate verify failed"), "\(expired)")
    let missing = refusal(connection("localhost", folder.path + "/none.crt"))
    #expect(missing.contains("none.crt"), "\(missing)")
    for sentence in [wrong, stranger, expired, missing] {
      #expect(sentence.contains("sslrootcert"), "it says what to look at: \(sentence)")
    }
  }

  /// If TLS is required, a server without it is refused.
  @Test func serverWithoutTLSIsRefusedIfRequired() throws {
    let port: UInt16 = 5_442
    let server = try PostgresServer(port: port)
    let sentence = refusal("host=\(PostgresServer.address) port=\(port) dbname=postgres user=chime sslmode=require")
    #expect(sentence.contains("does not support SSL"), "\(sentence)")
    withExtendedLifetime(server) {}
  }
}

/// A private certificate authority, made with openssl(1).
struct Authority {
  static let isPossible = access("/usr/bin/openssl", X_OK) == 0

  /// A folder that postgres may read.
  final class Folder {
    let path: String

    init() throws {
      path = try RunFolder.makeFolder("tls")
      chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private let key: String
  let certificate: String

  init(_ name: String, _ folder: Folder) throws {
    (key, certificate) = ("\(folder.path)/\(name).key", "\(folder.path)/\(name).crt")
    try Self.openssl(
      ["req", "-new", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-out", certificate] + Self.newKey(key))
  }

  /// Creates a key and a certificate for a server.
  func sign(_ name: String, for host: String, _ folder: Folder) throws {
    let base = "\(folder.path)/\(name)"
    try "subjectAltName=DNS:\(host)\n".write(toFile: base + ".ext", atomically: true, encoding: .utf8)
    try Self.openssl(["req", "-new", "-subj", "/CN=\(host)", "-out", base + ".csr"] + Self.newKey(base + ".key"))
    try Self.openssl([
      "x509", "-req", "-days", "2", "-in", base + ".csr", "-CA", certificate, "-CAkey", key, "-CAcreateserial",
      "-extfile", base + ".ext", "-out", base + ".crt",
    ])
    // PostgreSQL requires that nobody else can read its key.
    chmod(base + ".key", 0o600)
    if getuid() == 0, let account = PostgresServer.account { chown(base + ".key", account.user, account.group) }
  }

  /// Returns a certificate of the same authority that expired yesterday.
  func expired(_ folder: Folder) throws -> String {
    let path = folder.path + "/expired.crt"
    try Self.openssl(["x509", "-in", certificate, "-signkey", key, "-days", "-1", "-out", path])
    return path
  }

  private static func newKey(_ path: String) -> [String] {
    ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]
  }

  private static func openssl(_ arguments: [String]) throws {
    let result = try ChildProcess.run("/usr/bin/openssl", arguments, errors: .asOutput)
    guard result.status == 0 else {
      throw PostgresServer.Problem("openssl \(arguments.joined(separator: " ")): \(result.text)")
    }
  }
}
