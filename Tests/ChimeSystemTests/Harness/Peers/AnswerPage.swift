import Foundation

/// The web page of docs/examples/python/receive.py, a webhook receiver with buttons, and a user who presses them.
struct AnswerPage {
  let url: String
  let process: Child
  private let home: Home

  private init(_ home: Home, _ process: Child, url: String) {
    (self.home, self.process, self.url) = (home, process, url)
  }

  /// Starts it as the endpoint `page` with replies enabled. A daemon must run.
  ///
  /// - Parameter options: options of `chime endpoint add`.
  static func start(in home: Home, _ options: [String] = []) async throws -> AnswerPage {
    // Add the endpoint first, because that creates the secret. The port was free a moment ago.
    let (descriptor, port) = try Loopback.listen(backlog: 1)
    close(descriptor)
    let (url, secret) = ("http://127.0.0.1:\(port)", home.path + "/page.secret")
    let added = try await home.run(
      Machine.chime,
      ["endpoint", "add", "page", url + "/", "--new-secret", secret, "--replies", "poll:\(url)/answers"] + options)
    guard added.status == 0 else { throw HarnessFailure("the page is no endpoint: \(added.text)") }
    let process = try await home.spawn(
      Machine.debianPython, [Machine.package + "/docs/examples/python/receive.py", secret, String(port)])
    return AnswerPage(home, process, url: url)
  }

  /// Returns a reminder's line; nil if it is not on the page.
  private func row(_ title: String) async throws -> String? {
    try await home.run("curl", ["-s", url + "/"]).out.components(separatedBy: "\n").first {
      $0.contains(">\(title) ")
    }
  }

  func shows(_ title: String) async throws -> Bool { try await row(title) != nil }

  /// Returns the token of a button; nil without one.
  func token(_ title: String, _ label: String) async throws -> String? {
    let button = try await row(title)?.components(separatedBy: "\">\(label)").first?.components(separatedBy: "value=\"")
      .last
    return button?.hasPrefix("chact_") == true ? button : nil
  }

  func press(_ token: String) async throws {
    let pressed = try await home.run("curl", ["-s", "-d", "token=\(token)", url + "/press"])
    guard pressed.status == 0 else { throw HarnessFailure("nothing could be pressed: \(pressed.text)") }
  }
}
