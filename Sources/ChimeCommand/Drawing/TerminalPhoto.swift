import ChimeWords
import FoundationEssentials
import Glibc

/// Shows a photo in a terminal, by kitty's graphics protocol or as sixel.
///
/// The terminal is queried first, so nothing is written into a pipe or to a terminal that does not reply. kitty's
/// protocol takes PNG directly; img2sixel or chafa, if installed, convert other formats.
///
/// Sources: kitty, "Terminal graphics protocol"; DEC STD 070 (sixel); xterm's "Control Sequences" (DA1).
struct TerminalPhoto {
  enum Ability: Equatable { case kitty, sixel, none }

  private let context: Context

  init(_ context: Context) { self.context = context }

  /// A query for a one-pixel picture that is not displayed, followed by DA1, to which every terminal replies. A
  /// terminal that replies only to DA1 has no kitty graphics.
  static let question = "\u{1B}_Gi=4711,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  /// Parses the reply: `ESC _ G i=4711;OK ESC \` means kitty, attribute 4 in `ESC [ ? … c` means sixel.
  static func ability(_ answer: [UInt8]) -> Ability {
    let text = String(decoding: answer, as: UTF8.self)
    if text.utf8.contains(0x1B), text.contains("_Gi=4711;OK") { return .kitty }
    guard let start = text.firstRange(of: "\u{1B}[?"), text.hasSuffix("c") else { return .none }
    let attributes = text[start.upperBound...].dropLast().split(separator: ";")
    return attributes.contains("4") ? .sixel : .none
  }

  /// Shows the photo, or prints a line with the reason why not.
  func show(_ name: String) {
    let process = context.process
    // The Linux console would print the query as text.
    let isAsked = process.hasScreen && !(process.environment["TERM"] ?? "linux").hasPrefix("linux")
    let ability = isAsked ? Self.ability(answer()) : .none
    guard ability != .none else {
      return context.note(localized("It has a photo; --save FILE writes the photo to a file."), .faint)
    }
    guard let daemon = try? context.daemon(),
      let bytes = try? ReportPhotos.bytes(name, limit: Uploading.longestPhoto, daemon),
      let clean = PhotoFile.clean(bytes)
    else { return context.note(localized("The photo cannot be read."), .caution) }
    if ability == .kitty, clean.kind == .png {
      process.output.write(Self.kitty(clean.bytes, columns: columns))
      return
    }
    guard let drawn = converted(clean.bytes, ability) else {
      return context.note(
        localized("To see the photo here, install chafa or img2sixel; --save FILE writes it to a file."), .faint)
    }
    process.output.write(bytes: drawn)
    process.output.line()
  }

  private func answer() -> [UInt8] {
    context.process.output.flush()
    return context.process.askTerminal(Self.question, UInt8(ascii: "c"))
  }

  private var columns: Int { max(8, min(context.width - 2, 36)) }

  /// Encodes a PNG in chunks of 4,096 base64 characters, `columns` wide, with the cursor after it.
  static func kitty(_ png: [UInt8], columns: Int) -> String {
    let data = Array(Data(png).base64EncodedString().utf8)
    var text = ""
    var begin = 0
    while begin < data.count {
      let end = min(begin + 4_096, data.count)
      let keys = begin == 0 ? "a=T,f=100,q=2,c=\(columns)," : ""
      let part = String(decoding: data[begin..<end], as: UTF8.self)
      text += "\u{1B}_G\(keys)m=\(end < data.count ? 1 : 0);\(part)\u{1B}\\"
      begin = end
    }
    return text + "\n"
  }

  /// Converts a picture by another program. Of its output only well-formed pictures are used.
  private func converted(_ bytes: [UInt8], _ ability: Ability) -> [UInt8]? {
    let folder = context.process.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(folder)/chime-photo.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let isWritten = Files.write(bytes, to: descriptor)
    close(descriptor)
    guard isWritten else { return nil }
    let size = "\(columns)x\(columns / 2)"
    let programs: [[String]] =
      ability == .kitty
      ? [["chafa", "--format", "kitty", "--size", size, path]]
      : [["img2sixel", "-w", String(columns * 9), path], ["chafa", "--format", "sixels", "--size", size, path]]
    return programs.lazy.compactMap { context.process.runProgram($0) }.compactMap { Self.pictures($0, ability) }.first
  }

  /// Returns the well-formed pictures in the output of a program, and nothing else of it: no other sequence reaches the
  /// terminal. Nil if there is none.
  ///
  /// A part of kitty's protocol must show a picture that it contains: a path (`t=f`) would make the terminal read or
  /// delete a file.
  static func pictures(_ bytes: [UInt8], _ ability: Ability) -> [UInt8]? {
    let begin = Array((ability == .kitty ? "\u{1B}_G" : "\u{1B}P").utf8)
    var pictures: [UInt8] = []
    var rest = bytes[...]
    while let start = rest.firstRange(of: begin), let stop = rest[start.upperBound...].firstRange(of: [0x1B, 0x5C]) {
      let body = rest[start.upperBound..<stop.lowerBound]
      if ability == .kitty ? isKitty(body) : isSixel(body) { pictures += rest[start.lowerBound..<stop.upperBound] }
      rest = rest[stop.upperBound...]
    }
    return pictures.isEmpty ? nil : pictures
  }

  /// Whether this is `key=value,…;base64` with keys that show a picture or describe it.
  private static func isKitty(_ body: ArraySlice<UInt8>) -> Bool {
    let keys = body.prefix { $0 != UInt8(ascii: ";") }
    return body.dropFirst(keys.count + 1).allSatisfy(Set("+/=".utf8).union(letters).contains)
      && String(decoding: keys, as: UTF8.self).split(separator: ",").allSatisfy { pair in
        pair == "a=T" || pair == "t=d"
          || "fsvcrmqoSCXYz".contains(pair.prefix(1)) && pair.dropFirst().first == "="
            && pair.dropFirst(2).utf8.allSatisfy(letters.contains)
      }
  }

  /// Whether this is `parameters q data` with the signs of sixel.
  private static func isSixel(_ body: ArraySlice<UInt8>) -> Bool {
    let data = body.drop { (0x30...0x3B).contains($0) && $0 != UInt8(ascii: ":") }
    let signs = Set("\"#!$-;0123456789\r\n".utf8).union(0x3F...0x7E)
    return data.first == UInt8(ascii: "q") && data.allSatisfy(signs.contains)
  }

  private static let letters = Set(UInt8(ascii: "A")...UInt8(ascii: "Z")).union(UInt8(ascii: "a")...UInt8(ascii: "z"))
    .union(UInt8(ascii: "0")...UInt8(ascii: "9"))
}
