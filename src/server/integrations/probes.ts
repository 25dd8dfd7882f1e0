import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { OutgoingRequest, OutgoingResponse } from '../outgoing/outgoing.ts'

/** A request that the other system only answers to authenticated clients. */
export interface Probe {
  readonly request: Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body'>
  /** Returns the owner of the token from the response; undefined if the response is unexpected. */
  readonly ownerOf: (answer: JsonObject) => string | undefined
}

/** The request to each system; null if it has none. Sources: docs/integrations.md. */
export const probes: Readonly<Record<LmsKind, ((baseUrl: string, token: string) => Probe) | null>> = {
  // Canvas LMS API, Users: GET /api/v1/users/self.
  canvas: (baseUrl, token) => ({
    request: get(`${baseUrl}/api/v1/users/self`, { authorization: `Bearer ${token}` }),
    ownerOf: ({ id, name }) => (id === undefined ? undefined : named(name, id)),
  }),
  // Moodle Web services, REST protocol: the token is a parameter; POST keeps it out of access logs.
  moodle: (baseUrl, token) => ({
    request: {
      method: 'POST',
      url: `${baseUrl}/webservice/rest/server.php`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: String(
        new URLSearchParams({
          wstoken: token,
          wsfunction: 'core_webservice_get_site_info',
          moodlewsrestformat: 'json',
        }),
      ),
    },
    ownerOf: ({ username, sitename }) =>
      username === undefined ? undefined : `${named(username, undefined)} on ${named(sitename, undefined)}`,
  }),
  // Open edX user API: JSON Web Tokens have their own scheme.
  openedx: (baseUrl, token) => ({
    request: get(`${baseUrl}/api/user/v1/me`, {
      authorization: `${/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? 'JWT' : 'Bearer'} ${token}`,
    }),
    ownerOf: ({ username }) => (username === undefined ? undefined : named(username, undefined)),
  }),
  // Thinkific Admin API: API keys require the site's subdomain, access tokens do not.
  thinkific: (baseUrl, token) => {
    const path = '/api/public/v1/courses?limit=1'
    const [, site = 'api'] = /^https:\/\/([\w-]+)\.thinkific\.com$/i.exec(baseUrl) ?? []
    const request =
      site.toLowerCase() === 'api'
        ? get(baseUrl + path, { authorization: `Bearer ${token}` })
        : get(`https://api.thinkific.com${path}`, { 'x-auth-api-key': token, 'x-auth-subdomain': site })
    return {
      request,
      ownerOf: ({ items }) => (Array.isArray(items) ? 'a user who can read courses' : undefined),
    }
  },
  standard: null,
}

/** Reads a response: the owner of the token, or why it was refused, as a clause. */
export function readProbeResponse(
  { status, headers, body }: OutgoingResponse,
  { ownerOf }: Probe,
): { readonly isAccepted: boolean; readonly detail: string } {
  const refused = (detail: string) => ({ isAccepted: false, detail })
  if (status >= 300 && status < 400) {
    return refused(`redirected to ${originOf(headers['location'])}: set the base URL to where the system is`)
  }
  if (status === 401 || status === 403) return refused(`not accepted (HTTP ${status})`)
  if (status !== 200) return refused(`unexpected answer (HTTP ${status}): check the base URL`)
  const answer = objectIn(body)
  if (!answer) return refused('unexpected answer, which is not JSON: check the base URL')
  const known = ownerOf(answer)
  if (known !== undefined) return { isAccepted: true, detail: `accepted as ${known}` }
  // Moodle reports errors with status 200.
  const code = answer['errorcode']
  if (typeof code === 'string') return refused(`not accepted (${plain(code)})`)
  return refused('unexpected answer: check the base URL')
}

function get(url: string, headers: Readonly<Record<string, string>>): Probe['request'] {
  return { method: 'GET', url, headers: { accept: 'application/json', ...headers } }
}

function objectIn(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString())
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function originOf(location: string | string[] | undefined): string {
  const address = [location].flat()[0] ?? ''
  return URL.canParse(address) ? new URL(address).origin : 'another path'
}

function named(name: unknown, id: unknown): string {
  const text = typeof name === 'string' || typeof name === 'number' ? plain(String(name)) : 'an unnamed user'
  return id === undefined ? text : `${text} (id ${plain(String(id))})`
}

/** Sanitizes text of another system: short and on one line. */
function plain(text: string): string {
  return text.replaceAll(/\p{C}/gu, '').trim().slice(0, 100)
}
