import { expect } from 'vitest'
import { test as standard } from '../../helpers/academy.ts'
import { test as served } from '../socket/served.ts'

const place = '/.well-known/oauth-authorization-server'
const resource = '/.well-known/oauth-protected-resource'

standard('the metadata says where everything is, and nothing that is not so', async ({ academy }) => {
  const answer = await academy.bearer(undefined).get(place)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.body).toEqual({
    issuer: 'http://localhost',
    authorization_endpoint: 'http://localhost/oauth/authorize',
    token_endpoint: 'http://localhost/oauth/token',
    revocation_endpoint: 'http://localhost/oauth/revoke',
    introspection_endpoint: 'http://localhost/oauth/introspect',
    device_authorization_endpoint: 'http://localhost/oauth/device_authorization',
    scopes_supported: ['read', 'write', 'admin'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    introspection_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    protected_resources: ['http://localhost'],
  })
})

standard('every place that the metadata names is there', async ({ academy }) => {
  const anybody = academy.bearer(undefined)
  const { body } = await anybody.get(place)
  const places = Object.entries(body).filter(([name]) => name.endsWith('_endpoint')) as [string, string][]
  expect(places).toHaveLength(5)
  for (const [name, url] of places) {
    const method = name === 'authorization_endpoint' ? 'GET' : 'POST'
    expect([404, 405], name).not.toContain((await anybody.send(method, new URL(url).pathname)).status)
  }
})

standard(
  'a refusal leads to the metadata of the API, and that to the authorization server',
  async ({ academy }) => {
    const anybody = academy.bearer(undefined)
    const refused = await anybody.get('/v1/courses')
    const challenge = refused.headers.get('www-authenticate')
    const [, url = ''] = /, resource_metadata="([^"]+)"$/.exec(challenge ?? '') ?? []
    const { status, body, headers } = await anybody.get(new URL(url).pathname)
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'application/json' })
    expect(body).toEqual({
      resource: 'http://localhost',
      authorization_servers: ['http://localhost'],
      scopes_supported: ['read', 'write', 'admin'],
      bearer_methods_supported: ['header'],
    })
  },
)

standard('without a path of the issuer, nothing is behind the well-known part', async ({ academy }) => {
  for (const path of ['/academy', '/', '/oauth']) {
    for (const document of [place, resource]) {
      expect((await academy.bearer(undefined).get(document + path)).status).toBe(404)
    }
  }
})

served('the issuer is the address by which the server was reached', async ({ served }) => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const answer = await fetch(`http://${host}:${served.port}${place}`)
    expect(await answer.json()).toMatchObject({
      issuer: `http://${host}:${served.port}`,
      token_endpoint: `http://${host}:${served.port}/oauth/token`,
    })
  }
})

const behindProxy = served.extend('options', { publicUrl: 'https://school.example/academy/' })

behindProxy('a public address with a path is the issuer, found at both places', async ({ served }) => {
  for (const path of [`${place}/academy`, place]) {
    expect(await (await served.fetch(path)).json()).toMatchObject({
      issuer: 'https://school.example/academy',
      authorization_endpoint: 'https://school.example/academy/oauth/authorize',
    })
  }
  for (const path of [`${resource}/academy`, resource]) {
    expect(await (await served.fetch(path)).json()).toMatchObject({
      resource: 'https://school.example/academy',
      authorization_servers: ['https://school.example/academy'],
    })
  }
  const refused = await served.fetch('/v1/courses', { headers: {} })
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer realm="learnctl", resource_metadata="https://school.example/academy${resource}"`,
  )
  for (const path of ['/', '/academy/', '/other', '/academy/other']) {
    expect((await served.fetch(place + path)).status).toBe(404)
  }
})
