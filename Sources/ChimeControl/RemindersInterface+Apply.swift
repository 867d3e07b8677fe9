/// The part of `io.chime.Reminders` that takes a whole set as files declare it.
extension RemindersInterface {
  /// A file of a set; `name` is what faults call it.
  public struct SetFile: Codable, Equatable, Sendable {
    public var name: String
    public var text: String

    public init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// What is in a file that a set names as secretFile or tokenFile, or as that of a pack, or why it cannot be read.
  public struct SetSecret: Codable, Equatable, Sendable {
    public var path: String
    public var text: String?
    public var problem: String?

    public init(path: String, text: String? = nil, problem: String? = nil) {
      self.path = path
      self.text = text
      self.problem = problem
    }
  }

  /// A field of something that changes, its values as TOML; null for none. A secret has neither.
  public struct SetField: Codable, Equatable, Sendable {
    public var name: String
    public var old: String?
    public var new: String?

    public init(name: String, old: String? = nil, new: String? = nil) {
      self.name = name
      self.old = old
      self.new = new
    }
  }

  public enum SetAction: String, Codable, Sendable, CaseIterable { case add, change, remove }
  public enum SetKind: String, Codable, Sendable, CaseIterable {
    case reminder, endpoint, pack, tracker
  }

  /// What Apply does about one thing.
  public struct SetChange: Codable, Equatable, Sendable {
    public var action: SetAction
    public var kind: SetKind
    /// The id, or the endpoint's name; null for a reminder that is to be added and has none yet.
    public var id: String?
    public var title: String?
    /// What is set, or what changes.
    public var fields: [SetField]
    /// How many entries, items and milestones go with a tracker or a pack that is removed; null where none do.
    public var records: Int?

    public init(
      action: SetAction, kind: SetKind, id: String? = nil, title: String? = nil, fields: [SetField], records: Int? = nil
    ) {
      self.action = action
      self.kind = kind
      self.id = id
      self.title = title
      self.fields = fields
      self.records = records
    }
  }

  /// What is wrong with a set, and where; the numbers count from 1, and are 0 for what is about the whole file.
  public struct Fault: Codable, Equatable, Sendable {
    public var file: String
    public var line: Int
    public var column: Int
    public var key: String
    public var message: String

    public init(file: String, line: Int, column: Int, key: String, message: String) {
      self.file = file
      self.line = line
      self.column = column
      self.key = key
      self.message = message
    }
  }

  /// Makes the reminders, endpoints, packs and trackers what a set of TOML files says, all in one transaction.
  public enum Apply {
    public static let method = "io.chime.Reminders.Apply"

    public struct Parameters: Codable, Equatable, Sendable {
      public var files: [SetFile]
      public var set: String?
      public var otherwise: String?
      public var prune: Bool?
      public var dryRun: Bool?
      public var secrets: [SetSecret]?
      public var plan: String?
      public var packs: [SetSecret]?
      /// Whether what is pruned may be a tracker with entries, and these with it.
      public var entries: Bool?

      public init(
        files: [SetFile], set: String? = nil, otherwise: String? = nil, prune: Bool? = nil, dryRun: Bool? = nil,
        secrets: [SetSecret]? = nil, plan: String? = nil, packs: [SetSecret]? = nil, entries: Bool? = nil
      ) {
        self.files = files
        self.set = set
        self.otherwise = otherwise
        self.prune = prune
        self.dryRun = dryRun
        self.secrets = secrets
        self.plan = plan
        self.packs = packs
        self.entries = entries
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var set: String?
      public var changes: [SetChange]
      public var unchanged: Int
      /// How many of the set the files no longer name, which are kept because nothing is pruned.
      public var leftOver: Int
      public var secretFiles: [String]
      /// The files of packs that are asked for, as `secretFiles`; null for none.
      public var packFiles: [String]?
      /// What of secretFile and tokenFile would be handed on that is not where it goes yet; null for none.
      public var fileUses: [SetFileUse]?
      public var plan: String
      public var warnings: [String]

      public init(
        set: String? = nil, changes: [SetChange], unchanged: Int, leftOver: Int, secretFiles: [String],
        packFiles: [String]? = nil, fileUses: [SetFileUse]? = nil, plan: String, warnings: [String]
      ) {
        self.set = set
        self.changes = changes
        self.unchanged = unchanged
        self.leftOver = leftOver
        self.secretFiles = secretFiles
        self.packFiles = packFiles
        self.fileUses = fileUses
        self.plan = plan
        self.warnings = warnings
      }
    }
  }

  /// What an endpoint of a set is given of a file, or keeps and takes to another address.
  public struct SetFileUse: Codable, Hashable, Sendable {
    public enum Key: String, Codable, Hashable, Sendable, CaseIterable { case secretFile, tokenFile }

    public var endpoint: String
    public var key: Key
    /// As the set names it; null for what the endpoint has already.
    public var path: String?
    /// Where it will go.
    public var url: String

    public init(endpoint: String, key: Key, path: String? = nil, url: String) {
      self.endpoint = endpoint
      self.key = key
      self.path = path
      self.url = url
    }
  }

  /// All that is wrong with a set of files.
  public struct InvalidSet: Codable, Equatable, Sendable {
    public var faults: [Fault]

    public init(faults: [Fault]) { self.faults = faults }
  }
}
