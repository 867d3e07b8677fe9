/// What spreads numbers where nobody has to be kept from guessing them (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", 2014).
enum SplitMix64 {
  /// Each bit of the result depends on each bit of `state`.
  static func mix(_ state: UInt64) -> UInt64 {
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
