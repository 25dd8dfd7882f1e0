import { gzipSync } from 'node:zlib'
import type { HttpResponse } from '../../../src/contract/http.ts'
import {
  csv,
  type ForeignPlatform,
  foreignPlatform,
  isThing,
  json,
  type PlatformOptions,
  type Style,
} from './platform.ts'
import type { Noun, Thing } from './store.ts'

/** Faults of the gateway. Lines are method and path, such as `GET /v1/courses`. */
interface GatewayOptions extends PlatformOptions {
  /** Sends numbers as text, `"40.00"` (default true). */
  readonly numbersAsText?: boolean
  /** Compresses every response, also unasked (default true). */
  readonly gzip?: boolean
  /** Sends errors with status 200 (default true). */
  readonly okErrors?: boolean
  /** Lines that are redirected to a login page. */
  readonly redirects?: readonly string[]
  /** Lines that get a web page with status 200. */
  readonly pages?: readonly string[]
}

/**
 * A gateway on a bad day: everything in an envelope that says whether it worked, with 200 either way; numbers as text;
 * compressed whether asked for or not; now and then a redirect, or a page for people.
 */
export function gatewayPlatform(options: GatewayOptions = {}): ForeignPlatform {
  const { numbersAsText = true, gzip = true, okErrors = true, redirects = [], pages = [] } = options
  const shown = (noun: Noun, { id, ...rest }: Thing) => {
    const thing = id === undefined ? rest : { [`${noun}Id`]: id, ...rest }
    return numbersAsText ? texts(thing) : thing
  }
  const style: Style = {
    id: (noun, n) => `${noun}-${1000 + n}`,
    list: (noun, things) => said({ items: things.map((thing) => shown(noun, thing)), count: things.length }),
    created: (noun, thing) => said({ [noun]: shown(noun, thing) }),
    changed: (noun, thing) => said({ [noun]: shown(noun, thing) }),
    profile: (user) => said({ user: shown('user', user) }),
    csv: (rows) =>
      csv(
        columns,
        rows.map((row) => shown('row', row)),
      ),
    refused: (status, message) =>
      json(okErrors ? 200 : status, { success: false, error: { code: `E${status}`, message } }),
    sent: (response, request) => {
      const line = `${request.method} ${request.path}`
      if (redirects.includes(line)) return redirect
      if (pages.includes(line)) return page
      return gzip ? compressed(response) : response
    },
  }
  return foreignPlatform('gateway.example', style, options)
}

const columns = ['learnerId', 'email', 'courseId', 'courseTitle', 'completionPercentage', 'lastAccessed']

function said(result: Thing): HttpResponse {
  return json(200, { success: true, error: null, ...result })
}

function texts(thing: Thing): Thing {
  return Object.fromEntries(
    Object.entries(thing).map(([name, value]) => [
      name,
      typeof value === 'number' ? value.toFixed(2) : isThing(value) ? texts(value) : value,
    ]),
  )
}

function compressed({ status, headers, body }: HttpResponse): HttpResponse {
  if (typeof body !== 'string') return { status, headers, body }
  return { status, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }
}

const redirect: HttpResponse = { status: 302, headers: { location: 'https://sign-in.example/' }, body: null }

const page: HttpResponse = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Service</title><p>We will be back soon.</p>',
}
