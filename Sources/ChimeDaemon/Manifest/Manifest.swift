import ChimeControl
import ChimeCore
import ChimeTracking

/// A Manifest is the desired state that the files of a set declare, independent of the present state.
struct Manifest: Sendable {
  /// The location of a declaration, for faults that are found later.
  struct Place: Sendable {
    var file: Int
    var table: PackReader.Table

    /// Returns the value of a key, or the table if it has no such key.
    func node(_ key: String) -> TOMLNode { table[key] ?? table.node }
  }

  struct Item: Sendable {
    var place: Place
    var id: ReminderID?
    /// The reminder with the defaults of its file. Its link to a tracker is in `link`.
    var reminder: Reminder
    /// The schedule as written.
    var when: String
    /// The declared pause; nil if the manifest does not manage it.
    var pause: Pause?
    var link: RemindersInterface.TrackerLink?
    /// The name of the reminder that it waits for, as written.
    var onlyIfDone: String?
    /// Whether it is a one-off reminder in the past.
    var hasPassed = false
  }

  struct Webhook: Sendable {
    var place: Place
    var name: String
    var url: String
    var settings: EndpointSettings
    var secretFile: String?
    var tokenFile: String?
  }

  struct Counted: Sendable {
    var place: Place
    /// The tracker without an owner. Its `startedOn` is valid only if `saysStart`.
    var tracker: Tracker
    var saysStart: Bool
  }

  /// A declared pack. Its nested tables are read once the pack itself is known.
  struct Bundle: Sendable {
    var place: Place
    var name: String
    /// The path of a user's own pack; nil for a shipped one.
    var path: String?
    var language: String?
    /// A reminder with the defaults of the file.
    var prototype: Reminder
  }

  var name: String?
  var reminders: [Item] = []
  var endpoints: [Webhook] = []
  var trackers: [Counted] = []
  var packs: [Bundle] = []
  /// The reader of each file, which collects its faults.
  var readers: [PackReader] = []
  /// Faults in the files of packs.
  var packFaults: [PackFault] = []

  static let mostReminders = 10_000
  static let mostEndpoints = 200
  static let mostFiles = 1_000

  /// All faults in the order of the files; empty if there are none.
  var faults: [PackFault] {
    var all = readers.flatMap(\.inOrder)
    if readers.contains(where: \.hasMore) {
      let message = "there are more faults; these are the first of each file"
      all.append(PackFault(file: readers[0].file, line: 0, column: 0, key: "", message: message))
    }
    all += packFaults
    return all
  }

  /// The distinct files of the user's own packs.
  var packFiles: [String] { packs.compactMap(\.path).uniqued }

  /// The distinct files of secrets that endpoints name.
  var secretFiles: [String] { endpoints.flatMap { [$0.secretFile, $0.tokenFile] }.compactMap { $0 }.uniqued }

  mutating func fault(_ place: Place, _ key: String, _ message: String) {
    readers[place.file].fault(place.node(key), place.table.key(key), message)
  }

  /// Reads all files. Their faults are in `faults`.
  ///
  /// - Parameter prototype: a reminder with the configured defaults.
  static func read(
    _ files: [RemindersInterface.SetFile], prototype: Reminder, fields: ReminderFields
  ) -> Manifest {
    var set = Manifest()
    for (index, file) in files.enumerated() {
      var reader = ManifestReader(
        faults: PackReader(file: TOMLText.harmless(String(file.name.prefix(400)))), file: index, fields: fields)
      do {
        if let root = TOMLNode(try TOMLDocument.entries(Array(file.text.utf8), file: file.name)) {
          reader.read(PackReader.Table(node: root, key: ""), prototype, into: &set)
        }
      } catch {
        reader.faults.wholeFile(error)
      }
      set.readers.append(reader.faults)
    }
    set.findTwins()
    return set
  }

  /// Reports duplicate declarations.
  private mutating func findTwins() {
    var ids: [String: Place] = [:]
    var titles: [String: Place] = [:]
    for item in reminders {
      if let id = item.id?.rawValue {
        if let first = ids[id] {
          fault(item.place, "id", "is the id of another reminder too, \(where_(first)); each needs its own")
        }
        ids[id] = ids[id] ?? item.place
      } else {
        let title = item.reminder.title
        if let first = titles[title] {
          fault(
            item.place, "title",
            "is the title of another reminder too, \(where_(first)); give each an id")
        }
        titles[title] = titles[title] ?? item.place
      }
    }
    var names: [String: Place] = [:]
    for endpoint in endpoints {
      if let first = names[endpoint.name] {
        fault(endpoint.place, "name", "is the name of another endpoint too, \(where_(first)); each needs its own")
      }
      names[endpoint.name] = names[endpoint.name] ?? endpoint.place
    }
    var trackers: [TrackerID: Place] = [:]
    for item in self.trackers {
      if let first = trackers[item.tracker.id] {
        fault(item.place, "id", "is the id of another tracker too, \(where_(first)); each needs its own")
      }
      trackers[item.tracker.id] = trackers[item.tracker.id] ?? item.place
    }
    var bundles: [String: Place] = [:]
    for item in packs {
      if let first = bundles[item.name] {
        fault(item.place, "name", "is the name of another pack too, \(where_(first)); list each once")
      }
      bundles[item.name] = bundles[item.name] ?? item.place
    }
  }

  private func where_(_ place: Place) -> String {
    "at \(readers[place.file].file):\(place.table.node.entry.line)"
  }
}

extension [String] {
  /// The distinct elements in order of first occurrence.
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
