/// Language tags in packs: a subset of BCP 47 (RFC 5646) with language, script and region.
enum LanguageTag {
  /// Returns the fault of a tag; nil if it is valid.
  ///
  ///     LanguageTag.fault("pt-BR")   // nil
  ///     LanguageTag.fault("cz")      // "is no language tag; did you mean cs?"
  static func fault(_ tag: String) -> String? {
    let parts = tag.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    let language = parts[0].lowercased()
    if let right = mistaken[language] { return "is not a language tag; did you mean \(right)?" }
    let isLanguage =
      language.count == 2 ? known.contains(language) : language.count == 3 && language.allSatisfy(isLetter)
    var rest = parts.dropFirst()
    if let script = rest.first, script.count == 4, script.allSatisfy(isLetter) { rest = rest.dropFirst() }
    if let region = rest.first,
      (region.count == 2 && region.allSatisfy(isLetter)) || (region.count == 3 && region.allSatisfy(isDigit))
    {
      rest = rest.dropFirst()
    }
    guard isLanguage, rest.isEmpty else {
      return "is not a language tag; use a code of ISO 639, such as en, cs or pt-BR"
    }
    return nil
  }

  private static func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
  private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }

  /// Common mistakes: country codes, and ISO 639-2 codes of languages with a shorter code.
  private static let mistaken = [
    "cz": "cs", "dk": "da", "gr": "el", "jp": "ja", "ua": "uk", "cn": "zh", "ir": "fa", "at": "de",
    "us": "en", "eng": "en", "ces": "cs", "cze": "cs", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr",
    "spa": "es", "ara": "ar", "slk": "sk", "slo": "sk", "pol": "pl", "ita": "it", "rus": "ru", "ukr": "uk",
  ]

  /// The codes of ISO 639-1.
  private static let known = Set(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
    et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
    kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
    nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te
    tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
