import FuzzTargets

/// The target that this process fuzzes. Written once, before libFuzzer starts any thread.
nonisolated(unsafe) private var target: FuzzTarget?

/// Chooses the target by name; 0 where there is none of that name.
@_cdecl("chime_fuzz_choose")
public func choose(_ name: UnsafePointer<CChar>) -> CInt {
  target = FuzzTarget(rawValue: String(cString: name))
  return target == nil ? 0 : 1
}

@_cdecl("chime_fuzz_input")
public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) {
  guard let target else { return }
  do {
    try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("\(target): \(error)")
  }
}
