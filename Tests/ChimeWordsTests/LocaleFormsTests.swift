import ChimeSchedule
import Testing

@testable import ChimeWords

@Suite struct LocaleFormsTests {
  static let czech: LocaleForms = {
    var forms = LocaleForms()
    (forms.point, forms.thousands, forms.dateFormat) = (",", "\u{202F}", "%-d.%-m.%Y")
    return forms
  }()

  @Test(arguments: [
    (2_500.0, 0, "2500", "2\u{202F}500"), (82.44, 1, "82.4", "82,4"), (-0.05, 1, "-0.1", "-0,1"),
    (1_234_567.891, 2, "1234567.89", "1\u{202F}234\u{202F}567,89"), (999, 0, "999", "999"), (0.5, 3, "0.500", "0,500"),
    (1e30, 0, "1e+30", "1e+30"),
  ]) func formatsNumbers(_ value: Double, _ decimals: Int, _ plain: String, _ czech: String) {
    #expect(LocaleForms().number(value, decimals: decimals, grouped: true) == plain)
    #expect(Self.czech.number(value, decimals: decimals, grouped: true) == czech)
  }

  @Test(
    arguments: [
      (nil, "2026-03-09"), ("%-d.%-m.%Y", "9.3.2026"), ("%d/%m/%y", "09/03/26"), ("%e %b %Y", "9 Mar 2026"),
      // An unknown format gives the ISO date, not a partial one.
      ("%A %d", "2026-03-09"),
    ] as [(String?, String)]) func formatsDates(_ format: String?, _ expected: String) throws
  {
    var forms = LocaleForms()
    forms.dateFormat = format
    #expect(forms.date(try #require(CivilDate(year: 2026, month: 3, day: 9))) == expected)
  }

  @Test(
    arguments: [
      ([:], []), (["LANG": "cs_CZ.UTF-8"], ["cs_CZ", "cs"]), (["LANG": "cs_CZ", "LC_ALL": "C"], []),
      (["LANG": "de_DE@euro", "LANGUAGE": "cs:en"], ["cs", "en", "de_DE", "de"]),
      (["LC_ALL": "C.UTF-8", "LANGUAGE": "cs"], ["cs"]), (["LC_ALL": "", "LANG": "cs"], ["cs"]),
    ] as [([String: String], [String])]) func findsThePreferredLanguages(
      _ environment: [String: String], _ expected: [String]
    )
  {
    #expect(Catalogs.languages { environment[$0] } == expected)
  }
}
