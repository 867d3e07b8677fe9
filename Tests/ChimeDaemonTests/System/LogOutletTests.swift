import Glibc
import Testing

@testable import ChimeDaemon

/// A blocked reader of the log does not block the writer.
@Suite struct LogOutletTests {
  enum Kind: CaseIterable, Sendable { case pipe, socket }

  /// Returns the read end and the write end.
  private static func ends(_ kind: Kind) throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let made = kind == .pipe ? pipe(&ends) : socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    try #require(made == 0)
    return (ends[0], ends[1])
  }

  private static func read(_ descriptor: Int32, until last: String) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let end = Array(last.utf8)
    while !bytes.suffix(end.count + 1).starts(with: end) {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(.timeLimit(.minutes(1)), arguments: Kind.allCases)
  func blockedReaderDoesNotBlockTheWriter(_ kind: Kind) throws {
    let (reader, writer) = try Self.ends(kind)
    defer { close(reader) }
    let log = Log(level: .info, descriptor: writer)
    let rest = String(repeating: "x", count: 1_000)
    let count = 3 * LogOutlet.limit / rest.count
    // Far more than is buffered; each call returns.
    for number in 1...count { log(.info, "\(number) \(rest)") }
    let told = Self.read(reader, until: "the reader of the log did not keep up")
    var lines = told.split(separator: "\n")
    let last = lines.popLast()
    let note = try #require(last)
    #expect(note.hasPrefix("<4>") && note.contains(" messages were dropped"), "\(note)")
    // The buffered lines are complete and in order, and the others are counted.
    #expect(lines.map(String.init) == (1...lines.count).map { "<6>\($0) \(rest)" })
    #expect(lines.count >= LogOutlet.limit / 1_100)
    #expect(note.contains("\(count - lines.count) messages"), "\(note) of \(count)")
    log(.info, "again")
    #expect(Self.read(reader, until: "again") == "<6>again\n")
    close(writer)
  }

  @Test func closedReaderDoesNotBlockTheWriter() throws {
    let (reader, writer) = try Self.ends(.socket)
    let log = Log(level: .info, descriptor: writer)
    close(reader)
    for number in 1...1_000 { log(.info, "\(number)") }
    log.finish()
    close(writer)
  }
}
