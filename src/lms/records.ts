import { isJsonObject, type JsonObject, parseJson } from '../codec/json-text.ts'
import type { RecordPart } from '../contract/constants.ts'

export interface RecordQuestion {
  readonly part: RecordPart
  /** Id of the course or group in the other system; null for the whole system. */
  readonly of: string | null
  /** Where the page begins, as the page before said; null for the first. */
  readonly position: string | null
}

export interface RecordRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the base URL, with the query. */
  readonly path: `/${string}`
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Header names are in lower case. */
export interface RecordResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** Refers to others by external id, `ext:S-42`, or by the other system's id, `own:17`. */
export interface LmsRecord {
  readonly part: RecordPart
  /** The other system's id, by which it is referred to and asked for lists of its own; null without one. */
  readonly id: string | null
  readonly record: JsonObject
}

export interface RecordNote {
  /** A clause; equal ones are counted together. */
  readonly text: string
  readonly count: number
  /** Part with invisible records: a record that is missing there may still exist. */
  readonly hides?: RecordPart
}

export interface RecordPage {
  readonly records: readonly LmsRecord[]
  /** Null after the last page. */
  readonly next: string | null
  readonly notes?: readonly RecordNote[]
  /** Requests at once that the system allows now, if that has changed. */
  readonly requestsAtOnce?: number
  /** True if the credential may list the part by course only. */
  readonly byCourse?: true
}

/** The detail is a clause without a secret and without a learner's name. */
export interface RecordRefusal {
  readonly refusal: 'token' | 'permission' | 'answer' | 'busy'
  readonly detail: string
  /** Seconds to wait, if the system is busy. */
  readonly retryAfter?: number
}

interface RecordList {
  readonly part: RecordPart
  readonly of: 'courses' | 'groups' | 'users' | null
  readonly gives?: readonly RecordPart[]
}

/** It needs no network, database or clock. */
export interface RecordSystem {
  readonly title: string
  /** At most this many at once. */
  readonly requestsAtOnce: number
  readonly lists: readonly RecordList[]
  request(question: RecordQuestion, token: string): RecordRequest
  read(response: RecordResponse, question: RecordQuestion): RecordPage | RecordRefusal
}

export function isRefusal(answer: RecordPage | RecordRefusal): answer is RecordRefusal {
  return 'refusal' in answer
}

/** A refusal for a web page or half a document. */
export function jsonIn({ status, body }: RecordResponse): { readonly json: unknown } | RecordRefusal {
  const text = body.trim()
  try {
    return { json: parseJson(text) }
  } catch {
    if (/^<(!doctype|html)/i.test(text)) {
      return refusal(
        'answer',
        `it answers with a web page (HTTP ${status}): check the base URL and the token`,
      )
    }
    if (status < 300 && (text === '' || /^[[{]/.test(text))) {
      return { refusal: 'busy', detail: 'half a response arrived', retryAfter: 1 }
    }
    return refusal('answer', `it sent no JSON (HTTP ${status}): check the base URL`)
  }
}

export function refusal(why: 'token' | 'permission' | 'answer', detail: string): RecordRefusal {
  return { refusal: why, detail }
}

/** The wait is as long as the response says, else these seconds. */
export function busy(response: RecordResponse, detail: string, otherwise: number): RecordRefusal {
  return { refusal: 'busy', detail, retryAfter: retryAfterIn(response, otherwise) }
}

/** Recognises too many requests, a failure of the server, and another page. */
export function troubleIn(
  response: RecordResponse,
  waitSeconds: number,
  advice: string,
): RecordRefusal | undefined {
  const { status } = response
  if (status === 429 || status >= 500) return busy(response, `HTTP ${status}`, waitSeconds)
  if (status >= 300 && status < 400) return refusal('answer', `it redirects to another page: ${advice}`)
  return undefined
}

export function hiddenPage(hides: RecordPart, text: string, more: Partial<RecordPage> = {}): RecordPage {
  return { records: [], next: null, notes: [{ text, count: 1, hides }], ...more }
}

/** Returns the query of the next page by the header Link (RFC 8288); undefined without one. */
export function nextLinkIn({ headers: { link = '' } }: RecordResponse): URLSearchParams | undefined {
  for (const [, url = '', parameters = ''] of link.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel="?next"?/i.test(parameters)) return new URLSearchParams(url.split('?')[1])
  }
  return undefined
}

/** RFC 9110 §10.2.3; a date is compared with that of the response. */
export function retryAfterIn({ headers }: RecordResponse, otherwise: number): number {
  const text = headers['retry-after'] ?? ''
  if (/^\d{1,6}$/.test(text)) return Number(text)
  const [until, date] = [Date.parse(text), Date.parse(headers['date'] ?? '')]
  return Number.isNaN(until - date) ? otherwise : Math.max(1, Math.ceil((until - date) / 1000))
}

/** Returns a text or a number as text; null for anything else, and for empty text. */
export function textIn(object: JsonObject, name: string): string | null {
  const value = object[name]
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : null
}

/** A refusal for anything but a list, which may be the answer of another system. */
export function rowsIn(
  list: unknown,
  otherwise = 'it sent no list of records: check the base URL',
): { readonly rows: readonly JsonObject[] } | RecordRefusal {
  return Array.isArray(list) && list.every(isJsonObject) ? { rows: list } : refusal('answer', otherwise)
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

export function recordOf(
  part: RecordPart,
  id: string | null,
  fields: Readonly<Record<string, unknown>>,
): LmsRecord {
  const known = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return { part, id, record: Object.fromEntries(known) }
}

export function readRequest(path: `/${string}`, authorization: string): RecordRequest {
  return { method: 'GET', path, headers: { accept: 'application/json', authorization } }
}

/** Records, or the text of a note if the row is left out; an empty text is no note. */
export type RowRecords = LmsRecord | readonly LmsRecord[] | string

export interface RowsRead {
  readonly records: readonly LmsRecord[]
  readonly notes: readonly RecordNote[]
}

export function readEach<Row>(rows: readonly Row[], read: (row: Row) => RowRecords): RowsRead {
  const records: LmsRecord[] = []
  const counts = new Map<string, number>()
  for (const row of rows) {
    const found = read(row)
    const all = typeof found === 'string' ? [] : [found].flat()
    const known = all.filter(({ record }) => record['externalId'] !== '')
    records.push(...known)
    const text =
      typeof found === 'string'
        ? found
        : known.length < all.length
          ? 'records without an id are left out'
          : ''
    if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return { records, notes: [...counts].map(([text, count]) => ({ text, count })) }
}
