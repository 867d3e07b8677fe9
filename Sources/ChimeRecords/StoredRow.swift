package import ChimeCore
package import ChimeSchedule

/// A StoredRow is a row of a result. Columns are counted from 0.
///
/// An integer that is NULL reads as 0, and a text that is NULL as empty.
package protocol StoredRow {
  func isNull(_ column: Int32) -> Bool
  func int64(_ column: Int32) -> Int64
  func text(_ column: Int32) -> String
  func bytes(_ column: Int32) -> [UInt8]
}

extension StoredRow {
  package func int(_ column: Int32) -> Int { Int(int64(column)) }

  package func uint32(_ column: Int32) -> UInt32 { UInt32(truncatingIfNeeded: int64(column)) }

  package func instant(_ column: Int32) -> Instant { Instant(milliseconds: int64(column)) }

  package func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

  package func optionalInstant(_ column: Int32) -> Instant? { isNull(column) ? nil : instant(column) }

  package func queue(_ column: Int32) -> DeliveryQueue {
    DeliveryQueue(owner: uint32(column), channel: ChannelName(rawValue: text(column + 1)))
  }

  package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
