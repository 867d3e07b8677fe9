/// Data that was compressed with DEFLATE.
///
/// Source: RFC 1951.
struct Inflate {
  private let input: ArraySlice<UInt8>
  private var index: Int
  private var bits: UInt64 = 0
  private var count = 0
  private var output: [UInt8] = []
  private let limit: Int

  /// - Parameter limit: the longest result.
  /// - Returns: nil when it is broken, or comes to more.
  static func bytes(of input: ArraySlice<UInt8>, atMost limit: Int) -> [UInt8]? {
    var inflate = Inflate(input, limit)
    return inflate.run() ? inflate.output : nil
  }

  private init(_ input: ArraySlice<UInt8>, _ limit: Int) {
    self.input = input
    self.limit = limit
    index = input.startIndex
  }

  private mutating func run() -> Bool {
    while true {
      guard let isLast = take(1), let kind = take(2) else { return false }
      let isSound =
        switch kind {
        case 0: stored()
        case 1: compressed(Self.fixedLengths, Self.fixedDistances)
        case 2: dynamic()
        default: false
        }
      guard isSound else { return false }
      if isLast == 1 { return true }
    }
  }

  /// So many bits, the first the least.
  private mutating func take(_ wanted: Int) -> Int? {
    while count < wanted {
      guard index < input.endIndex else { return nil }
      bits |= UInt64(input[index]) << UInt64(count)
      index += 1
      count += 8
    }
    let value = Int(bits & (1 << UInt64(wanted) - 1))
    bits >>= UInt64(wanted)
    count -= wanted
    return value
  }

  private mutating func stored() -> Bool {
    _ = take(count % 8)
    guard let length = take(16), let check = take(16), length == check ^ 0xFFFF, output.count + length <= limit else {
      return false
    }
    for _ in 0..<length {
      guard let byte = take(8) else { return false }
      output.append(UInt8(byte))
    }
    return true
  }

  private mutating func dynamic() -> Bool {
    guard let literals = take(5), let distances = take(5), let codes = take(4) else { return false }
    var lengths = [UInt8](repeating: 0, count: 19)
    for position in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(codes + 4) {
      guard let length = take(3) else { return false }
      lengths[position] = UInt8(length)
    }
    guard let table = Huffman(lengths) else { return false }
    let total = literals + 257 + distances + 1
    var all: [UInt8] = []
    while all.count < total {
      guard let symbol = symbol(table) else { return false }
      var (value, times): (UInt8, Int) = (0, 1)
      switch symbol {
      case 0...15: value = UInt8(symbol)
      case 16:
        guard let last = all.last, let more = take(2) else { return false }
        (value, times) = (last, more + 3)
      case 17:
        guard let more = take(3) else { return false }
        times = more + 3
      default:
        guard let more = take(7) else { return false }
        times = more + 11
      }
      guard all.count + times <= total else { return false }
      all.append(contentsOf: repeatElement(value, count: times))
    }
    guard let lengths = Huffman(Array(all[..<(literals + 257)])),
      let distances = Huffman(Array(all[(literals + 257)...]))
    else { return false }
    return compressed(lengths, distances)
  }

  private mutating func compressed(_ lengths: Huffman, _ distances: Huffman) -> Bool {
    while true {
      guard let symbol = symbol(lengths) else { return false }
      if symbol < 256 {
        guard output.count < limit else { return false }
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return true }
      guard symbol - 257 < Self.lengthBases.count, let more = take(Self.lengthBits[symbol - 257]),
        let code = self.symbol(distances), code < Self.distanceBases.count, let far = take(Self.distanceBits[code])
      else { return false }
      let length = Self.lengthBases[symbol - 257] + more
      let distance = Self.distanceBases[code] + far
      guard distance <= output.count, output.count + length <= limit else { return false }
      for _ in 0..<length { output.append(output[output.count - distance]) }
    }
  }

  private mutating func symbol(_ table: Huffman) -> Int? {
    var (code, first, start) = (0, 0, 0)
    for length in 1...15 {
      guard let bit = take(1) else { return nil }
      code |= bit
      let count = table.counts[length]
      if code - first < count { return table.symbols[start + code - first] }
      start += count
      first = (first + count) << 1
      code <<= 1
    }
    return nil
  }

  /// A canonical code: how many symbols each length has, and the symbols in order.
  private struct Huffman {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    /// Nil for lengths that are more than a code can have.
    init?(_ lengths: [UInt8]) {
      for length in lengths where length > 0 { counts[Int(length)] += 1 }
      var left = 1
      for length in 1...15 {
        left = left << 1 - counts[length]
        if left < 0 { return nil }
      }
      for length in 1...15 where counts[length] > 0 { symbols += lengths.indices.filter { Int(lengths[$0]) == length } }
    }

    init(fixed lengths: [UInt8]) { self = Huffman(lengths) ?? Huffman() }
    private init() {}
  }

  private static let fixedLengths = Huffman(
    fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let fixedDistances = Huffman(fixed: [UInt8](repeating: 5, count: 30))
  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ]
  private static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
  ]
}
