import { type Command, noTarget, plainText } from '../command/command.ts'
import { type Shell, scripts, shells } from '../help/completion-scripts.ts'
import { UsageError } from '../terminal/errors.ts'

export const command: Command = {
  name: 'completion',
  summary: 'Print a shell completion script',
  writes: [],
  prints: [],
  description: `Completes commands, flags and their values, profiles, files, and courses, users and other things of the
academy by external id, e-mail or id, where they are known or found within 0.3 s (2 s in a local academy).

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
