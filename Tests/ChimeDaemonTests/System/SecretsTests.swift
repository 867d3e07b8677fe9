import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// The location, permissions and expiry of secrets.
final class SecretsTests {
  let folder = RunFolder.url.appending(path: "chime-secrets-\(UUID().uuidString)").path()

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  @Test func unreadableSecretFileIsNotOverwritten() throws {
    let secrets = Secrets(folder: folder + "/secrets")
    let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
    // A folder in its place cannot be read as a file, not even by root.
    try FileManager.default.createDirectory(atPath: folder + "/secrets/1000-team", withIntermediateDirectories: true)
    #expect(throws: ChimeDaemon.SystemError.self) { try secrets.change(queue) { $0.token = try? Token("tk_1") } }
    #expect(throws: ChimeDaemon.SystemError.self) { try secrets.change(queue) { $0 = EndpointSecretFile() } }
    #expect(FileManager.default.fileExists(atPath: folder + "/secrets/1000-team"))
  }

  /// A crash after the removal of an endpoint, or an older store, can leave a file behind.
  @Test func newEndpointDoesNotInheritTheSecretOfARemovedOne() throws {
    try FileManager.default.createDirectory(atPath: folder + "/given", withIntermediateDirectories: true)
    let secrets = Secrets(folder: folder + "/secrets", credentials: folder + "/given", credentialOwner: 1_000)
    let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
    let (old, given) = (Secret.make(.hmac), Secret.make(.hmac))
    let line = try EndpointSecretFile.Line(old)
    try secrets.change(queue) { sheet in
      sheet.secrets = [line]
      sheet.token = try? Token("tk_1")
    }
    #expect(secrets.read(queue, isNew: true).sheet.text == "")
    // The service manager's credential applies to that name.
    try Data("\(given)\n".utf8).write(to: URL(fileURLWithPath: folder + "/given/endpoint.team"))
    #expect(secrets.read(queue, isNew: true).sheet.text == "\(given)\n")
    #expect(secrets.read(queue).sheet.text == "\(old)\ntoken tk_1\n")
  }

  /// A secret that could not be read with the endpoints is read again by the next attempt.
  @Test func unreadableSecretIsReadAgainByTheNextAttempt() throws {
    let secrets = Secrets(folder: folder + "/secrets")
    let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
    let line = try EndpointSecretFile.Line(Secret.make(.hmac))
    try secrets.change(queue) { $0.secrets = [line] }
    let endpoint = Endpoint(queue: queue, url: "https://example.test/", createdAt: .earliest)
    let directory = EndpointCache(secrets: secrets)
    let now = Instant(seconds: 1_774_859_400)
    try FileManager.default.moveItem(atPath: secrets.folder, toPath: secrets.folder + ".away")
    #expect(directory.replace(with: [endpoint], now: now).mended.isEmpty)
    #expect(directory.access(queue)?.secrets.isEmpty == true)
    // A folder in its place cannot be read as a file, not even by root.
    try FileManager.default.createDirectory(atPath: secrets.folder + "/1000-team", withIntermediateDirectories: true)
    let problem = try #require(directory.access(queue)?.problem)
    #expect(problem.contains("cannot be read"), "\(problem)")
    try FileManager.default.removeItem(atPath: secrets.folder)
    try FileManager.default.moveItem(atPath: secrets.folder + ".away", toPath: secrets.folder)
    #expect(directory.access(queue)?.secrets.map(\.secret) == [line.signing.secret])
    #expect(directory.access(queue)?.problem == nil)
    // The loop learns once which endpoints are repaired.
    try FileManager.default.moveItem(atPath: secrets.folder, toPath: secrets.folder + ".away")
    #expect(directory.replace(with: [endpoint], now: now).mended.isEmpty)
    try FileManager.default.moveItem(atPath: secrets.folder + ".away", toPath: secrets.folder)
    #expect(directory.replace(with: [endpoint], now: now).mended == [queue])
    #expect(directory.replace(with: [endpoint], now: now).mended.isEmpty)
  }

  @Test func secretFilesArePrivateAndReplacedAtomically() throws {
    let secrets = Secrets(folder: folder + "/secrets")
    let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
    #expect(secrets.read(queue).sheet.text == "")
    let (first, second) = (Secret.make(.hmac), Secret.make(.ed25519))
    try secrets.change(queue) { $0.secrets = (try? [EndpointSecretFile.Line(first)]) ?? [] }
    let until = Instant(seconds: 1_774_859_400)
    let lines = [try EndpointSecretFile.Line(second), try EndpointSecretFile.Line(first, until: until)]
    try secrets.change(queue) { sheet in
      sheet.secrets = lines
      sheet.token = try? Token("tk_1")
    }
    let kept = secrets.read(queue)
    #expect(kept.sheet.text == "\(second)\n\(first) until 2026-03-30T08:30:00Z\ntoken tk_1\n")
    #expect(kept.sheet.current.map(\.text) == [second] && kept.sheet.rotationEnds == until && kept.problem == nil)
    #expect(try mode(folder + "/secrets") == 0o700)
    #expect(try mode(folder + "/secrets/1000-team") == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/secrets") == ["1000-team"])

    let directory = EndpointCache(secrets: secrets)
    let endpoint = Endpoint(queue: queue, url: "http://127.0.0.1/", createdAt: until)
    #expect(directory.replace(with: [endpoint], now: until - .seconds(1)).nextEnd == until)
    let review = directory.replace(with: [endpoint], now: until)
    #expect(review.nextEnd == nil && review.hasOldSecrets && review.problems.isEmpty)
    directory.forgetOldSecrets(until)
    #expect(secrets.read(queue).sheet.text == "\(second)\ntoken tk_1\n")
    #expect(!directory.replace(with: [endpoint], now: until).hasOldSecrets)

    try secrets.change(queue) { $0 = EndpointSecretFile() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/secrets").isEmpty)
    secrets.remove(queue)
  }

  /// Temporary files of one endpoint never collide with another's file, and the next start removes leftovers of a crash.
  @Test func endpointsWithSimilarNamesHaveSeparateFiles() throws {
    let secrets = Secrets(folder: folder + "/secrets")
    let queues = ["team", "team.new"].map { DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: $0)) }
    #expect(queues.allSatisfy { $0.channel.isValidForEndpoint })
    for queue in queues.reversed() { try secrets.change(queue) { $0.token = try? Token("tk_of_\(queue.channel)") } }
    #expect(queues.map { secrets.read($0).sheet.text } == ["token tk_of_team\n", "token tk_of_team.new\n"])
    try "half a se".write(toFile: folder + "/secrets/.1000-team.new", atomically: false, encoding: .utf8)
    secrets.removeLeftovers()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder + "/secrets").sorted() == [
        "1000-team", "1000-team.new",
      ])
  }

  @Test(arguments: [
    ("whsec_MfKQ", "line 1: the secret has 3 bytes"), ("# note\n\nxyz", "line 3: a secret begins with whsec_"),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw until noon", "line 1: until needs a time"),
    ("token a b c", "line 1 must be a secret"), ("token é", "line 1: a token is one line"),
  ])
  func errorOfASecretFileNamesTheLineWithoutItsContent(_ text: String, _ reason: String) {
    let error = #expect(throws: EndpointSecretFileError.self) { try EndpointSecretFile(parsing: text) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(error?.description.contains("MfKQ") == false && error?.description.contains("xyz") == false)
  }

  /// A service manager's credential substitutes for a missing file, for its one owner.
  @Test func credentialReplacesAMissingFile() throws {
    let credentials = folder + "/credentials"
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    let (given, own) = (Secret.make(.hmac), Secret.make(.hmac))
    try "\(given)\ntoken tk_given\n".write(toFile: credentials + "/endpoint.team", atomically: true, encoding: .utf8)
    let secrets = Secrets(folder: folder + "/secrets", credentials: credentials, credentialOwner: 0)
    let queue = DeliveryQueue(owner: 0, channel: ChannelName(rawValue: "team"))
    #expect(secrets.read(queue).isCredential && secrets.read(queue).sheet.text == "\(given)\ntoken tk_given\n")
    let other = secrets.read(DeliveryQueue(owner: 1_000, channel: queue.channel))
    #expect(!other.isCredential && other.sheet.secrets.isEmpty && other.sheet.token == nil)
    // A file takes precedence, and the credential stays unchanged.
    try secrets.change(queue) { $0.secrets = (try? [EndpointSecretFile.Line(own)]) ?? [] }
    #expect(!secrets.read(queue).isCredential && secrets.read(queue).sheet.text == "\(own)\ntoken tk_given\n")
    secrets.remove(queue)
    #expect(secrets.read(queue).isCredential)
  }
}
