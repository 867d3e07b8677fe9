import ChimeWords
import Testing

@Suite struct WordsTests {
  @Test(arguments: [
    (localized("plain"), "plain"),
    (localized("%1 of %2", "%2", "b"), "%2 of b"),
    (localized("100% of %1", "x"), "100% of x"),
    (localized("%9 and %"), "%9 and %"),
    (localized(count: 1, "%n day of %1", "%n days of %1", "May"), "1 day of May"),
    (localized(count: 5, "%n day of %1", "%n days of %1", "May"), "5 days of May"),
  ]) func fillsPlaceholdersAndPlurals(_ filled: String, _ expected: String) { #expect(filled == expected) }
}
