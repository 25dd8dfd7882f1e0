import { describe, expect, it } from 'vitest'
import { SettingError } from '../../src/config/errors.ts'
import { resolveSettings, type SettingSources } from '../../src/config/resolve-settings.ts'

const nothing: SettingSources = { flags: {}, env: {}, project: null }
const project = { path: '/home/ada/learnctl.json', values: { output: 'csv', limit: '7' } }

describe('a setting', () => {
  it.each([
    ['flag', { flags: { output: 'json' }, env: { LEARNCTL_OUTPUT: 'yaml' }, project }, 'json', '--output'],
    ['environment', { flags: {}, env: { LEARNCTL_OUTPUT: 'yaml' }, project }, 'yaml', 'LEARNCTL_OUTPUT'],
    ['project', { flags: {}, env: {}, project }, 'csv', '/home/ada/learnctl.json'],
    ['default', nothing, 'table', 'default'],
  ])('is taken from the %s before anything less specific', (source, from, value, name) => {
    expect(resolveSettings(from).output).toMatchObject({ value, origin: { source, name } })
  })

  it('names the places that it keeps from counting', () => {
    const { output } = resolveSettings({
      flags: { output: 'json' },
      env: { LEARNCTL_OUTPUT: 'yaml' },
      project,
    })
    expect(output.shadows.map(({ name }) => name)).toEqual(['LEARNCTL_OUTPUT', '/home/ada/learnctl.json'])
  })

  it('counts an empty variable as unset', () => {
    expect(resolveSettings({ ...nothing, env: { LEARNCTL_OUTPUT: '' } }).output.origin.source).toBe('default')
  })
})

describe('input', () => {
  it.each([['1'], ['true'], ['yes']])('is switched off where CI is %s', (text) => {
    const { noInput } = resolveSettings({ ...nothing, env: { CI: text } })
    expect(noInput).toMatchObject({ value: true, origin: { name: 'CI' } })
  })

  it.each([[''], ['0'], ['false']])('is left on where CI is "%s"', (text) => {
    expect(resolveSettings({ ...nothing, env: { CI: text } }).noInput.value).toBe(false)
  })

  it('is left on in CI by a variable of its own', () => {
    const env = { CI: 'true', LEARNCTL_NO_INPUT: '0' }
    expect(resolveSettings({ ...nothing, env }).noInput.value).toBe(false)
  })
})

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['2m', 120_000],
    ['1d', 86_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(resolveSettings({ ...nothing, flags: { timeout: text } }).timeout.value).toBe(ms)
  })

  it.each([['30'], ['0s'], ['25h'], ['1mo'], ['thirty seconds']])('is refused as "%s"', (text) => {
    expect(() => resolveSettings({ ...nothing, flags: { timeout: text } })).toThrow(
      /^--timeout must be a duration/,
    )
  })

  it('without its unit is answered with a unit', () => {
    expect(faultOf({ ...nothing, env: { LEARNCTL_TIMEOUT: '30' } })).toMatchObject({
      message: expect.stringContaining('LEARNCTL_TIMEOUT'),
      hint: 'Add a unit: 30s or 30ms',
    })
  })
})

describe('a value that cannot be taken', () => {
  it.each([
    ['limit', '0', 'whole number, 1'],
    ['limit', '1.5', 'whole number'],
    ['limit', '-3', 'whole number'],
    ['retries', 'many', 'whole number, 0'],
    ['columns', 'a,,b', 'must be a list such as id,title'],
    ['color', 'sometimes', 'auto, always, never'],
  ])('is refused: --%s %s', (name, text, reason) => {
    expect(() => resolveSettings({ ...nothing, flags: { [name]: text } })).toThrow(reason)
  })

  it('names a variable that is neither true nor false', () => {
    expect(() => resolveSettings({ ...nothing, env: { LEARNCTL_QUIET: 'perhaps' } })).toThrow(
      /^LEARNCTL_QUIET must be/,
    )
  })

  it('names the project file and the member in it', () => {
    const from = { ...nothing, project: { path: '/home/ada/learnctl.json', values: { limit: 'all' } } }
    expect(() => resolveSettings(from)).toThrow('/home/ada/learnctl.json: limit must be a whole number')
  })

  it('comes with the choices there are', () => {
    const fault = faultOf({ ...nothing, flags: { output: 'jsn' } })
    const text = ['table', 'json', 'jsonl', 'csv', 'yaml']
    expect(fault.choice).toEqual({ given: 'jsn', valid: [...text, 'parquet', 'xlsx'] })
    // A variable applies to commands that print no table, too.
    const inEnv = faultOf({ ...nothing, env: { LEARNCTL_OUTPUT: 'xlsx' } })
    expect(inEnv.choice).toEqual({ given: 'xlsx', valid: text })
  })
})

function faultOf(from: SettingSources): SettingError {
  try {
    resolveSettings(from)
  } catch (error) {
    if (error instanceof SettingError) return error
  }
  throw new Error('nothing was refused')
}
