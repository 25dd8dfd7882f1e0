import { describe, expect, it } from 'vitest'
import { chooseTarget } from '../../src/config/choose-target.ts'
import type { Profiles } from '../../src/config/profiles.ts'
import { resolveSettings } from '../../src/config/resolve-settings.ts'
import { storedTokens } from '../helpers/signed-in.ts'

const prodKey = {
  kind: 'api_key',
  value: 'prod-key',
  origin: 'https://prod.example',
  storedAt: '2026-01-01T00:00:00.000Z',
} as const
const profiles: Profiles = {
  active: 'prod',
  profiles: {
    prod: { url: 'https://prod.example/lms', credential: prodKey },
    trial: { url: 'https://trial.example' },
    local: { database: '/data/local.db' },
  },
}

interface Given {
  readonly flags?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly project?: Readonly<Record<string, string>>
  readonly stored?: Profiles
}

function choose({ flags = {}, env = {}, project, stored = profiles }: Given = {}) {
  const file = project ? { path: 'learnctl.json', values: project } : null
  const settings = resolveSettings({ flags, env, project: file })
  return chooseTarget({ settings, env, profiles: stored, cwd: '/home/ada' })
}

describe('the academy', () => {
  it.each<[string, Given, object]>([
    ['the active profile', {}, { url: 'https://prod.example/lms', profile: 'prod', shadows: [] }],
    ['the project file over it', { project: { profile: 'trial' } }, { url: 'https://trial.example' }],
    [
      'a variable over the project file',
      { project: { profile: 'trial' }, env: { LEARNCTL_PROFILE: 'local' } },
      { database: '/data/local.db' },
    ],
    [
      'a flag over a variable',
      { env: { LEARNCTL_URL: 'https://env.example' }, flags: { profile: 'trial' } },
      { url: 'https://trial.example', shadows: [{ source: 'environment', name: 'LEARNCTL_URL' }] },
    ],
    [
      'an address over a profile of the same place',
      { env: { LEARNCTL_URL: 'https://env.example', LEARNCTL_PROFILE: 'trial' } },
      { url: 'https://env.example', profile: null },
    ],
    [
      'a variable where that of a database is empty',
      { env: { LEARNCTL_URL: 'https://a.example', LEARNCTL_DATABASE: '' } },
      { kind: 'remote', url: 'https://a.example' },
    ],
    ['a database', { flags: { database: 'a.db' } }, { kind: 'local', database: '/home/ada/a.db' }],
  ])('is chosen by %s', (_, given, expected) => {
    expect(choose(given)).toMatchObject(expected)
  })

  it('is none where nothing names one', () => {
    expect(choose({ stored: { active: null, profiles: {} } })).toBeNull()
  })

  it.each<[string, Given]>([
    ['cannot be used together', { flags: { url: 'https://a.example', database: 'b.db' } }],
    [
      'LEARNCTL_URL and LEARNCTL_DATABASE cannot be used together',
      { env: { LEARNCTL_URL: 'https://a.example', LEARNCTL_DATABASE: 'b.db' } },
    ],
    ['Profile "prdo" not found', { flags: { profile: 'prdo' } }],
    ['Profile "__proto__" not found', { flags: { profile: '__proto__' } }],
    ['must be a URL', { flags: { url: 'prod.example' } }],
    ['must be a URL', { flags: { url: 'ftp://prod.example' } }],
    ['must be a URL', { flags: { url: '' } }],
    ['the path of a file', { flags: { database: '' } }],
  ])('is refused: %s', (reason, given) => {
    expect(() => choose(given)).toThrow(reason)
  })
})

describe('the credential', () => {
  it.each<[string, Given]>([
    ['flag', { flags: { url: 'https://evil.example' } }],
    ['variable', { env: { LEARNCTL_URL: 'https://evil.example' } }],
    ['other port', { flags: { url: 'https://prod.example:8443' } }],
    ['other scheme', { flags: { url: 'http://prod.example' } }],
  ])('of a profile is withheld where the address is another one (%s)', (_, given) => {
    expect(choose(given)).toMatchObject({
      credential: null,
      withheld: { profile: 'prod', origin: 'https://prod.example' },
    })
  })

  it('of a profile is used for another path of its origin', () => {
    expect(choose({ flags: { url: 'https://prod.example/other' } })).toMatchObject({
      credential: { value: 'prod-key' },
    })
  })

  it('is withheld where a profile was edited to point elsewhere', () => {
    const stored = {
      active: 'prod',
      profiles: { prod: { url: 'https://evil.example', credential: prodKey } },
    }
    expect(choose({ stored })).toMatchObject({ credential: null, withheld: { profile: 'prod' } })
  })

  it('of a variable is used before the active profile’s, and says so', () => {
    expect(choose({ env: { LEARNCTL_API_KEY: 'env-key' } })).toMatchObject({
      credential: {
        value: 'env-key',
        origin: { name: 'LEARNCTL_API_KEY' },
        shadows: [{ name: 'profile prod' }],
      },
    })
  })

  it('of a profile named by flag is used before a variable’s', () => {
    const given = { env: { LEARNCTL_API_KEY: 'env-key' }, flags: { profile: 'prod' } }
    expect(choose(given)).toMatchObject({
      credential: { value: 'prod-key', shadows: [{ name: 'LEARNCTL_API_KEY' }] },
    })
  })

  it('is refused where a key and a token are both set', () => {
    expect(() => choose({ env: { LEARNCTL_API_KEY: 'a', LEARNCTL_ACCESS_TOKEN: 'b' } })).toThrow('both set')
  })

  it('of a variable may end with a line break, and is refused with one inside', () => {
    const given = (key: string) => choose({ env: { LEARNCTL_API_KEY: key } })
    expect(given('env-key\r\n')).toMatchObject({ credential: { value: 'env-key' } })
    expect(given(' \n')).toMatchObject({ credential: { value: 'prod-key' } })
    expect(() => given('env\nkey')).toThrow('LEARNCTL_API_KEY contains spaces, line breaks')
    expect(() => given('schlüssel')).toThrow('LEARNCTL_API_KEY contains')
  })

  it('of a profile says what it is kept with: tokens can be refreshed, a key and a variable’s cannot', () => {
    const tokens = storedTokens('https://prod.example')
    const stored = { ...profiles, profiles: { prod: { url: 'https://prod.example', credential: tokens } } }
    expect(choose({ stored })).toMatchObject({
      credential: { kind: 'access_token', value: tokens.accessToken, kept: { profile: 'prod', tokens } },
    })
    expect(choose()).toMatchObject({
      credential: {
        value: 'prod-key',
        origin: { name: 'profile prod' },
        kept: { profile: 'prod', tokens: null },
      },
    })
    const variable = choose({ stored, env: { LEARNCTL_ACCESS_TOKEN: 't' } })
    expect(variable).toMatchObject({
      credential: { kind: 'access_token', value: 't', shadows: [{ name: 'profile prod' }] },
    })
    expect(variable).not.toHaveProperty('credential.kept')
  })
})
