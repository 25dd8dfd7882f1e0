import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import { hostOf, lineOf, NotOfferedError, PlatformError, type Target } from '../errors.ts'
import { discardBody, isOwnReply, mediaTypeOf, readBody, readStart } from '../reply.ts'
import { encodePath } from '../request.ts'
import { createFields, type Fields, isIdentifier, letters, memberAt, stepsOf } from './fields.ts'
import { FilterCheck } from './filters.ts'
import { incomplete, outline, pageMembers, pageQuery, readPage, unknownNext } from './lists.ts'
import { type FoundCall, findCall } from './operations.ts'
import type { DescribedOperation, Lists, PlatformFile } from './platform-schema.ts'
import { assertDone } from './writes.ts'

const json = { 'content-type': 'application/json' }
const maxErrorBytes = 64 * 1024

/** Follows the published form without a file. */
export async function callPlatform(
  send: Transport,
  file: PlatformFile | null,
  request: HttpRequest,
): Promise<HttpResponse> {
  const found = findCall(request)
  if (found === null) return send(request)
  const call = new PlatformCall(file, request, found)
  if (call.described === 'not offered') throw new NotOfferedError(request, found.operation.id, null)
  // Rows come as CSV or in pages of JSON.
  if (file !== null && isLines(found)) return notAcceptable
  if (found.query.get('cursor') === unknownNext)
    throw incomplete(request, Number(found.query.get('limit')), null)
  const sent = call.request()
  const reply = await send(sent)
  if (file === null && isOwnReply(reply)) return reply
  return call.answer(sent, reply)
}

const notAcceptable: HttpResponse = { status: 406, headers: {}, body: null }

/** No platform but ours offers rows as lines of JSON. */
function isLines({ query }: FoundCall): boolean {
  return query.get('format') === 'ndjson'
}

class PlatformCall {
  readonly described: DescribedOperation | 'not offered'
  readonly #file: PlatformFile | null
  readonly #asked: HttpRequest
  readonly #found: FoundCall
  readonly #fields: Fields
  readonly #lists: Lists | null

  constructor(file: PlatformFile | null, asked: HttpRequest, found: FoundCall) {
    this.#file = file
    this.#asked = asked
    this.#found = found
    this.#fields = createFields(found, file)
    this.described = file?.operations?.[found.operation.id] ?? {}
    const own = this.described === 'not offered' ? {} : this.described
    this.#lists = file === null ? null : { ...file.lists, ...own }
  }

  get #operation(): DescribedOperation {
    return this.described === 'not offered' ? {} : this.described
  }

  request(): HttpRequest {
    const asked = this.#asked
    const { operation, base, params, query } = this.#found
    const cursor = query.get('cursor') ?? ''
    if (/^https?:\/\//i.test(cursor)) return { ...asked, url: sameOrigin(asked, cursor) }
    if (this.#file === null) return asked
    const { path, method, parameters = {}, query: fixed = {} } = this.#operation
    const paged = operation.list ? pageQuery(query, this.#lists) : new URLSearchParams(query)
    const renamed = new URLSearchParams(Object.entries(fixed))
    for (const [name, value] of paged) {
      // JSON is what the platform answers anyway, as far as learnctl asks for it.
      if (name !== 'format' || value === 'csv')
        renamed.append(parameters[name] ?? name, this.#choice(name, value))
    }
    const place = path === undefined ? encodePath(operation.path, params) : encodePath(path, params)
    const text = renamed.size === 0 ? '' : `?${renamed}`
    const body = isJsonObject(this.#body())
      ? jsonText(this.#fields.write(this.#body() as JsonObject))
      : undefined
    return {
      ...asked,
      method: method ?? asked.method,
      url: base + place + text,
      ...(body !== undefined && { body }),
    }
  }

  #choice(parameter: string, value: string): string {
    const filter = this.#found.operation.filters?.[parameter]
    if (filter?.by !== 'choice') return value
    const place = this.#file?.records?.[this.#found.noun]?.[filter.field]
    const values = typeof place === 'object' ? Object.entries(place.values ?? {}) : []
    return value
      .split(',')
      .map((word) => values.find(([, ours]) => ours === word)?.[0] ?? word)
      .join(',')
  }

  #body(): unknown {
    return typeof this.#asked.body === 'string' ? parseJson(this.#asked.body) : undefined
  }

  async answer(sent: HttpRequest, reply: HttpResponse): Promise<HttpResponse> {
    const { operation } = this.#found
    if (reply.status < 200 || reply.status > 299) return this.#refused(reply)
    if (isLines(this.#found)) {
      await discardBody(reply)
      return notAcceptable
    }
    const isCsv = this.#found.query.get('format') === 'csv'
    const type = mediaTypeOf(reply)
    if (isCsv && !type.endsWith('json')) return type === 'text/html' ? reply : this.#csv(reply)
    const { value: body, form } = await readBody(this.#asked, reply)
    const refusal = this.#refusalIn(reply, body)
    if (refusal) return refusal
    if (isCsv) return { ...reply, body: jsonText(body) }
    if (operation.report) return { ...reply, body: jsonText(body) }
    // A deletion has no record to show: 204 or an empty body is its usual answer.
    if (operation.response === null && form === 'empty' && reply.status !== 202)
      return { ...reply, body: null }
    if (operation.list) return this.#page(sent, reply, body)
    const record = this.#recordIn(body)
    if (operation.method === 'GET') return answered(reply, this.#required(body, record))
    return this.#written(reply, record, form === 'empty' ? null : body)
  }

  /** Gives a refusal the message that stands where the file says. */
  async #refused(reply: HttpResponse): Promise<HttpResponse> {
    const { code, message } = this.#file?.refused ?? {}
    if (message === undefined || reply.body === null) return reply
    const { bytes } = await readStart(reply, maxErrorBytes)
    const text = bytes.toString('utf8')
    return { ...reply, body: this.#problem(text, code, message) ?? text }
  }

  #problem(text: string, code: string | undefined, message: string): string | null {
    try {
      const body = parseJson(text)
      const detail = memberAt(body, stepsOf(message))
      if (typeof detail !== 'string' || !isJsonObject(body)) return null
      const said = code === undefined ? undefined : memberAt(body, stepsOf(code))
      return jsonText({ ...body, detail, ...(said !== undefined && { code: String(said) }) })
    } catch {
      return null
    }
  }

  #refusalIn(reply: HttpResponse, body: unknown): HttpResponse | null {
    const { refused } = this.#file ?? {}
    if (!refused) return null
    const { when } = refused
    const value = memberAt(body, stepsOf(when.at))
    const isRefusal = value !== undefined && ('not' in when ? value !== when.not : value === when.is)
    if (!isRefusal) return null
    const said = refused.code === undefined ? undefined : memberAt(body, stepsOf(refused.code))
    const status = refused.status?.[String(said)] ?? 400
    const text = jsonText(body)
    const { headers } = reply
    return {
      status,
      headers: { ...headers, ...json },
      body: this.#problem(text, refused.code, refused.message ?? '') ?? text,
    }
  }

  #page(sent: HttpRequest, reply: HttpResponse, body: unknown): HttpResponse {
    const found = this.#found
    const { searchParams } = new URL(sent.url)
    const target = this.#asked
    const page = readPage({ target, found, body, headers: reply.headers, sent: searchParams }, this.#lists)
    const rows = page.rows.map((row) => this.#row(row))
    if (this.#isChecked()) {
      this.#requireOrder()
      const check = new FilterCheck(found, this.#file?.timeZone)
      check.see(rows)
      check.assert(target)
    }
    const around = pageMembers(body, page.rows)
    const total = page.total === null ? {} : { total: page.total }
    return answered(reply, { ...around, ...total, data: rows, nextCursor: page.next })
  }

  /** Throws PlatformError for an order that the platform is not known to keep: the first rows may be any. */
  #requireOrder(): void {
    const { operation, query } = this.#found
    const sort = query.get('sort')
    if (sort === null || this.#operation.parameters?.['sort'] !== undefined) return
    const message = `${hostOf(this.#asked)} is not known to sort ${operation.id} by ${sort}`
    const line = `operations: { ${operation.id}: { parameters: { sort: sort } } }`
    throw new PlatformError(this.#asked, message, line, 'not_sorted')
  }

  /** False where rows are wanted as the platform sends them. */
  #isChecked(): boolean {
    return !/handling=lenient/.test(this.#asked.headers['prefer'] ?? '')
  }

  /** Throws PlatformError for a row without an id. */
  #row(row: unknown): JsonObject {
    const record = isJsonObject(row) ? this.#fields.read(this.#asked, row) : null
    return this.#required(row, record)
  }

  /** Looks at the described place, under `data` or its noun, or takes the body itself. */
  #recordIn(body: unknown): JsonObject | null {
    const { noun, operation } = this.#found
    const { record } = this.#operation
    if (record !== undefined) return this.#read(memberAt(body, stepsOf(record)))
    const whole = this.#read(body)
    if (!isJsonObject(body) || whole === null) return whole
    const names = new Set(['data', letters(noun)])
    if (operation.path.endsWith('/profile') && Object.keys(body).length === 1) names.add('profile')
    const inside = Object.entries(body).filter(
      ([name, value]) => isJsonObject(value) && names.has(letters(name)),
    )
    const [only] = inside
    if (!only || inside.length > 1) return whole
    // What shows its own id is the record, whatever stands in it.
    const inner = this.#read(only[1])
    return isIdentifier(whole['id']) ? { ...inner, ...whole } : inner
  }

  #read(theirs: unknown): JsonObject | null {
    return isJsonObject(theirs) ? this.#fields.read(this.#asked, theirs) : null
  }

  #required(body: unknown, record: JsonObject | null): JsonObject {
    const { operation, noun } = this.#found
    const { answer } = operation.holds
    const own = operation.identifier ?? ['id', `${noun}Id`].find((field) => answer.includes(field))
    const names =
      own === undefined
        ? answer
        : [own, ...(operation.path.endsWith('/profile') ? ['email', 'displayName', 'name'] : [])]
    if (
      record &&
      names.some((name) => isIdentifier(record[name]) || (own === undefined && record[name] !== undefined))
    )
      return record
    const expected = own === undefined ? `a ${noun}` : `${noun} ${names.join(' or ')}`
    const message = `${hostOf(this.#asked)} sent no ${expected} (${lineOf(this.#asked)}): found ${outline(body)}`
    throw new PlatformError(this.#asked, message, `records: { ${noun}: { ${own ?? '…'}: /… } }`)
  }

  #written(reply: HttpResponse, record: JsonObject | null, body: unknown): HttpResponse {
    const { operation, noun } = this.#found
    const { status, headers } = reply
    const shows = this.#operation.shows ?? this.#file?.writes?.shows ?? 'record'
    if (shows === 'record' || status === 202) {
      const answer = { status, headers, body: body === null ? '' : jsonText(body) }
      assertDone({
        target: this.#asked,
        found: this.#found,
        sent: this.#body(),
        shown: record,
        body,
        answer,
      })
    }
    if (operation.response === null) return { ...reply, body: null }
    const isInside = operation.holds.answer.includes(`${noun}.id`)
    return answered(reply, isInside && record ? { [noun]: record, ...record } : (record ?? {}))
  }

  #csv(reply: HttpResponse): HttpResponse {
    const stream = async function* (call: PlatformCall) {
      const { readCsv } = await import('./csv.ts')
      yield* readCsv(call.#asked, call.#found, call.#fields, reply, {
        isChecked: call.#isChecked(),
        encoding: call.#operation.encoding,
        timeZone: call.#file?.timeZone,
        raw: call.#found.query.get('raw') === 'true',
        bom: call.#found.query.get('bom') === 'true',
      })
    }
    return {
      ...reply,
      headers: { ...reply.headers, 'content-type': 'text/csv; charset=utf-8' },
      body: stream(this),
    }
  }
}

function sameOrigin(target: Target, url: string): string {
  if (new URL(url).origin === new URL(target.url).origin) return url
  throw new PlatformError(
    target,
    `${url} is a page of another host, which is not followed`,
    'lists: { next: … }',
  )
}

function answered(reply: HttpResponse, body: JsonObject): HttpResponse {
  return { ...reply, headers: { ...reply.headers, ...json }, body: jsonText(body) }
}
