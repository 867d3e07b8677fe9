import ChimeCore
import Synchronization

/// An AttemptResultQueue collects outcomes and answers from channels on any thread; the loop takes them all at once.
///
/// A lock guards the lists: channel threads append, and the loop takes.
final class AttemptResultQueue: Sendable {
  private let arrived = Mutex<(outcomes: [Outcome], answers: [OutboxTransaction.Answer])>(([], []))

  /// Adds an outcome. Returns whether it is the first since the last `take`, so that the loop must be woken.
  func put(_ outcome: Outcome) -> Bool {
    arrived.withLock { arrived in
      arrived.outcomes.append(outcome)
      return arrived.outcomes.count + arrived.answers.count == 1
    }
  }

  /// Adds an answer, and returns the same. `way` is how it arrived, as in `Occurrence.answeredBy`.
  func put(_ answer: Occurrence.Answer, to occurrence: OccurrenceID, way: String) -> Bool {
    arrived.withLock { arrived in
      arrived.answers.append(OutboxTransaction.Answer(answer: answer, occurrence: occurrence, way: way))
      return arrived.outcomes.count + arrived.answers.count == 1
    }
  }

  func take() -> ([Outcome], [OutboxTransaction.Answer]) {
    arrived.withLock { arrived in
      defer { arrived = ([], []) }
      return arrived
    }
  }
}
