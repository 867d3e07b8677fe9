/// SplitMix64 spreads numbers where predictability does no harm (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", 2014).
enum SplitMix64 {
  /// Returns `state` mixed, so that each bit of the result depends on each bit of `state`.
  static func mix(_ state: UInt64) -> UInt64 {
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns FNV-1a of 64 bits (Fowler, Noll, Vo), mixed, because its high bits hardly differ between short ids.
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return mix(hash)
  }
}
