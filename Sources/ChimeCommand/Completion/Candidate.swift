/// Something that could stand at the cursor.
struct Candidate: Equatable {
  /// The whole word, as the program is to get it.
  var value: String
  /// What it is, in a few words.
  var note = ""

  init(_ value: String, _ note: String = "") {
    self.value = value
    self.note = note
  }
}

/// What a shell is answered.
struct Completion: Equatable {
  var candidates: [Candidate] = []
  /// Whether files fit too; the shell knows those best.
  var files = false
  /// Whether more belongs to the same word, so that no space is to follow.
  var goesOn = false

  init(_ candidates: [Candidate] = [], files: Bool = false, goesOn: Bool = false) {
    self.candidates = candidates
    self.files = files
    self.goesOn = goesOn
  }

  /// Those that begin with what was typed; in any case of letters, where none begins with it exactly.
  func beginning(with typed: String) -> Completion {
    var result = self
    // A word with a line break or another control character is no word that a person could have meant to type.
    let sound = candidates.filter {
      !$0.value.isEmpty && $0.value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
    let exact = sound.filter { $0.value.hasPrefix(typed) }
    let lowered = typed.lowercased()
    result.candidates = (exact.isEmpty ? sound.filter { $0.value.lowercased().hasPrefix(lowered) } : exact)
      .reduce(into: []) { if !$0.map(\.value).contains($1.value) { $0.append($1) } }
    return result
  }
}
