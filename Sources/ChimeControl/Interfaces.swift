extension DaemonInterface {
  /// Methods that concern the whole daemon. Tenants cannot call them.
  public static let wholeMethods: Set<String> = [
    Diagnose.method, Metrics.method, GetFleet.method, Reload.method, TakeSnapshot.method, ListSnapshots.method,
  ]
}

extension RemindersInterface {
  /// Formats of ``Export``. The field `format` is a string, so that formats can be added.
  public enum ExportFormat: String, CaseIterable, Sendable { case icalendar, toml }
}
