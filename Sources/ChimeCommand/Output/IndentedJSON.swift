/// Indents JSON for a person, by two spaces per level.
///
/// It changes only the white space between tokens, so that the value is shown as sent. Text that is not JSON stays as it is.
///
///     IndentedJSON.text(#"{"a":[1,{}]}"#)   // {⏎  "a": [⏎    1,⏎    {}⏎  ]⏎}
enum IndentedJSON {
  static func text(_ json: String) -> String {
    guard json.first == "{" || json.first == "[" else { return json }
    var result = ""
    var level = 0
    var (isString, isEscaped) = (false, false)
    func line() { result += "\n" + String(repeating: "  ", count: max(0, level)) }
    for scalar in json.unicodeScalars {
      if isString {
        result.unicodeScalars.append(scalar)
        if isEscaped {
          isEscaped = false
        } else if scalar == "\\" {
          isEscaped = true
        } else {
          isString = scalar != "\""
        }
        continue
      }
      switch scalar {
      case "\"":
        isString = true
        result += "\""
      case "{", "[":
        result.unicodeScalars.append(scalar)
        level += 1
        line()
      case "}", "]":
        level -= 1
        let last = result.unicodeScalars.last { $0 != " " && $0 != "\n" }
        if last == "{" || last == "[" {
          while let end = result.unicodeScalars.last, end == " " || end == "\n" { result.unicodeScalars.removeLast() }
        } else {
          line()
        }
        result.unicodeScalars.append(scalar)
      case ",":
        result += ","
        line()
      case ":": result += ": "
      case " ", "\n", "\r", "\t": continue
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
