import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Shell, scripts, shells } from '../../../src/cli/commands/completion.ts'
import { type TestCli, testCli } from '../../helpers/cli.ts'
import { bin, type Ended, programOnPath, run } from '../../helpers/process.ts'

let cli: TestCli
let path = ''

beforeAll(async () => {
  cli = testCli()
  await cli.run('profiles add local --database academy.db')
  writeFileSync(join(cli.cwd, 'people.csv'), '')
  writeFileSync(join(cli.home, 'learnctl'), `#!/bin/sh\nexec ${process.execPath} ${bin} "$@"\n`)
  chmodSync(join(cli.home, 'learnctl'), 0o755)
  path = `${cli.home}:${process.env['PATH']}`
  for (const shell of shells) writeFileSync(join(cli.home, `script.${shell}`), scripts[shell])
})
afterAll(() => cli.remove())

/** Runs a shell in the directory of the test, with `learnctl` on the PATH. */
async function started(program: string, words: readonly string[], stdin = ''): Promise<Ended> {
  const env = { HOME: cli.home, PATH: path, LANG: 'C.UTF-8', TERM: 'xterm' }
  const ended = await run(program, words, { cwd: cli.cwd, env, stdin })
  expect(existsSync(join(cli.cwd, 'pwned'))).toBe(false)
  return ended
}

/** Typed lines, and the lines after one Tab, in both bash and zsh. None has a command substitution, which zsh itself runs. */
const typed: readonly (readonly [line: string, completed: string])[] = [
  ['learnctl cour', 'learnctl courses '],
  ['learnctl courses publ', 'learnctl courses publish '],
  ['learnctl whoa', 'learnctl whoami '],
  ['learnctl courses update x --difficulty=adv', 'learnctl courses update x --difficulty=advanced '],
  ['learnctl courses list --status draft,pub', 'learnctl courses list --status draft,published'],
  ['learnctl courses "publ', 'learnctl courses "publish" '],
  ['learnctl users import peo', 'learnctl users import people.csv '],
  ['learnctl users create --body @peo', 'learnctl users create --body @people.csv'],
  ['learnctl courses list > peo', 'learnctl courses list > people.csv '],
  ['learnctl courses list --profile lo', 'learnctl courses list --profile local '],
]

const ctrlG = '\u0007'
const noScript = process.platform === 'linux' ? programOnPath('script') === undefined : true

describe.skipIf(programOnPath('bash') === undefined)('bash', () => {
  // The flags of script(1), which provides a terminal, differ between systems.
  test.skipIf(noScript)('completes what is typed at it, and runs none of it', async () => {
    const rc = [
      "PS1='$ '",
      'source ~/script.bash',
      'exec 3>~/lines.bash',
      `show() { printf '%s\\n' "$READLINE_LINE" >&3; READLINE_LINE=; READLINE_POINT=0; }`,
      `bind -x '"\\C-g": show'`,
    ]
    writeFileSync(join(cli.home, 'rc.bash'), `${rc.join('\n')}\n`)
    const keys = typed.map(([line]) => `${line}\t${ctrlG}`).join('')
    await started('script', ['-qec', 'bash --rcfile ~/rc.bash -i', '/dev/null'], `${keys}exit\n`)
    const lines = readFileSync(join(cli.home, 'lines.bash'), 'utf8').split('\n')
    expect(lines.slice(0, -1)).toEqual(typed.map(([, completed]) => completed))
  })

  test('is told meanings where it lists what is possible, and nowhere else', async () => {
    const asked = (type: number) =>
      `COMP_LINE='learnctl courses re'; COMP_POINT=\${#COMP_LINE}; COMP_TYPE=${type}; _learnctl; printf '%s\\n' "\${COMPREPLY[@]}"`
    const source = `source ~/script.bash; compopt() { :; }; ${asked(9)}; ${asked(63)}`
    const { stdout, stderr } = await started('bash', ['-c', source])
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toEqual(['restore', expect.stringMatching(/^restore$/)])
  })
})

describe.skipIf(programOnPath('zsh') === undefined)('zsh', () => {
  test('completes what is typed at it, and runs none of it', async () => {
    const setup = [
      "PS1='% '; setopt no_beep no_list_ambiguous; LISTMAX=0",
      'autoload -Uz compinit && compinit -u -d ~/dump.zsh',
      'source ~/script.zsh',
      'show() { print -r -- "$BUFFER" >> ~/lines.zsh; BUFFER= }; zle -N show; bindkey "^G" show',
    ]
    writeFileSync(join(cli.home, 'rc.zsh'), `${setup.join('\n')}\n`)
    const keys = typed.map(([line]) => `${line}\t${ctrlG}`)
    writeFileSync(join(cli.home, 'keys'), keys.join('\n'))
    const drive = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "source ~/rc.zsh; print rea''dy"
      zpty -r -m shell seen '*ready*'
      for line in "\${(@f)$(<~/keys)}"; do zpty -w -n shell $line; done
      zpty -w shell "print do''ne"
      zpty -r -m shell seen '*done*'`
    await started('zsh', ['-f', '-c', drive])
    const lines = readFileSync(join(cli.home, 'lines.zsh'), 'utf8').split('\n')
    expect(lines.slice(0, -1)).toEqual(typed.map(([, completed]) => completed))
  })

  test('loads the script from its own path of functions, too', async () => {
    writeFileSync(join(cli.home, '_learnctl'), scripts.zsh)
    const source = 'fpath=(~ $fpath); autoload -Uz compinit && compinit -u -D; print -r -- $_comps[learnctl]'
    expect(await started('zsh', ['-f', '-c', source])).toMatchObject({ code: 0, stdout: '_learnctl\n' })
  })
})

describe.skipIf(programOnPath('fish') === undefined)('fish', () => {
  test('is offered words with what they mean, and runs none of them', async () => {
    const lines = [
      'learnctl cour',
      'learnctl courses list --status draft,p',
      'learnctl users import peo',
      'learnctl courses list --profile ',
      'learnctl courses get (touch pwned)',
      'learnctl nonsense ',
    ]
    writeFileSync(join(cli.home, 'lines'), lines.join('\n'))
    const source =
      'source ~/script.fish; while read -l line; echo "> $line"; complete -C "$line"; end < ~/lines'
    const { stdout, stderr } = await started('fish', ['--no-config', '-c', source])
    expect(stderr).toBe('')
    const [, ...found] = stdout.split(/^> .*\n/m)
    expect(found.map((part) => part.split('\n').slice(0, -1).sort())).toEqual([
      ['courses\tManage courses and their versions'],
      ['draft,published'],
      ['people.csv'],
      [`local\t${join(cli.cwd, 'academy.db')} (active)`],
      [],
      [],
    ])
  })

  test('does not read the script as anything but its own', async () => {
    expect(await started('fish', ['--no-execute', join(cli.home, 'script.fish')])).toMatchObject({ code: 0 })
  })
})

describe('PowerShell', () => {
  const pwsh = programOnPath('pwsh')

  test.skipIf(pwsh === undefined)('is offered words with what they mean', async () => {
    const line = 'learnctl courses publ'
    const source = `. ~/script.powershell; (TabExpansion2 '${line}' ${line.length}).CompletionMatches | % { $_.CompletionText + '|' + $_.ToolTip }`
    const { stdout } = await started(pwsh ?? '', ['-NoProfile', '-Command', source])
    expect(stdout).toMatch(/^publish\|Publish /m)
  })

  test('gets each word whole, in its own quotes', async () => {
    const given = ['=courses', '=list', '=--status', "='draft,pub"]
    expect((await cli.run(['__complete', 'powershell', ...given])).stdout).toMatch(
      /^nospace\n'draft,published'\t\n$/,
    )
    expect(await cli.run(['__complete', 'powershell', '=courses', '=pub'])).toMatchObject({
      stdout: expect.stringMatching(/^words\npublish\tPublish .+\n$/),
    })
  })
})

test.for(shells)('the script of %s evaluates nothing', (shell: Shell) => {
  expect(scripts[shell]).not.toMatch(/\beval\b|Invoke-Expression|\bsource\b/)
})
