extension DaemonInterface {
  /// Methods about the daemon as a whole, which no tenant can call.
  public static let wholeMethods: Set<String> = [
    Examine.method, Metrics.method, GetFleet.method, Reload.method, TakeSnapshot.method, ListSnapshots.method,
  ]
}

extension RemindersInterface {
  /// The formats that ``Export`` writes: the values of its `format`, which is a string so that more may come.
  public enum ExportFormat: String, CaseIterable, Sendable { case icalendar, toml }
}
