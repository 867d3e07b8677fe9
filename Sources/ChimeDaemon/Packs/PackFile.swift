import ChimeControl
import ChimeCore
import ChimeExchange
package import ChimeTracking

/// Reads packs from TOML files. `docs/packs.md` describes all keys.
package enum PackFile {
  /// The maximum size of a pack in bytes.
  package static let maxBytes = 512 << 10

  static let mostTrackers = 50
  static let mostReminders = 100
  static let mostAchievements = 500
  static let mostQuotes = 2_000
  static let mostSamples = 50

  /// Reads and validates a pack. Until it is installed, its trackers have no owner and start on 1970-01-01.
  ///
  ///     let pack = try PackFile.read(Array(text.utf8), file: "reading.toml")
  ///
  /// - Parameter file: the file's name in faults.
  /// - Throws: all faults with their locations.
  package static func read(_ bytes: [UInt8], file: String) throws(PackFaults) -> Pack {
    let file = TOMLText.harmless(file)
    guard bytes.count <= maxBytes else {
      let message = "has \(bytes.count) bytes; a pack has at most \(maxBytes)"
      throw PackFaults([PackFault(file: file, line: 0, column: 0, key: "", message: message)])
    }
    let entries: [TOMLEntry]
    do {
      entries = try TOMLDocument.entries(bytes, file: file)
    } catch {
      throw PackFaults([
        PackFault(file: file, line: error.line ?? 0, column: error.column ?? 0, key: "", message: error.message)
      ])
    }
    guard let root = TOMLNode(entries) else {
      throw PackFaults([PackFault(file: file, line: 0, column: 0, key: "pack", message: "is missing: [pack]")])
    }
    var reader = PackReader(file: file)
    let pack = reader.pack(PackReader.Table(node: root, key: ""))
    var faults = reader.inOrder
    if reader.hasMore {
      let message = "there are more faults; these are the first \(PackFaults.most)"
      faults.append(PackFault(file: file, line: 0, column: 0, key: "", message: message))
    }
    guard let pack, faults.isEmpty else { throw PackFaults(faults) }
    return pack
  }
}

extension PackReader {
  private static let tables = [
    "pack", "tracker", "reminder", "achievement", "category", "levels", "mood", "quote", "sample",
  ]

  fileprivate mutating func pack(_ root: Table) -> Pack? {
    allow(Self.tables, in: root, called: "a pack")
    guard let header = table("pack", in: root) else {
      if root["pack"] == nil {
        fault(root.node, "pack", "is missing: a table [pack] with id, title and text")
      }
      return nil
    }
    allow(["id", "title", "text", "version", "icon", "channels"], in: header, called: "[pack]")
    readLanguages(header)
    let id = name("id", in: header)
    let title = text("title", in: header, atMost: 100)
    let about = text("text", in: header, atMost: 500, takesLines: true)
    let version = number("version", in: header, 1...1_000_000) ?? 1
    var pack = Pack(
      id: PackID(rawValue: id ?? ""), title: title ?? "", text: about ?? "", version: version,
      icon: string("icon", in: header))
    pack.channels = channels(header)
    readTrackers(root, into: &pack)
    pack.levels = levels(root)
    pack.quotes = quotes(root)
    pack.samples = samples(root, in: pack)
    pack.moods = moods(root)
    pack.reminders = reminders(root, in: pack)
    pack.achievements = achievements(root, in: pack)
    readCategories(root, into: &pack)
    return id == nil ? nil : pack
  }

  /// Reads the languages of the pack's title. Every text must exist in each of them.
  private mutating func readLanguages(_ header: Table) {
    guard let title = header["title"], title.isTable else { return }
    languages.formUnion(title.children.map(\.entry.name).filter { LanguageTag.fault($0) == nil })
  }

  private mutating func channels(_ header: Table) -> [String] {
    guard let node = header["channels"] else { return [] }
    let names = node.children.compactMap { child -> String? in
      if case .string(let text) = child.value, (1...64).contains(text.utf8.count) { text } else { nil }
    }
    guard node.value == .array, names.count == node.children.count, names.count <= 16 else {
      expected("an array of channel names, such as [\"desktop\"], at most 16", at: node, header.key("channels"))
      return []
    }
    return names
  }

  private mutating func levels(_ root: Table) -> LevelCurve? {
    guard let table = table("levels", in: root) else { return nil }
    allow(["base", "power"], in: table, called: "[levels]")
    var curve = LevelCurve()
    if let base = number("base", in: table, 1...1_000_000) { curve.base = base }
    if let node = table["power"] {
      let power: Double? =
        switch node.value {
        case .float(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
      if let power, (1.0...4.0).contains(power) {
        curve.power = power
      } else {
        expected("a number from 1 to 4, such as 1.5", at: node, table.key("power"))
      }
    }
    return curve
  }

  private mutating func moods(_ root: Table) -> [Mood: MoodText] {
    guard let table = table("mood", in: root) else { return [:] }
    let names = Mood.allCases.map(\.rawValue)
    allow(names, in: table, called: "[mood]")
    var moods: [Mood: MoodText] = [:]
    for mood in Mood.allCases {
      guard let one = self.table(mood.rawValue, in: table) else {
        if table[mood.rawValue] == nil {
          fault(
            table.node, table.key(mood.rawValue),
            "is missing: with one mood all five are needed, [mood.\(mood.rawValue)] with title, message and next too")
        }
        continue
      }
      allow(["title", "message", "next"], in: one, called: "a mood")
      if let title = text("title", in: one, atMost: 100), let message = text("message", in: one, atMost: 500),
        let next = text("next", in: one, atMost: 300)
      {
        moods[mood] = MoodText(title: title, message: message, next: next)
        for (key, text) in [("title", title), ("message", message), ("next", next)] {
          let places = text.texts.values.flatMap { ReminderText.places(in: $0) }
          guard let node = one[key], places.contains(where: { !DayCount.names.map(\.rawValue).contains($0) }) else {
            continue
          }
          fault(
            node, one.key(key), "has a placeholder that moods do not have: use {{streak}}, {{done}} and {{due}}")
        }
      }
    }
    return moods
  }

  private mutating func quotes(_ root: Table) -> [Quote] {
    var seen: Set<String> = []
    return tables("quote", in: root, atMost: PackFile.mostQuotes).compactMap { table in
      guard !isFull else { return nil }
      allow(["text", "language", "translation", "source", "category"], in: table, called: "a quote")
      for key in ["text", "language", "source", "category"] where table[key] == nil {
        fault(table.node, table.key(key), "is missing: a quote needs text, language, source and category")
      }
      var language = string("language", in: table)
      if let tag = language, let node = table["language"], let complaint = LanguageTag.fault(tag) {
        fault(node, table.key("language"), complaint)
        language = nil
      }
      guard let node = table["text"] else { return nil }
      guard case .string = node.value else {
        expected("a string, in the language of the quote", at: node, table.key("text"))
        return nil
      }
      // The quote is read as text in its own language; translations follow the pack's languages.
      let words = text(node, table.key("text"), atMost: 2_000, takesLines: true, in: [])?.texts["en"]
      let translation = table["translation"].flatMap {
        text($0, table.key("translation"), atMost: 2_000, takesLines: true, in: languages.subtracting([language ?? ""]))
      }
      if table["translation"] == nil, let language, !languages.isSubset(of: [language]) {
        fault(
          table.node, table.key("translation"),
          "is missing: translation.\(languages.subtracting([language]).sorted().joined(separator: " and translation."))"
        )
      }
      let source = string("source", in: table)
      let category = name("category", of: table)
      if let words, !seen.insert(words).inserted { fault(node, table.key("text"), "occurs twice") }
      guard let words, let language, let source, let category else { return nil }
      return Quote(text: words, language: language, translation: translation, source: source, category: category)
    }
  }

  /// Reads sample data: items of a collection with the days of their use. Returns nil if there is none.
  private mutating func samples(_ root: Table, in pack: Pack) -> [PackSample]? {
    guard root["sample"] != nil else { return nil }
    let collections = pack.trackers.filter(\.hasItems)
    var seen: Set<String> = []
    return tables("sample", in: root, atMost: PackFile.mostSamples).compactMap { table in
      guard !isFull else { return nil }
      allow(["tracker", "title", "attributes", "daysAgo"], in: table, called: "a sample")
      for key in ["title", "daysAgo"] where table[key] == nil {
        fault(table.node, table.key(key), "is missing: a sample needs title and daysAgo")
      }
      let named = name("tracker", of: table)
      guard let tracker = named.map({ id in collections.first { $0.id.rawValue == id } }) ?? collections.first,
        named != nil || collections.count == 1
      else {
        fault(
          table["tracker"] ?? table.node, table.key("tracker"),
          collections.isEmpty
            ? "is for collections, and no tracker has items"
            : "must be the name of a tracker with items: \(collections.map(\.id.rawValue).joined(separator: ", "))")
        return nil
      }
      let title = string("title", in: table)
      let id = slug(of: title ?? "", atMost: 44)
      if let node = table["title"], title != nil {
        if id.isEmpty || title?.count ?? 0 > 100 {
          expected("a title of at most 100 characters, with a letter or digit of ASCII", at: node, table.key("title"))
        } else if !seen.insert(id).inserted {
          fault(node, table.key("title"), "occurs twice")
        }
      }
      var days: [Int] = []
      if let node = table["daysAgo"] {
        let numbers = node.children.compactMap { child -> Int? in
          if case .integer(let number) = child.value, (0...3_650).contains(number) { Int(number) } else { nil }
        }
        if node.value == .array, numbers.count == node.children.count, (1...400).contains(numbers.count) {
          days = Array(Set(numbers)).sorted()
        } else {
          expected("an array of 1 to 400 whole numbers from 0 to 3650", at: node, table.key("daysAgo"))
        }
      }
      return PackSample(
        id: id, tracker: tracker.id, title: title ?? "", attributes: sampleAttributes(table), days: days)
    }
  }

  private mutating func sampleAttributes(_ table: Table) -> [String: String] {
    guard let node = table["attributes"] else { return [:] }
    var attributes: [String: String] = [:]
    for child in node.children {
      guard node.isTable, case .string(let text) = child.value, (1...200).contains(text.count),
        (1...32).contains(child.entry.name.count), node.children.count <= 16
      else {
        expected("a table of at most 16 texts, such as { brand = \"Omega\" }", at: node, table.key("attributes"))
        return [:]
      }
      attributes[child.entry.name] = text
    }
    return attributes
  }

  /// Reads an optional name. Its absence is reported elsewhere or is no fault.
  mutating func name(_ key: String, of table: Table) -> String? {
    table[key] == nil ? nil : name(key, in: table, takesUnderscores: true)
  }

  private mutating func readCategories(_ root: Table, into pack: inout Pack) {
    guard let table = table("category", in: root) else { return }
    // Take the names as written, even from elements with faults.
    let used = Set(
      ["achievement", "quote"].flatMap { root[$0]?.children ?? [] }.compactMap { element -> String? in
        if case .string(let name)? = element["category"]?.value { name } else { nil }
      })
    for child in table.node.children where !isFull {
      let name = child.entry.name
      if !used.contains(name) {
        let hint = SpellingSuggestions.to(name, among: used.sorted()).first.map { "; did you mean \($0)?" } ?? ""
        fault(child, table.key(name), "is not the category of any achievement or quote" + hint, atKey: true)
        continue
      }
      pack.categories[name] = text(child, table.key(name), atMost: 60)
    }
  }
}
