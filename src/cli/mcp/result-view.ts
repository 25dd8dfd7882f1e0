import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { tables } from '../../tables/dictionary.ts'
import { UsageError } from '../terminal/errors.ts'
import type { CheckedLine } from './check-line.ts'
import type { OfferedCommand } from './command-table.ts'
import type { PeopleMap } from './people-map.ts'
import { findTable, type NamedTable, type PrivateRecord, PrivateRecords } from './private-records.ts'
import { PrivateText } from './private-text.ts'

/** Translates between the words and results of the platform and those that an assistant gets. */
export interface View {
  translate(argv: readonly string[]): readonly string[]
  /** Sets the command whose results follow. */
  use(line: CheckedLine, argv: readonly string[]): void
  readonly onReply?: (text: string) => void
  record(record: unknown): PrivateRecord
  /** Returns a request that a dry run prints, or another record of its plan. */
  planned(record: unknown): unknown
  /** Returns by what a record is recognised. */
  identity(noun: string, record: JsonObject): JsonObject
  error(error: JsonObject): JsonObject
  text(text: string): string
  /** Keeps what later calls need. */
  save(): void
}

export class PlainView implements View {
  translate(argv: readonly string[]): readonly string[] {
    return argv
  }

  use(): void {}

  record(record: unknown): PrivateRecord {
    return { value: withoutHeaders(record), dropped: new Set() }
  }

  planned(record: unknown): unknown {
    return withoutHeaders(record)
  }

  identity(_: string, record: JsonObject): JsonObject {
    return identityOf(record)
  }

  error(error: JsonObject): JsonObject {
    return { ...error, code: codeOf(error['code']) }
  }

  text(text: string): string {
    return text
  }

  save(): void {}
}

export class PrivateView implements View {
  readonly #people: PeopleMap
  readonly #text: PrivateText
  #typed: readonly string[] = []
  #isPublic = false
  #isForeign = false
  #table: NamedTable = { name: '', columns: [] }

  constructor(people: PeopleMap) {
    this.#people = people
    this.#text = new PrivateText(people)
  }

  translate(argv: readonly string[]): readonly string[] {
    return argv.map((word) =>
      this.#people.translate(word, (original, pseudonym) => this.#text.add(original, pseudonym)),
    )
  }

  use(line: CheckedLine, argv: readonly string[]): void {
    const { invocation, offered } = line
    const personal = personalValues(invocation, offered)
    for (const value of personal) this.#text.hideGiven(value)
    this.#typed = argv.flatMap((word) => [word, word.slice(word.indexOf('=') + 1), ...word.split(',')])
    this.#table = tableOf(line)
    this.#isPublic = offered.offer.isPublic === true
    this.#isForeign = offered.command.calls !== undefined || offered.path.endsWith(' export')
  }

  onReply = (text: string): void => this.#text.learn(text)

  record(record: unknown): PrivateRecord {
    if (this.#isPublic) return { value: record, dropped: new Set() }
    // A dry run prints requests.
    if (isRequest(record)) return { value: this.planned(record), dropped: new Set() }
    const isForeign = this.#isForeign
    return new PrivateRecords(this.#people, this.#text, this.#table, { isForeign }).of(record)
  }

  planned(record: unknown): unknown {
    const request = withoutHeaders(record)
    if (!isRequest(request)) {
      return new PrivateRecords(this.#people, this.#text, this.#table).of(request).value
    }
    const { method, url, body } = request
    // A request repeats what was typed; the plan of a file may show the same as a value of the platform.
    const view = new PrivateRecords(this.#people, this.#text, this.#table, { typed: this.#typed })
    return {
      method,
      url: this.#text.cleanUrl(url, new Set(this.#typed)),
      ...(body !== undefined && { body: view.of(body).value }),
    }
  }

  identity(noun: string, record: JsonObject): JsonObject {
    const view = new PrivateRecords(this.#people, this.#text, findTable(noun))
    const { value } = view.of(identityOf(record))
    return isJsonObject(value) ? value : {}
  }

  error({ code, message, hint, status, details }: JsonObject): JsonObject {
    const view = new PrivateRecords(this.#people, this.#text, { name: '', columns: [] })
    return {
      code: codeOf(code),
      message: this.text(String(message)),
      hint: typeof hint === 'string' ? this.text(hint) : null,
      status: status ?? null,
      details: view.of(details ?? []).value,
    }
  }

  text(text: string): string {
    return this.#text.clean(text)
  }

  save(): void {
    this.#people.save()
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
function personalValues(
  { arguments: given, flags }: CheckedLine['invocation'],
  { command: { arguments: positions = [] } }: OfferedCommand,
): string[] {
  const rest = positions.findIndex((position) => position.rest)
  const values = [
    ...given.filter((_, index) =>
      personalNames.has(positions[rest >= 0 && index > rest ? rest : index]?.name ?? ''),
    ),
    ...Object.entries(flags).flatMap(([name, value]) => (personalNames.has(name) ? [value].flat() : [])),
  ]
  return values.flatMap((value) =>
    typeof value === 'string' ? [value.replace(/^(ext|email):/, '')].filter((text) => text.length > 1) : [],
  )
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

/** Throws a UsageError for a result that is not JSON. */
export function assertRecords(records: readonly unknown[] | null): asserts records is readonly unknown[] {
  if (records === null) throw new UsageError('The result is not JSON, so it cannot be shown here')
}
