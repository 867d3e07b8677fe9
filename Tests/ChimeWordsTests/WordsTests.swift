import ChimeWords
import Testing

@Suite struct WordsTests {
  @Test(arguments: [
    (Words.say("plain"), "plain"),
    (Words.say("%1 of %2", "%2", "b"), "%2 of b"),
    (Words.say("100% of %1", "x"), "100% of x"),
    (Words.say("%9 and %"), "%9 and %"),
    (Words.say(count: 1, "%n day of %1", "%n days of %1", "May"), "1 day of May"),
    (Words.say(count: 5, "%n day of %1", "%n days of %1", "May"), "5 days of May"),
  ]) func fills(_ filled: String, _ expected: String) { #expect(filled == expected) }
}
