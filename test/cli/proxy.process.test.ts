import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { freshDirectory } from '../helpers/academy.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { runLearnctl } from '../helpers/process.ts'
import { startProxy } from '../helpers/proxy.ts'

const url = 'https://academy.example'
const credentials = 'ada:analytical-engine'
const secret = 'analytical-engine'

/** Responses of a platform with its own authorization server, which grants each code at once. */
const answers: Readonly<Record<string, unknown>> = {
  '/.well-known/oauth-authorization-server': {
    issuer: url,
    token_endpoint: `${url}/token`,
    device_authorization_endpoint: `${url}/device`,
    response_types_supported: ['code'],
    grant_types_supported: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
  },
  '/device': {
    device_code: 'a-device-code',
    user_code: 'WDJB-MJHT',
    verification_uri: `${url}/activate`,
    expires_in: 600,
    interval: 1,
  },
  '/token': { access_token: 'a-token', token_type: 'Bearer', expires_in: 600, scope: 'read write' },
  '/v1/users/profile': { id: 'usr_1', email: 'ada@example.org', role: 'admin', scopes: ['read'] },
  '/v1/courses': { data: [{ id: 'crs_1', title: 'Marine Biology' }], meta: { nextCursor: null } },
}

/** Runs the program as a process behind a proxy that requires credentials and alone can reach the platform. */
const test = base.extend('behind', async ({ task: _ }, { onCleanup }) => {
  const certificate = makeCertificate('2020-01-01', '2120-01-01', 'academy.example')
  const platform = createServer(certificate, (incoming, outgoing) => {
    const answer = answers[new URL(incoming.url ?? '', url).pathname]
    outgoing.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve))
  const proxy = await startProxy({ to: (platform.address() as AddressInfo).port, credentials })
  const home = freshDirectory()
  const authority = join(home.path, 'authority.pem')
  writeFileSync(authority, certificate.cert)
  onCleanup(async () => {
    await proxy.close()
    platform.closeAllConnections()
    platform.close()
    home.remove()
  })
  return {
    proxy,
    learnctl: (words: string, env: Record<string, string> = {}) =>
      runLearnctl(words.split(' '), {
        cwd: home.path,
        env: {
          ...{ HOME: home.path, NODE_EXTRA_CA_CERTS: authority, LEARNCTL_RETRIES: '0' },
          ...{ LEARNCTL_URL: url, LEARNCTL_API_KEY: 'lpk_key' },
          HTTPS_PROXY: `${credentials}@${proxy.host}`,
          ...env,
        },
      }),
  }
})

describe('behind a proxy', () => {
  test('a command reaches a platform, and shows no credentials of the proxy', async ({ behind }) => {
    const { code, stdout, stderr } = await behind.learnctl('courses list --debug -o json')
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout)).toMatchObject([{ title: 'Marine Biology' }])
    expect(behind.proxy.requests).toEqual(['CONNECT academy.example:443'])
    expect(stderr).not.toContain(secret)
  })

  test('signing in with a code goes through it as well', async ({ behind }) => {
    const { code, stderr } = await behind.learnctl(
      `auth login --url ${url} --device --no-browser --client-id cli`,
      {
        LEARNCTL_URL: '',
        LEARNCTL_API_KEY: '',
      },
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toContain('WDJB-MJHT')
    expect(behind.proxy.requests.every((line) => line === 'CONNECT academy.example:443')).toBe(true)
  })

  test('credentials that it rejects are not shown, and nothing may have happened', async ({ behind }) => {
    const { code, stdout, stderr } = await behind.learnctl('courses create --title Biology --debug', {
      HTTPS_PROXY: '',
      all_proxy: `http://ada:difference-engine@${behind.proxy.host}`,
    })
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
    expect(stderr).toContain(
      `error: The proxy ${behind.proxy.host} rejected the user name and password in all_proxy (POST /v1/courses)\n  hint: The proxy is from all_proxy; NO_PROXY lists hosts to reach without it\n`,
    )
    expect(stderr).not.toMatch(/difference-engine|may have succeeded/)
  })

  test('NO_PROXY goes past it', async ({ behind }) => {
    const { code, stderr } = await behind.learnctl('courses list', { no_proxy: '.example' })
    expect(code).toBe(7)
    expect(stderr).toContain('error: Cannot resolve the host name of academy.example')
    expect(behind.proxy.requests).toEqual([])
  })
})
