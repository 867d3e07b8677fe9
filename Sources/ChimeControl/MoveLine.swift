/// What `chimed --move-to` prints, an object a line: how far it is, and how it ended. `chime store move` reads it.
public struct MoveLine: Codable, Equatable, Sendable {
  public struct Table: Codable, Equatable, Sendable {
    public var name: String
    public var rows: Int

    public init(name: String, rows: Int) {
      self.name = name
      self.rows = rows
    }
  }

  public struct Progress: Codable, Equatable, Sendable {
    /// Rows written and rows read back, in all tables.
    public var done: Int
    public var total: Int

    public init(done: Int, total: Int) {
      self.done = done
      self.total = total
    }
  }

  public struct Result: Codable, Equatable, Sendable {
    /// The stores, as `chime status` calls them.
    public var source: String
    public var target: String
    /// Whether it was a trial, of which nothing is left.
    public var dryRun: Bool
    /// In milliseconds.
    public var took: Int
    /// The configuration file that says which store is used.
    public var configuration: String
    /// In the order in which they were moved, each of which both stores have the same rows.
    public var tables: [Table]

    public init(
      source: String, target: String, dryRun: Bool, took: Int, configuration: String, tables: [Table]
    ) {
      self.source = source
      self.target = target
      self.dryRun = dryRun
      self.took = took
      self.configuration = configuration
      self.tables = tables
    }
  }

  public struct Problem: Codable, Equatable, Sendable {
    public var sentence: String
    /// Whether it is only for now: a daemon has one of the stores.
    public var mayPass: Bool

    public init(sentence: String, mayPass: Bool) {
      self.sentence = sentence
      self.mayPass = mayPass
    }
  }

  public var progress: Progress?
  public var result: Result?
  public var problem: Problem?

  public init(progress: Progress? = nil, result: Result? = nil, problem: Problem? = nil) {
    self.progress = progress
    self.result = result
    self.problem = problem
  }
}
