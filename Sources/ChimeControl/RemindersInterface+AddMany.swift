/// The part of `io.chime.Reminders` that adds many at once.
extension RemindersInterface {
  /// What is wrong with one of many drafts.
  public struct DraftFault: Codable, Equatable, Sendable {
    /// Its place among them, from 0.
    public var index: Int
    /// The field that is at fault; null when it is none in particular.
    public var field: String?
    /// Why, as a sentence.
    public var message: String

    public init(index: Int, field: String? = nil, message: String) {
      self.index = index
      self.field = field
      self.message = message
    }
  }

  public enum AddMany {
    public static let method = "io.chime.Reminders.AddMany"

    public struct Parameters: Codable, Equatable, Sendable {
      public var reminders: [Draft]
      public var dryRun: Bool?
      public var token: String?

      public init(reminders: [Draft], dryRun: Bool? = nil, token: String? = nil) {
        self.reminders = reminders
        self.dryRun = dryRun
        self.token = token
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      /// In the order of the drafts; none in a dry run.
      public var ids: [String]
      public var warnings: [String]

      public init(ids: [String], warnings: [String]) {
        self.ids = ids
        self.warnings = warnings
      }
    }
  }

  /// The error of AddMany when any of them cannot be taken.
  public struct InvalidDrafts: Codable, Equatable, Sendable {
    public var faults: [DraftFault]

    public init(faults: [DraftFault]) { self.faults = faults }
  }
}
