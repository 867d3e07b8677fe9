import Foundation
import Testing

/// The manual pages as readers get them: scdoc generates them, man shows them, mandoc checks them.
@Suite struct ManualTests {
  @Test(.timeLimit(.minutes(1))) func pagesAreUpToDate() async throws {
    try await Home.run { home in
      let check = try await home.run(Machine.packaging("manual"), ["check"])
      #expect(check.status == 0, "\(check.text)")
    }
  }

  @Test(.timeLimit(.minutes(1))) func manAndMandocAcceptThePages() async throws {
    try #require(Machine.has("scdoc") && Machine.has("mandoc") && Machine.has("man"), "Packaging/dependencies test")
    try await Home.run { home in
      let folder = home.path + "/man"
      let made = try await home.run(Machine.packaging("manual"), ["compile", folder])
      try #require(made.status == 0, "\(made.text)")
      let pages = ["man1/chime.1", "man5/chimed.toml.5", "man7/chime-schedules.7", "man7/io.chime.7", "man8/chimed.8"]
      #expect(try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("/") }.sorted() == pages)
      for page in pages {
        let lint = try await home.run("mandoc", ["-Tlint", "-W", "warning", "\(folder)/\(page)"])
        // scdoc puts a paragraph before everything, also where there is one.
        let errorOutput = lint.out.split(separator: "\n").filter { !$0.contains("skipping paragraph macro: PP") }
        #expect(errorOutput.isEmpty, "\(page): \(errorOutput)")
        let shown = try await home.run(
          "man", ["--warnings", "--local-file", "\(folder)/\(page)"], environment: ["MANWIDTH": "80", "MANROFFSEQ": ""])
        #expect(shown.status == 0 && shown.err.isEmpty, "\(page): \(shown.err)")
        #expect(shown.out.contains("SEE ALSO"))
      }
      // apropos finds a page by this summary.
      let name = try await home.run("lexgrog", ["\(folder)/man8/chimed.8"])
      #expect(name.out.contains("chimed - keeps reminders and fires them"), "\(name.text)")
    }
  }

  @Test(.timeLimit(.minutes(1))) func daemonsPageHasAllItsOptions() async throws {
    try await Home.run { home in
      let help = try await home.run(Machine.chimed, ["--help"]).out
      let page = try String(contentsOfFile: Machine.package + "/docs/man/chimed.8.scd", encoding: .utf8)
      let options = help.matches(of: /--[a-z-]+/).map { String($0.output) }
      #expect(options.count >= 8)
      for option in options { #expect(page.contains("*\(option)*"), "\(option)") }
      for status in help.matches(of: /\b(64|7[0-9])\b/) { #expect(page.contains("*\(status.1)*\n"), "\(status.1)") }
    }
  }
}
