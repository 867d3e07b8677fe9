/// Constants that the daemon and the command share.
public enum Product {
  /// The version (Semantic Versioning 2.0.0).
  public static let version = "0.1.0"
  /// Maximum bytes of UTF-8 kept of a job's output.
  public static let pingOutputLimit = 10_240
}
