/// What both programs know.
public enum Product {
  /// Semantic Versioning 2.0.0.
  public static let version = "0.1.0"
  /// The most that is kept of what a job wrote, in bytes of UTF-8.
  public static let pingOutputLimit = 10_240
}
