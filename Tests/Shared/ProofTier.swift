import Foundation
import Testing

/// The two tiers of the tests: `make test` shows each promise once, `make proof` shows it at length.
enum ProofTier {
  /// Whether this run belongs to `make proof` (`CHIME_PROOF=1`).
  static let isProof = ProcessInfo.processInfo.environment["CHIME_PROOF"] == "1"

  /// How much is tried of what could be tried for ever: a little of it in each run, much of it in a proof.
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
  /// A Debian with a systemd of its own, beyond the first one.
  case booted
  /// Crowds of clients and reminders.
  case floods
  /// One hostile owner beside a victim.
  case attacks
  /// Limits that the kernel puts on memory.
  case memory
  /// Months with the packs that come with Chime.
  case packs
  /// PostgreSQL servers that are lost and come back.
  case databases
  /// What depends on the load of the machine, or takes its time.
  case patience
  /// Real screens, shells and browsers.
  case screens
  /// A real homeserver of Matrix.
  case matrix
  /// A real server of ntfy.
  case ntfy
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test or a suite to a part of `make proof`.
  static func proof(_ part: ProofPart) -> Self {
    .enabled(if: ProofTier.isProof, "it belongs to make proof ONE=\(part.rawValue)")
  }
}
