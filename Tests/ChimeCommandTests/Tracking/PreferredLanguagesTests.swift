import Testing

@testable import ChimeCommand

@Suite struct PreferredLanguagesTests {
  @Test(
    arguments: [
      (["LANG": "C.UTF-8", "LANGUAGE": "cs"], "Voda"), (["LANG": "C", "LANGUAGE": "cs"], "Water"),
      (["LANG": "cs_CZ.UTF-8"], "Voda"), (["LANG": "cs"], "Voda"), (["LANG": "C.UTF-8"], "Water"), ([:], "Water"),
      (["LANG": "cs_CZ.UTF-8", "LC_ALL": "C"], "Water"), (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "cs_CZ"], "Voda"),
      (["LANG": "de_DE.UTF-8"], "Water"), (["LANG": "de_DE.UTF-8", "LANGUAGE": "sk:cs"], "Voda"),
      (["LANG": "C", "LANGUAGE": "cs"], "Water"), (["LANG": "pt_BR.UTF-8@x"], "Água"), (["LC_ALL": ""], "Water"),
    ] as [([String: String], String)])
  func bestAvailableLanguageIsChosen(_ environment: [String: String], _ expected: String) {
    let texts = ["en": "Water", "cs": "Voda", "pt": "Agua", "pt-BR": "Água"]
    #expect(PreferredLanguages(environment: environment).text(texts) == expected)
  }

  @Test func anyLanguageIsUsedRatherThanNone() {
    let preferredLanguages = PreferredLanguages(environment: ["LANG": "cs_CZ.UTF-8"])
    #expect(preferredLanguages.text(["fr": "Eau", "de": "Wasser"]) == "Wasser")
    #expect(preferredLanguages.text([:], or: "water") == "water")
    #expect(preferredLanguages.choose([:]) == nil)
  }

  @Test(arguments: [
    ("ar", true), ("ar-EG", true), ("he", true), ("fa_IR", true), ("en", false), ("arn", false), ("", false),
  ])
  func writingDirectionFollowsTheLanguage(_ language: String, _ expected: Bool) {
    #expect(PreferredLanguages.isRightToLeft(language) == expected)
  }
}
