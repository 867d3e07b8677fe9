import ChimeControl
import ChimeWords

extension HealthChecks {
  /// Checks the tenants; returns nothing if there are none.
  var tenants: [Finding] {
    guard let tenants = facts.health?.tenants, !tenants.isEmpty else { return [] }
    let found = tenants.flatMap { tenant -> [Finding] in
      var found: [Finding] = []
      if let limit = tenant.reminderLimit, tenant.isNearLimit {
        found.append(
          .caution(
            .tenants, Sentence(localizable("tenant %1 has %2 of %3 reminders"), tenant.name, tenant.reminders, limit),
            .advice(
              Sentence(localizable("remove some, or raise reminders in [tenants.%1] of the configuration"), tenant.name)
            )
          ))
      }
      if tenant.requestsRefused > 0 {
        found.append(
          .caution(
            .tenants,
            Sentence(
              localizable("tenant %1 has exceeded its requests per second; refused since the start: %2"),
              tenant.name,
              tenant.requestsRefused),
            .advice(
              Sentence(
                localizable(
                  "make it send fewer requests, or raise requestsPerSecond in [tenants.%1] of the configuration"),
                tenant.name))))
      }
      return found
    }
    guard found.isEmpty else { return found }
    return [.good(.tenants, Sentence(localizable("tenants: %1, none near a limit"), tenants.count))]
  }
}

extension DaemonInterface.Tenant {
  /// Whether the tenant has used nine tenths of its reminder limit.
  var isNearLimit: Bool { reminderLimit.map { reminders * 10 >= $0 * 9 } ?? false }
}
