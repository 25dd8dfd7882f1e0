import { type Command, noTarget, plainText } from '../command/command.ts'
import { UsageError } from '../terminal/errors.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/*
 * Each script hands the line as it was typed to `learnctl __complete <shell>`, and what comes back to the shell. Nothing
 * of either is ever run: no script evaluates a word, as those that join words to a command and `eval` it do. The first
 * line that comes back says what else the shell is to do: `files` to complete paths itself, `nospace` to add no space.
 */

const bash = `# bash completion for learnctl; needs bash 4 or newer
_learnctl() {
  COMPREPLY=()
  local line kind=
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
      [[ $kind == nospace ]] && compopt -o nospace
      [[ $kind == files ]] && compopt -o default
    else
      COMPREPLY+=("$line")
    fi
  done < <(learnctl __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "$COMP_TYPE" 2>/dev/null </dev/null)
}
complete -F _learnctl learnctl
`

const zsh = `#compdef learnctl
# zsh completion for learnctl
_learnctl() {
  local line kind=
  local -a found
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      found+=("$line")
    fi
  done < <(learnctl __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)
  case $kind in
    files) _files ;;
    nospace) _describe -t values learnctl found -S '' ;;
    *) _describe -t values learnctl found ;;
  esac
}
if [[ \${funcstack[1]} == _learnctl ]]; then
  _learnctl "$@"
else
  compdef _learnctl learnctl
fi
`

const fish = `# fish completion for learnctl
function __learnctl_complete
    set -l found (learnctl __complete fish (commandline -cp | string collect) 2>/dev/null </dev/null)
    if test "$found[1]" = files
        __fish_complete_path (commandline -ct)
    else if set -q found[2]
        printf '%s\\n' $found[2..-1]
    end
end
complete -c learnctl -e
complete -c learnctl -f -k -a '(__learnctl_complete)'
`

const powershell = `# PowerShell completion for learnctl
Register-ArgumentCompleter -Native -CommandName learnctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { "=$($_.Extent.Text)" })
    $found = @(& learnctl __complete powershell @words "=$wordToComplete" 2>$null)
    if ($found.Count -lt 2) { return }
    $found[1..($found.Count - 1)] | ForEach-Object {
        $value, $meaning = $_ -split "\`t", 2
        if (-not $meaning) { $meaning = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
    }
}
`

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell }

export const command: Command = {
  name: 'completion',
  summary: 'Print a shell completion script',
  writes: [],
  prints: [],
  description: `Completes commands, flags and their values, profiles, snapshots and files.

bash: add this line to ~/.bashrc: source <(learnctl completion bash)

zsh: add it to ~/.zshrc, after compinit: source <(learnctl completion zsh)

fish: learnctl completion fish > ~/.config/fish/completions/learnctl.fish

PowerShell: add it to $PROFILE: learnctl completion powershell | Out-String | Invoke-Expression`,
  arguments: [{ name: 'shell', summary: `Shell: ${shells.join(', ')}`, choices: shells }],
  refuses: { ...noTarget, ...plainText },
  examples: ['completion bash', 'completion zsh > _learnctl', 'completion fish'],
  run: async ({ output }, given) => {
    const shell = given.arguments['shell'] ?? ''
    if (!isShell(shell)) {
      throw new UsageError(`<shell> must be one of ${shells.join(', ')}, not ${JSON.stringify(shell)}`, {
        code: 'invalid_choice',
        choice: { given: shell, valid: shells },
      })
    }
    await output.text(scripts[shell])
  },
}

function isShell(text: string): text is Shell {
  return Object.hasOwn(scripts, text)
}
