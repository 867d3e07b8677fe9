import Foundation
import Testing

/// The two tiers of the tests: `make test` checks each promise briefly, `make proof` at length.
enum ProofTier {
  /// The part of `make proof` that this run is (`CHIME_PROOF`): its name, or 1 for some tests by their names.
  fileprivate static let part = ProcessInfo.processInfo.environment["CHIME_PROOF"] ?? ""
  static let isProof = !part.isEmpty

  /// Returns the amount of trials for a test without a natural limit.
  static func amount<Number>(quick: Number, proof: Number) -> Number { isProof ? proof : quick }
}

/// The parts of `make proof`.
enum ProofPart: String, Sendable {
  /// Clocks that jump or run fast: libfaketime, and the machine's own clock.
  case clock
  /// Daemons that are killed at random.
  case kills
  /// Several daemons on one database.
  case fleet
  /// Several daemons while very many reminders fire.
  case storm
  /// More containers with Debian and a systemd of their own.
  case booted
  /// Crowds of clients and reminders.
  case floods
  /// One hostile owner beside a victim.
  case attacks
  /// Memory limits of the kernel.
  case memory
  /// Months with the bundled packs.
  case packs
  /// PostgreSQL servers that fail and recover.
  case databases
  /// Tests that depend on the load of the machine, or take long.
  case patience
  /// Real screens, shells and browsers.
  case screens
  /// A real Matrix homeserver.
  case matrix
  /// A real ntfy server.
  case ntfy
}

extension Trait where Self == ConditionTrait {
  /// Restricts a test or a suite to a part of `make proof`. What depends on the load of the machine would fail in the part
  /// that tries much more of its suite.
  static func proof(_ part: ProofPart) -> Self {
    .enabled(if: ["1", part.rawValue].contains(ProofTier.part), "it belongs to make proof ONE=\(part.rawValue)")
  }
}
