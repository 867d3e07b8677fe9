import ChimeSchedule
import Testing

@Suite struct CalendarCanonicalTests {
  @Test(arguments: [
    ("daily", "*-*-* 00:00:00"), ("Mon..Fri *-*-* 09:00", "Mon..Fri *-*-* 09:00:00"),
    ("*:*:0/0.5", "*-*-* *:*:00/0.500000"), ("02~03", "*-02~03 00:00:00"),
  ])
  func table(_ text: String, _ canonical: String) throws {
    #expect(try Schedule(canonical: "calendar: " + text).canonical == "calendar: " + canonical)
  }
}
