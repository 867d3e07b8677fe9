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

  /// Converts a picture by another program; ignores output that contains no picture.
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
    return programs.lazy.compactMap { context.process.runProgram($0) }.first { Self.isPicture($0, ability) }
  }

  /// Whether the bytes contain the start of a picture.
  static func isPicture(_ bytes: [UInt8], _ ability: Ability) -> Bool {
    let begin: [UInt8] = ability == .kitty ? [0x1B, 0x5F, 0x47] : [0x1B, 0x50]
    return bytes.indices.contains { bytes[$0...].starts(with: begin) }
  }
}
