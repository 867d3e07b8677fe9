import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeTestKit
import Testing

/// The stored form of IDs.
@Suite struct StoredIDTests {
  @Test(arguments: [
    "msg_01kaxq3v00abcdefghjkmnpqrs", "msg_00000000000000000000000000", "msg_7zzzzzzzzzzzzzzzzzzzzzzzzz", "msg_1", "",
    "d",
    "fifteen letters", "dlv_r1", "msg_ěšč",
  ])
  func storedIDReadsBack(_ text: String) {
    #expect(DeliveryID(stored: DeliveryID(rawValue: text).stored).rawValue == text)
  }

  @Test func generatedIDTakesSixteenBytes() {
    var random = SeededGenerator(seed: 1)
    #expect(DeliveryID(at: .init(seconds: 1_795_266_000), using: &random).stored.count == 16)
  }

  /// An ID without a leading timestamp may begin with the byte that marks a text.
  @Test func binaryIDIsNotMistakenForText() {
    #expect(DeliveryID(number: .max).stored.count == 31)
  }
}
