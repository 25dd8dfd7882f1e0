import { describe, expect } from 'vitest'
import { isListed } from '../../../src/cli/help/help-text.ts'
import { manPage } from '../../../src/cli/help/help-topics.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { settings, variableOf } from '../../../src/config/setting.ts'
import { test as base } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'
import { programOnPath, run } from '../../helpers/process.ts'

/** Returns the page that `help --man` prints. */
const test = base.extend('page', async ({ cli }) => {
  const { code, stdout, stderr } = await cli.run('help --man')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
})

const roffEscapes: Readonly<Record<string, string>> = { '\\-': '-', '\\e': '\\', '\\(dq': '"', '\\&': '' }

/** Formats a line of the page as a reader sees it. */
function read(line: string): string {
  return line
    .replaceAll(/\\(?:-|e|&|\(dq)/g, (each) => roffEscapes[each] ?? '')
    .replaceAll(/\\\[u([0-9A-F]+)\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
}

describe('the manual page', () => {
  test('has every command with flags and examples, as in help', { tags: ['slow'] }, async ({ page }) => {
    const lines = page.split('\n').map(read)
    for (const [name, noun] of Object.entries(nouns)) {
      const loaded = await noun.load(host)
      for (const command of 'length' in loaded ? loaded.filter(isListed) : [loaded]) {
        const path = `learnctl ${'length' in loaded ? `${name} ` : ''}${command.name}`
        expect(lines.some((line) => `${line} `.startsWith(`.B ${path} `))).toBe(true)
        for (const example of command.examples ?? []) expect(lines).toContain(`learnctl ${example}`)
        const flags = (command.flags ?? []).filter(
          (flag) => !lines.some((line) => line.startsWith('.B --') && line.includes(flag.name)),
        )
        expect(flags).toEqual([])
      }
    }
    for (const setting of Object.values(settings)) {
      expect(page).toContain(`\\-\\-${setting.flag.replaceAll('-', '\\-')}`)
      expect(lines).toContain(`.B ${variableOf(setting)}`)
    }
  })

  test('is dated by the clock', ({ page }) => {
    expect(page).toMatch(/^\.TH LEARNCTL 1 2026-03-01 "learnctl \d+\.\d+\.\d+" "User Commands"\n\.SH NAME\n/)
  })

  test('says what a text says, and obeys nothing of it', () => {
    const text = `.so /etc/passwd and \\*(xx "quoted" it's – \\n(.x`
    const command = { name: 'run', summary: text, run: async () => {} }
    const noun = { group: 'Tools', summary: 'x', load: async () => command }
    const page = manPage([{ name: 'run', noun, loaded: command }], { version: '1.0.0', date: '2026-03-01' })
    const line = page.split('\n').find((each) => each.includes('passwd'))
    expect(line).toMatch(/^\\&\./)
    expect(read(line ?? '')).toBe(`${text}.`)
  })

  const mandoc = programOnPath('mandoc')
  const groff = programOnPath('groff')

  test.skipIf(mandoc === undefined)('has nothing that mandoc warns of', async ({ page, cli }) => {
    const { stdout, stderr } = await run(mandoc ?? '', ['-Tlint', '-Wwarning'], { cwd: cli.cwd, stdin: page })
    expect(stdout + stderr).toBe('')
  })

  test.skipIf(groff === undefined)(
    'is set by groff without a warning, at 80 columns',
    { tags: ['slow'] },
    async ({ page, cli }) => {
      const { code, stdout, stderr } = await run(groff ?? '', ['-man', '-ww', '-Tutf8', '-rLL=80n', '-P-c'], {
        cwd: cli.cwd,
        stdin: page,
      })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const text = stdout.replaceAll(/.\u0008/gu, '')
      expect(text).toContain('learnctl courses restore <course...> [version]')
      expect(text).toContain('EXIT STATUS')
    },
  )
})
