import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { StoredTokens } from '../../src/config/profiles.ts'
import type { HttpRequest } from '../../src/contract/http.ts'
import { test as base, stoppedClock } from '../helpers/academy.ts'
import { type Ran, type RunOptions, type TestCli, type TestCliOptions, testCli } from '../helpers/cli.ts'
import { expectClearError } from '../helpers/result.ts'
import { formIn } from '../helpers/web.ts'

/** Origin of the platform of these tests, also over plain http; the network reaches nothing else. */
export const school = 'https://school.example'

/** A response of the platform. */
export interface Given {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a text unchanged. */
  readonly body?: object | string
}

type Step = Given | Error | (() => Promise<Given>)

/**
 * The response of a path: always the same, or several in turn with the last one repeated; an error is thrown.
 */
type Script = Step | Step[]

/** The metadata of the platform. */
export const metadata = {
  issuer: school,
  authorization_endpoint: `${school}/authorize`,
  token_endpoint: `${school}/token`,
  revocation_endpoint: `${school}/revoke`,
  device_authorization_endpoint: `${school}/device_authorization`,
  authorization_response_iss_parameter_supported: true,
}

/** Path of the metadata. */
export const wellKnown = '/.well-known/oauth-authorization-server'

/** A valid token response. */
export const tokens = {
  access_token: 'at-1',
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'rt-1',
  scope: 'read write',
}

/** A web page instead of JSON. */
export const page: Given = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Welcome</title>',
}

/** A platform with scripted responses, which accepts every sign-in, and the requests that it received. */
export type School = ReturnType<typeof openSchool>

export function openSchool() {
  const requests: HttpRequest[] = []
  /** Responses by path; any other path is not found. */
  const scripts = new Map<string, Script>([
    [wellKnown, { body: metadata }],
    ['/token', { body: tokens }],
    ['/v1/user/profile', { body: { id: 'usr_1', email: 'ada@school.example' } }],
  ])

  function next(path: string): Step {
    const script = scripts.get(path) ?? { status: 404, body: 'not found' }
    if (!Array.isArray(script)) return script
    const [first, ...others] = script
    if (others.length > 0) scripts.set(path, others)
    return first ?? { status: 404 }
  }

  return {
    scripts,
    requests,
    /** Forms that a path received, in order. */
    forms: (path: string) => requests.filter(({ url }) => new URL(url).pathname === path).map(formIn),
    transport: async (request: HttpRequest) => {
      requests.push(request)
      const { origin, host, pathname } = new URL(request.url)
      if (host !== new URL(school).host) throw new Error(`no server is at ${origin}`)
      const step = next(pathname)
      if (step instanceof Error) throw step
      const given = typeof step === 'function' ? await step() : step
      const { status = 200, headers = {}, body = '' } = given
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const type = typeof body === 'string' ? 'text/plain' : 'application/json'
      return { status, headers: { 'content-type': type, ...headers }, body: text }
    },
  }
}

/** A browser's reaction to the URL that it is shown. */
export type Person = (address: URL) => Promise<void>

/** A page that the browser received. */
export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
}

/** True if this machine has an IPv6 loopback. */
export const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

/** Fetches a loopback URL as a browser does. */
export async function visit(url: string | URL, init: RequestInit = {}): Promise<Page> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, html: await response.text() }
}

/** Returns the URL that the platform redirects to, with these parameters beside the state and the issuer. */
export function redirect(address: URL, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(address.searchParams.get('redirect_uri') ?? '')
  const all = { state: address.searchParams.get('state') ?? '', iss: school, ...parameters }
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
  return url
}

/** A run of the program with a user at a browser. */
export interface SignIn extends Ran {
  /** The URL that the browser was shown, if any. */
  readonly shown: URL | undefined
}

/** The program with a platform, and a user at a browser. */
export interface Desk {
  readonly school: School
  readonly cli: TestCli
  readonly clock: ReturnType<typeof stoppedClock>
  /** Requested waits, in milliseconds. */
  readonly waits: readonly number[]
  /** From now on, lets a wait of five minutes end at once. */
  letTimePass(): void
  /** Runs `auth login` with these words; the user reacts as soon as the browser is opened. */
  login(words?: string, person?: Person, options?: RunOptions): Promise<SignIn>
  /** Runs it without a URL, which is in the profile. */
  loginAgain(words?: string, person?: Person): Promise<SignIn>
  /** Returns the stored tokens of the profile. */
  stored(profile?: string): StoredTokens | undefined
}

/** A vitest test with such a desk. */
export const test = base
  .extend('options', {} as TestCliOptions)
  .extend('desk', async ({ options }, { onCleanup }): Promise<Desk> => {
    const place = openSchool()
    const clock = stoppedClock()
    const waits: number[] = []
    let patient = true
    let shown: URL | undefined
    let person: Person = async () => {}
    let visiting: Promise<void> = Promise.resolve()
    const cli = testCli({
      transport: place.transport,
      now: () => clock.now().getTime(),
      // Five minutes are longer than any test: the wait ends when the program cancels it.
      sleep: (ms, signal) => {
        waits.push(ms)
        if (ms >= 300_000 && patient)
          return new Promise((_, reject) => signal?.addEventListener('abort', reject))
        clock.advance(ms)
        return Promise.resolve()
      },
      openBrowser: async (address) => {
        shown = new URL(address)
        visiting = person(shown)
        visiting.catch(() => {})
      },
      env: { DISPLAY: ':0' },
      ...options,
    })
    onCleanup(() => cli.remove())

    async function run(line: string, next: Person, given: RunOptions): Promise<SignIn> {
      shown = undefined
      person = next
      visiting = Promise.resolve()
      const ran = await cli.run(line, given)
      await visiting
      return { ...ran, shown }
    }

    return {
      school: place,
      cli,
      clock,
      waits,
      letTimePass: () => {
        patient = false
      },
      login: (words = '', next = approve, given = {}) =>
        run(`auth login --url ${school} ${words}`, next, given),
      loginAgain: (words = '', next = approve) => run(`auth login ${words}`, next, {}),
      stored: (profile = 'school-example') => {
        const { profiles } = JSON.parse(readFileSync(join(cli.config, 'profiles.json'), 'utf8'))
        return profiles[profile]?.credential
      },
    }
  })

/** Consents, and checks the page of the signed-in user. */
export const approve: Person = async (address) => {
  expect(await visit(redirect(address, { code: 'code-1' }))).toMatchObject({ status: 200 })
}

/** Removes the lines that ask the user to open the URL. */
export function told(ran: SignIn): SignIn {
  const asked =
    /^(Opening a browser|To sign in)[\s\S]*?\n\nhttps:.*\n\n(and enter.*\n\n.*\n\n)?(Waiting for .*\n)?/m
  return { ...ran, stderr: ran.stderr.replace(asked, '') }
}

/** Expects a sign-in to fail with a clear message and to leave nothing behind. */
export function expectFailed(desk: Desk, ran: SignIn, exit: number, error: string | RegExp): void {
  expectClearError(told(ran), exit, error)
  expect(existsSync(join(desk.cli.config, 'profiles.json'))).toBe(false)
}
