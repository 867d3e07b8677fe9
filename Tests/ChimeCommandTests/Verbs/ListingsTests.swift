import ChimeControl
import Testing

@testable import ChimeCommand

/// Paging: the command joins the daemon's pages.
struct ListingsTests {
  private static func all(_ pages: [(items: [Int], cursor: String?)], limit: Int? = nil) throws -> (
    items: [Int], isCut: Bool, asked: Int
  ) {
    var asked = 0
    let result = try Pagination.pages(limit: limit) { _, _ in
      defer { asked += 1 }
      return pages[min(asked, pages.count - 1)]
    }
    return (result.items, result.isCut, asked)
  }

  /// The daemon sorts a skipping reminder by the skipped time; the command shows a later one.
  @Test func listIsSortedByTheTimesShown() {
    let reminders = [
      Samples.reminder("skips", next: Samples.time(1_774_700_000)),
      Samples.reminder("next", next: Samples.time(1_774_603_600)),
      Samples.reminder("same", next: Samples.time(1_774_603_600)), Samples.reminder("over", next: nil),
      Samples.reminder("last", next: Samples.time(1_774_800_000)),
    ]
    #expect(List.ordered(reminders).map(\.id) == ["next", "same", "skips", "last", "over"])
  }

  @Test func emptyPageWithACursorIsNotTheLast() throws {
    let result = try Self.all([([1], "a"), ([], "b"), ([2], nil)])
    #expect(result.items == [1, 2] && !result.isCut && result.asked == 3)
  }

  @Test func unchangedCursorEndsTheListing() throws {
    let result = try Self.all([([1], "a"), ([], "a")])
    #expect(result.items == [1] && result.asked == 2)
  }

  @Test func listingOverTheLimitSaysThatThereIsMore() throws {
    let result = try Self.all([([1, 2], "a")], limit: 2)
    #expect(result.items == [1, 2] && result.isCut && result.asked == 1)
  }
}
