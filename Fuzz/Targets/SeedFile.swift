/// The texts of a seed file: one a line, with the escapes of `printf %b` that `Fuzz/run` writes them out with (`\n`,
/// `\r`, `\t`, `\\` and `\xHH`). Lines that begin with `#` are comments.
public func seeds(in file: String) -> [[UInt8]] {
  file.utf8.split(separator: 0x0A).filter { $0.first != UInt8(ascii: "#") }.map { unescaped(Array($0)) }
}

private func unescaped(_ line: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = []
  var index = 0
  while index < line.count {
    guard line[index] == UInt8(ascii: "\\"), index + 1 < line.count else {
      bytes.append(line[index])
      index += 1
      continue
    }
    index += 2
    switch line[index - 1] {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "x"):
      let digits = line[index...].prefix(2)
      guard digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else { continue }
      bytes.append(byte)
      index += 2
    case let other: bytes.append(other)
    }
  }
  return bytes
}
