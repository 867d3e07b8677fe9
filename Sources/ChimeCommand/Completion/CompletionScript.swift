/// The completion scripts of the shells.
///
/// Each only calls `chime complete` and passes its answer on. No script contains the verb table, so none becomes outdated.
enum CompletionScript {
  static func of(shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  // The script passes on the raw line up to the cursor: bash's own splitting breaks words at = and :, and the functions
  // of bash-completion that repair this may not be installed.
  private static let bash = #"""
    # bash completion for chime, made by `chime completion bash`

    _chime() {
      COMPREPLY=()
      local program=${COMP_WORDS[0]} answer
      [[ $program == '~/'* ]] && program=$HOME/${program:2}
      while IFS= read -r answer; do
        case $answer in
          $'\tfiles') compopt -o default ;;
          $'\tgoes on') compopt -o nospace ;;
          *) COMPREPLY+=("$answer") ;;
        esac
      done < <("$program" complete bash "${COMP_TYPE:-9}" "${COLUMNS:-80}" "$COMP_WORDBREAKS" \
        "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
    }

    complete -o nosort -F _chime chime

    """#

  private static let zsh = #"""
    #compdef chime
    # zsh completion for chime, made by `chime completion zsh`

    _chime() {
      local program=${(Q)words[1]} line value
      local -a typed answers values shown options
      local -i files=0 widest=0
      [[ $program == '~/'* ]] && program=$HOME/${program#'~/'}
      (( CURRENT > 2 )) && typed=("${(@Q)words[2,CURRENT-1]}")
      answers=("${(@f)$("$program" complete zsh -- "${typed[@]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
      for line in "${answers[@]}"; do
        case $line in
          '') ;;
          $'\tfiles') files=1 ;;
          $'\tgoes on') options=(-S '') ;;
          *)
            value=${line%%$'\t'*}
            values+=("$value")
            (( ${#value} > widest && ${#value} < 40 )) && widest=${#value}
            ;;
        esac
      done
      for line in "${answers[@]}"; do
        [[ -z $line || $line == $'\t'* ]] && continue
        value=${line%%$'\t'*}
        line=${line#*$'\t'}
        (( ${#value} < widest )) && value=${(r:widest:)value}
        shown+=("$value${line:+ -- $line}")
      done
      # The program has compared already; a letter may differ in its case.
      (( $#values )) && compadd -V chime "${options[@]}" -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -d shown -a values
      (( files )) && _files
      return 0
    }

    if [[ $funcstack[1] == _chime ]]; then
      _chime "$@"
    else
      compdef _chime chime
    fi

    """#

  private static let fish = #"""
    # fish completion for chime, made by `chime completion fish`

    function __chime_complete
        set -l typed (commandline -opc)
        set -l current (commandline -ct)
        # An open quote is none of the word.
        if string match -qr '^["\']' -- $current
            set current (string sub -s 2 -- $current | string unescape --style=script 2>/dev/null; or string sub -s 2 -- $current)
        else
            set current (string unescape -- $current)
        end
        set -l program $typed[1]
        set -e typed[1]
        for answer in (command $program complete fish -- $typed "$current" 2>/dev/null </dev/null)
            switch $answer
                case \tfiles
                    __fish_complete_path "$current"
                case \t'*'
                case '*'
                    echo $answer
            end
        end
    end

    complete -c chime -f -k -a '(__chime_complete)'

    """#
}
