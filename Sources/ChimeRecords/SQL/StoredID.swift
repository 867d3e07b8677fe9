package import ChimeCore

// A delivery's id as both engines keep it: what chimed makes are 128 bits in 30 signs, and are kept as 16 bytes. Any other
// is kept as its text behind the byte 255, with which no number begins that has the time in front, for 8,000 years.
extension DeliveryID: SQLValue {
  package static var sqlType: SQLType { .bytes }

  package func bind(to parameters: inout some SQLParameters) { parameters.add(stored) }

  package var stored: [UInt8] {
    guard let number, number >> 120 < 255 else { return [255] + rawValue.utf8 }
    return withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  package init(stored bytes: [UInt8]) {
    if bytes.first == 255 || bytes.count != 16 {
      self.init(rawValue: String(decoding: bytes.dropFirst(), as: UTF8.self))
    } else {
      self.init(number: bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }
  }
}
