package import ChimeCore

// The stored form of a delivery's id. Ids made by chimed are 128 bits in 30 characters and are stored as 16 bytes. Any
// other id is stored as text after the byte 255. No number starts with 255 for the next 8,000 years, because it begins
// with the time.
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
