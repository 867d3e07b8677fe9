/// What both programs say of themselves.
public enum Product {
  /// Semantic Versioning 2.0.0.
  public static let version = "0.1.0"
}
