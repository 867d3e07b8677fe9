/// A MoveLine is one line of JSON that `chimed --move-to` prints and `chime store move` reads.
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
    /// Rows written plus rows read back, over all tables.
    public var done: Int
    public var total: Int

    public init(done: Int, total: Int) {
      self.done = done
      self.total = total
    }
  }

  public struct Result: Codable, Equatable, Sendable {
    /// The stores, named as in `chime status`.
    public var source: String
    public var target: String
    /// Whether this was a trial that left no changes.
    public var dryRun: Bool
    /// Duration in milliseconds.
    public var took: Int
    /// Path of the configuration file that selects the store.
    public var configuration: String
    /// The tables in the order they were moved. Both stores have equal rows in each.
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
    /// Whether the problem is temporary, because a daemon uses one of the stores.
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
