import Foundation
import Testing

@testable import ChimeDaemon

/// The journal's catalog (`systemd/chime.catalog`) and the code have the same messages.
struct MessageIDTests {
  private struct Entry {
    var name: String
    var id: String
    var headers: [String: String] = [:]
    var text = ""
  }

  /// Returns the entries of the catalog: `-- ID`, headers, an empty line, the text. The comment before each is its name
  /// in the code.
  private static func catalog() throws -> [Entry] {
    let file = URL(filePath: Package.folder).appending(path: "systemd/chime.catalog")
    var entries: [Entry] = []
    var (comment, isHeader) = ("", false)
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("#") {
        comment = line.dropFirst().trimmingCharacters(in: .whitespaces)
      } else if line.hasPrefix("-- ") {
        entries.append(Entry(name: comment, id: String(line.dropFirst(3))))
        isHeader = true
      } else if line.isEmpty {
        isHeader = false
      } else if let last = entries.indices.last {
        let parts = line.split(separator: ": ", maxSplits: 1)
        if isHeader, parts.count == 2 {
          entries[last].headers[String(parts[0])] = String(parts[1])
        } else {
          entries[last].text += line + "\n"
        }
      }
    }
    return entries
  }

  @Test func catalogAndCodeHaveTheSameMessages() throws {
    let entries = try Self.catalog()
    #expect(entries.map(\.name).sorted() == MessageID.allCases.map { "\($0)" }.sorted())
    for entry in entries {
      #expect(MessageID(rawValue: entry.id).map { "\($0)" } == entry.name, "\(entry.id) is not the id of \(entry.name)")
      #expect(entry.headers["Subject"]?.isEmpty == false && entry.headers["Defined-By"] == "Chime", "\(entry.name)")
      #expect(!entry.text.isEmpty, "\(entry.name) has no text")
    }
  }

  @Test(arguments: MessageID.allCases) func messageIDIs128BitsInHexadecimal(id: MessageID) {
    #expect(id.rawValue.utf8.count == 32)
    #expect(id.rawValue.allSatisfy { $0.isHexDigit && !$0.isUppercase })
  }

  /// journald substitutes an entry's fields into the text; an unknown field would stay as written.
  @Test func catalogNamesExistingFieldsOnly() throws {
    let known = Set(Log.Field.allCases.map(\.rawValue))
    for entry in try Self.catalog() {
      for name in entry.text.matches(of: /@([A-Z_]+)@/).map({ String($0.1) }) {
        #expect(known.contains(name), "\(entry.name) names \(name)")
      }
    }
  }

  @Test func operationsPageListsTheCatalog() throws {
    let page = URL(filePath: Package.folder).appending(path: "docs/operations.md")
    let rows = try String(contentsOf: page, encoding: .utf8).matches(of: /\n\| ([A-Za-z]+) \| `([0-9a-f]{32})` \|/)
      .map { "\($0.1) \($0.2)" }
    #expect(rows == MessageID.allCases.map { "\($0) \($0.rawValue)" })
  }
}
