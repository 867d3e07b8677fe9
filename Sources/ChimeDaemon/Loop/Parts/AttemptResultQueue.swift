import ChimeCore
import Synchronization

/// Where channels put what came of attempts, from any thread, for the loop to take all at once.
///
/// A lock guards the lists: a channel's thread adds to them, and the loop takes them.
final class AttemptResultQueue: Sendable {
  private let arrived = Mutex<(outcomes: [Outcome], answers: [OutboxTransaction.Answer])>(([], []))

  /// - Returns: whether it is the first since the loop last took them, so that the loop is to be woken.
  func put(_ outcome: Outcome) -> Bool {
    arrived.withLock { arrived in
      arrived.outcomes.append(outcome)
      return arrived.outcomes.count + arrived.answers.count == 1
    }
  }

  /// - Parameter way: as `Occurrence.answeredBy` has it.
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
