import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { tables } from '../../tables/dictionary.ts'
import type { CheckedLine } from './check-line.ts'
import { namedValues } from './command-table.ts'
import type { PeopleMap } from './people-map.ts'
import { findTable, hidePeople, type NamedTable, type PrivateRecord } from './private-records.ts'
import { PrivateText } from './private-text.ts'

const noTable: NamedTable = { name: '', columns: [] }

/**
 * Translates between the words and results of the platform and those that an assistant gets. Without a map of people, it hides
 * no one.
 */
export class ResultView {
  readonly #people: PeopleMap | null
  readonly #text: PrivateText | null
  #typed: readonly string[] = []
  #isPublic: boolean
  #isForeign = false
  #table = noTable

  constructor(people: PeopleMap | null) {
    this.#people = people
    this.#text = people && new PrivateText(people)
    this.#isPublic = people === null
  }

  translate(argv: readonly string[]): readonly string[] {
    return argv.map((word) => {
      const found = (original: string, pseudonym: string) => this.#text?.add(original, pseudonym)
      return this.#people?.translate(word, found) ?? word
    })
  }

  /** Sets the command whose results follow. */
  use(line: CheckedLine, argv: readonly string[]): void {
    const { offered } = line
    for (const value of personalValues(line)) this.#text?.hideGiven(value)
    this.#typed = argv.flatMap((word) => [word, word.slice(word.indexOf('=') + 1), ...word.split(',')])
    this.#table = tableOf(line)
    this.#isPublic ||= offered.offer.isPublic === true
    this.#isForeign = offered.command.calls !== undefined || offered.path.endsWith(' export')
  }

  /** Learns who is in a response of the platform, so that messages hide them. */
  learn(reply: string): void {
    this.#text?.learn(reply)
  }

  record(record: unknown): PrivateRecord {
    // A dry run prints requests.
    if (this.#isPublic || isRequest(record)) return { value: this.planned(record), dropped: new Set() }
    return this.#hide(record, this.#table, { isForeign: this.#isForeign })
  }

  /** Returns a request that a dry run prints, or another record of its plan. */
  planned(record: unknown): unknown {
    const request = withoutHeaders(record)
    if (this.#isPublic || !this.#text) return request
    if (!isRequest(request)) return this.#hide(request, this.#table).value
    const { method, url, body } = request
    // A request repeats what was typed; the plan of a file may show the same as a value of the platform.
    const typed = new Set(this.#typed)
    return {
      method,
      url: this.#text.cleanUrl(url, typed),
      ...(body !== undefined && { body: this.#hide(body, this.#table, { typed }).value }),
    }
  }

  /** Returns by what a record is recognised. */
  identity(noun: string, record: JsonObject): JsonObject {
    const { value } = this.#hide(identityOf(record), findTable(noun))
    return isJsonObject(value) ? value : {}
  }

  error(error: JsonObject): JsonObject {
    const code = codeOf(error['code'])
    if (!this.#text) return { ...error, code }
    const { message, hint, status, details } = error
    return {
      code,
      message: this.text(String(message)),
      hint: typeof hint === 'string' ? this.text(hint) : null,
      status: status ?? null,
      details: this.#hide(details ?? [], noTable).value,
    }
  }

  text(text: string): string {
    return this.#text?.clean(text) ?? text
  }

  /** Keeps what later calls need. */
  save(): void {
    this.#people?.save()
  }

  #hide(
    record: unknown,
    table: NamedTable,
    how: { readonly isForeign?: boolean; readonly typed?: ReadonlySet<string> } = {},
  ): PrivateRecord {
    if (!this.#people || !this.#text) return { value: record, dropped: new Set() }
    return hidePeople(record, { people: this.#people, text: this.#text, table, ...how })
  }
}

function tableOf({ offered: { path, offer }, operation }: CheckedLine): NamedTable {
  const own = tables.find((table) => operation !== undefined && table.operation === operation)
  const resource = operation?.split('.')[0] ?? path.split(' ')[0] ?? ''
  return own ?? findTable(offer.table ?? resource)
}

/** Returns the code of an error, which a platform may choose; structured content has it outside of the fence. */
function codeOf(code: unknown): string {
  return typeof code === 'string' && /^[a-z][a-z0-9_]{0,39}$/.test(code) ? code : 'other'
}

const personalNames: ReadonlySet<string> = new Set([
  ...['user', 'learner', 'member', 'email', 'first-name', 'last-name', 'display-name', 'search', 'actor'],
])

/** Returns the values of a command line that name people, without `ext:` and `email:`. */
function personalValues({ invocation, offered }: CheckedLine): string[] {
  return namedValues(invocation, offered)
    .filter(({ name }) => personalNames.has(name))
    .map(({ text }) => text.replace(/^(ext|email):/, ''))
}

const identityFields = ['id', 'externalId', 'title', 'name', 'email', 'role', 'status', 'courseId', 'userId']

function identityOf(record: JsonObject): JsonObject {
  return Object.fromEntries(
    identityFields.flatMap((field) => (record[field] == null ? [] : [[field, record[field]]])),
  )
}

function isRequest(record: unknown): record is JsonObject & { readonly url: string } {
  return isJsonObject(record) && typeof record['method'] === 'string' && typeof record['url'] === 'string'
}

/** Returns a request of a dry run without its headers: they have nothing that a plan needs, and the time. */
export function withoutHeaders(record: unknown): unknown {
  if (!isJsonObject(record) || !('method' in record)) return record
  const { headers: _, ...request } = record
  return request
}
