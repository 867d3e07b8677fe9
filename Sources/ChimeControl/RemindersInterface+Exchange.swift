/// The part of `io.chime.Reminders` that speaks of the files of other programs.
extension RemindersInterface {
  /// What Import reads.
  public enum ImportFormat: String, Codable, Sendable, CaseIterable {
    case crontab, icalendar, at, systemd, remind, taskwarrior
  }
  /// What Export writes: the values of its `format`, which is a string.
  public enum ExportFormat: String, Codable, Sendable, CaseIterable { case icalendar, toml }

  /// A reminder that an import has added, or would add.
  public struct Imported: Codable, Equatable, Sendable {
    /// Where it stands in the text, from 1.
    public var line: Int
    /// Null in a dry run.
    public var id: String?
    public var title: String
    /// The schedule in its canonical form.
    public var when: String
    public var timezone: String
    public var next: Wire.Time

    public init(line: Int, id: String? = nil, title: String, when: String, timezone: String, next: Wire.Time) {
      self.line = line
      self.id = id
      self.title = title
      self.when = when
      self.timezone = timezone
      self.next = next
    }
  }

  /// Left out, because it has no time to come (passed), is cancelled or done (closed), is among the reminders already
  /// (present), or cannot be taken (refused); or taken, but not all of it (note).
  public enum ImportRemarkKind: String, Codable, Sendable, CaseIterable {
    case passed, closed, present, refused, note
  }

  /// What an import has to say of a line.
  public struct ImportRemark: Codable, Equatable, Sendable {
    /// From 1; null when it is about no one line.
    public var line: Int?
    /// What it is called, where it has a name.
    public var title: String?
    public var kind: ImportRemarkKind
    /// A sentence without a full stop.
    public var message: String

    public init(line: Int? = nil, title: String? = nil, kind: ImportRemarkKind, message: String) {
      self.line = line
      self.title = title
      self.kind = kind
      self.message = message
    }
  }

  /// Adds the reminders that a file of another program asks for, all in one transaction.
  public enum Import {
    public static let method = "io.chime.Reminders.Import"

    public struct Parameters: Codable, Equatable, Sendable {
      public var text: String
      public var format: ImportFormat
      public var system: Bool?
      public var dryRun: Bool?
      public var again: Bool?
      public var allDayAt: String?
      public var timezone: String?
      public var channels: [String]?
      public var tags: [String]?
      public var token: String?

      public init(
        text: String, format: ImportFormat, system: Bool? = nil, dryRun: Bool? = nil, again: Bool? = nil,
        allDayAt: String? = nil, timezone: String? = nil, channels: [String]? = nil, tags: [String]? = nil,
        token: String? = nil
      ) {
        self.text = text
        self.format = format
        self.system = system
        self.dryRun = dryRun
        self.again = again
        self.allDayAt = allDayAt
        self.timezone = timezone
        self.channels = channels
        self.tags = tags
        self.token = token
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var added: [Imported]
      public var remarks: [ImportRemark]
      public var warnings: [String]

      public init(added: [Imported], remarks: [ImportRemark], warnings: [String]) {
        self.added = added
        self.remarks = remarks
        self.warnings = warnings
      }
    }
  }

  /// The reminders of these ids, or those that fit the filter, or all that have a time to come, as a file for other
  /// programs; 10000 at most.
  public enum Export {
    public static let method = "io.chime.Reminders.Export"

    public struct Parameters: Codable, Equatable, Sendable {
      public var ids: [String]?
      public var filter: Filter?
      public var format: String?

      public init(ids: [String]? = nil, filter: Filter? = nil, format: String? = nil) {
        self.ids = ids
        self.filter = filter
        self.format = format
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var text: String
      public var count: Int
      public var warnings: [String]

      public init(text: String, count: Int, warnings: [String]) {
        self.text = text
        self.count = count
        self.warnings = warnings
      }
    }
  }
}
