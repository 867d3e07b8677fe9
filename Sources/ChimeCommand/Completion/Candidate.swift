/// A word that could stand at the cursor.
struct Candidate: Equatable {
  /// The whole word, unquoted, as the program receives it.
  var value: String
  /// A short description.
  var note = ""

  init(_ value: String, _ note: String = "") {
    self.value = value
    self.note = note
  }
}

/// The answer to a shell's completion request.
struct Completion: Equatable {
  var candidates: [Candidate] = []
  /// Whether file names fit too; the shell completes those itself.
  var files = false
  /// Whether the word continues, so that the shell adds no space.
  var goesOn = false

  init(_ candidates: [Candidate] = [], files: Bool = false, goesOn: Bool = false) {
    self.candidates = candidates
    self.files = files
    self.goesOn = goesOn
  }

  /// Returns the candidates with the typed prefix; ignores letter case if none matches exactly.
  func beginning(with typed: String) -> Completion {
    var result = self
    // Drop words with control characters, such as line breaks: nobody means to type those.
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
