/// Text as a shell of POSIX takes it for one word, for commands that are shown to be typed.
public enum ShellText {
  public static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "+"):
        true
      default: false
      }
    }
    if plain, !text.isEmpty { return text }
    var quoted = Array("'".utf8)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'") { quoted += "'\\''".utf8 } else { quoted.append(byte) }
    }
    return String(decoding: quoted + "'".utf8, as: UTF8.self)
  }
}
