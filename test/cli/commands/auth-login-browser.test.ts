import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { school, test } from '../../auth/school.ts'

describe('auth login', () => {
  test('signs in with a browser and keeps what it takes to stay signed in', async ({ desk }) => {
    const { code, stdout, stderr, shown } = await desk.login()
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toBe(
      `A browser is being opened to sign in to ${school}. Should it not, open this address:\n\n${shown}\n\n` +
        `note: signed in to ${school} as ada@school.example; profile school-example is active now\n`,
    )
    expect(desk.stored()).toEqual({
      kind: 'oauth',
      origin: school,
      storedAt: '2026-03-01T12:00:00.000Z',
      accessToken: 'at-1',
      refreshToken: 'rt-1',
      expiresAt: '2026-03-01T13:00:00.000Z',
      lifetimeSeconds: 3600,
      skewMs: 0,
      scopes: ['read', 'write'],
      issuer: school,
      clientId: 'learnctl',
      tokenEndpoint: `${school}/token`,
      revocationEndpoint: `${school}/revoke`,
    })
    expect(statSync(join(desk.cli.config, 'profiles.json')).mode & 0o777).toBe(0o600)
  })
})
