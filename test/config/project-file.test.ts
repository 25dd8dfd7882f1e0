import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError, SettingError } from '../../src/config/errors.ts'
import { readProjectFile } from '../../src/config/resolve-settings.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'learnctl-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('the project file', () => {
  it('may choose the profile and how results look', () => {
    put({ profile: 'school', output: 'json', columns: ['id', 'title'], limit: 50 })
    expect(readProjectFile(directory)?.values).toEqual({
      profile: 'school',
      output: 'json',
      columns: 'id,title',
      limit: '50',
    })
  })

  it.each([['url'], ['database'], ['insecureHttp'], ['apiKey'], ['yes'], ['__proto__']])(
    'is refused as a whole when it holds %s',
    (name) => {
      writeFileSync(join(directory, 'learnctl.json'), `{${JSON.stringify(name)}: "x"}`)
      expect(() => readProjectFile(directory)).toThrow(SettingError)
    },
  )

  it('is not looked for above the working directory', () => {
    put({ output: 'json' })
    const inner = join(directory, 'inner')
    mkdirSync(inner)
    expect(readProjectFile(inner)).toBeNull()
  })

  it.each([['{'], ['[]'], ['"json"'], ['']])('is refused as %s', (text) => {
    writeFileSync(join(directory, 'learnctl.json'), text)
    expect(() => readProjectFile(directory)).toThrow(ConfigError)
  })

  it('is refused where a value is neither text nor a number', () => {
    put({ output: { format: 'json' } })
    expect(() => readProjectFile(directory)).toThrow('learnctl.json: output must be text or a number')
  })
})

function put(value: unknown): void {
  writeFileSync(join(directory, 'learnctl.json'), JSON.stringify(value))
}
