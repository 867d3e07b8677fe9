import ChimeControl
import ChimeSchedule
import ChimeWords

/// The expected jobs: a row of squares for each, green for a success, red for a failure or a missing run.
extension ReportPage {
  var expectations: Markup {
    guard !contents.expectations.isEmpty else { return .nothing }
    let down = contents.expectations.count { $0.state == .down }
    return tag("section", ["id": "expected", "aria-labelledby": "expected-title"]) {
      tag("div", ["class": "head"]) { tag("h2", ["id": "expected-title"]) { localized("Expected jobs") } }
      tag("p", ["class": "kicker"]) {
        down == 0
          ? localized("None is down.") : localized(count: down, "%n is down.", "%n are down.")
      }
      tag("ul", ["class": "card jobs"]) { for one in contents.expectations { job(one) } }
    }
  }

  private func job(_ one: ExpectationsInterface.Expectation) -> Markup {
    tag("li", ["class": one.state == .down ? "down" : nil]) {
      tag("strong", ["dir": "auto"]) { one.title }
      tag("span", ["class": "kicker"]) { "\(StateWords.say(one.state.rawValue)) · \(one.when)" }
      tag("span", ["class": "beats", "role": "img", "aria-label": summary(one.beats)]) {
        for beat in one.beats { tag("i", ["class": beat.result.rawValue, "title": title(beat)]) }
      }
    }
  }

  private func title(_ beat: ExpectationsInterface.Beat) -> String {
    "\(beat.at.at.prefix(16).replacing("T", with: " ")) \(word(beat.result))"
  }

  private func word(_ result: ExpectationsInterface.Beat.Result) -> String {
    switch result {
    case .good: localized("went well")
    case .failed: StateWords.say("failed")
    case .missed: localized("no ping")
    }
  }

  /// Returns a summary such as `12 went well, 1 failed, 0 no ping`.
  private func summary(_ beats: [ExpectationsInterface.Beat]) -> String {
    ExpectationsInterface.Beat.Result.allCases.map { result in
      "\(beats.count { $0.result == result }) \(word(result))"
    }.joined(separator: ", ")
  }
}
