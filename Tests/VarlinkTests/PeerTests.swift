import Foundation
import Testing
import Varlink

/// Tests Chime's library with an independent implementation, PyPI's `varlink`, in both directions.
///
/// `CHIME_PYTHON` names a Python that has it; the default is `.venv/bin/python3` in the checkout. Without one these
/// tests fail, unless `CHIME_SKIP_PEERS=1` is set.
@Suite(.disabled(if: ProcessInfo.processInfo.environment["CHIME_SKIP_PEERS"] == "1", "CHIME_SKIP_PEERS=1"))
struct PeerTests {
  private let directory: TemporaryDirectory
  private let address: String
  private let python: String
  private let certification: String

  init() throws {
    directory = try TemporaryDirectory()
    address = "unix:\(directory.path)/socket"
    python = try Self.findPython()
    certification = try Self.findExecutable()
  }

  @Test func pythonClientCallsOurServer() throws {
    let server = try Program(certification, ["--varlink=\(address)"])
    try server.waitForLine("Listening on \(address)")
    let client = try run(python, ["-m", "varlink.tests.test_certification", "--client", "--varlink=\(address)"])
    #expect(client.status == 0, "\(client)")
    #expect(client.output.contains("End: {'all_ok': True}\nCertification passed"), "\(client)")
  }

  @Test func ourClientCallsThePythonServer() throws {
    let server = try Program(python, ["-u", "-m", "varlink.tests.test_certification", "--varlink=\(address)"])
    try server.waitForLine("Listening on")
    let client = try run(certification, ["--client", "--varlink=\(address)"])
    #expect(client.status == 0, "\(client)")
    #expect(client.output.hasSuffix("Certification passed\n"), "\(client)")
  }

  @Test func ourClientCallsOurServer() throws {
    let server = try Program(certification, ["--varlink=\(address)"])
    try server.waitForLine("Listening on \(address)")
    for _ in 0..<3 {
      let client = try run(certification, ["--client", "--varlink=\(address)"])
      #expect(client.status == 0 && client.output.hasSuffix("Certification passed\n"), "\(client)")
    }
  }

  @Test func pythonCommandLineCallsOurServer() throws {
    let server = try Program(certification, ["--varlink=\(address)"])
    try server.waitForLine("Listening on \(address)")
    let interface = "\(address)/org.varlink.certification"

    let info = try run(python, ["-m", "varlink.cli", "info", address])
    #expect(info.output.contains("Product: Certification\n"), "\(info)")
    #expect(info.output.contains("   org.varlink.service\n   org.varlink.certification\n"), "\(info)")

    let help = try run(python, ["-m", "varlink.cli", "help", interface])
    #expect(help.output.contains("method Test10(client_id: string, mytype: MyType) -> (string: string)"), "\(help)")

    let start = try run(python, ["-m", "varlink.cli", "call", "\(interface).Start"])
    guard case .string(let id)? = try JSON(parsing: start.output)["client_id"] else {
      Issue.record("\(start)")
      return
    }
    let first = try run(python, ["-m", "varlink.cli", "call", "\(interface).Test01", #"{"client_id":"\#(id)"}"#])
    #expect(try JSON(parsing: first.output) == ["bool": true], "\(first)")
    let wrong = try run(python, ["-m", "varlink.cli", "call", "\(interface).Test02", #"{"client_id":5}"#])
    #expect(wrong.errors.contains("org.varlink.service.InvalidParameter"), "\(wrong)")
    #expect(wrong.errors.contains("'parameter': 'client_id'"), "\(wrong)")
    let missing = try run(python, ["-m", "varlink.cli", "call", "\(interface).Nothing"])
    #expect(missing.errors.contains("org.varlink.service.MethodNotFound"), "\(missing)")
  }

  // MARK: Finding and running

  private static func findPython() throws -> String {
    let root = URL(filePath: Package.folder)
    let python =
      ProcessInfo.processInfo.environment["CHIME_PYTHON"]
      ?? root.appendingPathComponent(".venv/bin/python3").path
    guard FileManager.default.isExecutableFile(atPath: python),
      try run(python, ["-c", "import varlink.tests.test_certification"]).status == 0
    else {
      throw Missing(
        description: """
          \(python) is no Python that has PyPI's 'varlink'. Make one with: \
          python3 -m venv .venv && .venv/bin/pip install varlink — or name one in CHIME_PYTHON, \
          or leave these tests out with CHIME_SKIP_PEERS=1.
          """)
    }
    return python
  }

  /// Returns the certification program, which is beside the tests.
  private static func findExecutable() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("varlink-certification").path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw Missing(description: "\(path) is not there: 'swift build' makes it.")
    }
    return path
  }

  private struct Missing: Error, CustomStringConvertible { var description: String }
}
