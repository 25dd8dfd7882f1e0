import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { ancestorsOf, type TableColumn } from '../../tables/column.ts'
import { tables } from '../../tables/dictionary.ts'
import { findPrivacy } from '../../tables/privacy.ts'
import { isOfType, kindOf } from '../pseudonyms/pseudonyms.ts'
import type { CheckedLine } from './check-line.ts'
import { namedValues } from './offered-commands.ts'
import { type PeopleMap, PrivateText } from './private-text.ts'

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

  use(line: CheckedLine, argv: readonly string[]): void {
    const { offered } = line
    for (const value of personalValues(line)) this.#text?.hideGiven(value)
    this.#typed = argv.flatMap((word) => [word, word.slice(word.indexOf('=') + 1), ...word.split(',')])
    this.#table = tableOf(line)
    this.#isPublic ||= offered.offer.isPublic === true
    this.#isForeign = offered.command.calls !== undefined || offered.path.endsWith(' export')
  }

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

type Privacy = TableColumn['privacy']

/** Words of this program, not of a platform. */
const ownWords: ReadonlySet<string> = new Set([
  ...[
    'action',
    'kind',
    'status',
    'role',
    'method',
    'code',
    'phase',
    'state',
    'change',
    'noun',
    'field',
    'pointer',
  ],
  ...[
    'format',
    'part',
    'unit',
    'type',
    'privacy',
    'table',
    'column',
    'result',
    'dataset',
    'difficulty',
    'by',
  ],
])
/** Choices of fields that are in no list of the API, and so in no table of the data dictionary. */
const choicesByField: Readonly<Record<string, readonly string[]>> = {
  instructorAccess: ['taught', 'all'],
  instructorEnrollment: ['known', 'anyone'],
  authMethod: ['api_key', 'oauth', 'local'],
  scopes: ['read', 'write', 'admin'],
}
/** Texts that are messages: sentences in which people may be named. */
const messages: ReadonlySet<string> = new Set([
  ...['message', 'detail', 'reason', 'hint', 'summary', 'meaning', 'nullMeans', 'url', 'why', 'note'],
  ...['place', 'file', 'errorsFile'],
])

interface PrivateRecord {
  readonly value: unknown
  readonly dropped: ReadonlySet<string>
}

/** A table of the data dictionary; without columns if it has none of this name. */
type NamedTable = Pick<(typeof tables)[number], 'name' | 'columns'>

/** Returns the table of a name, or of a noun: `user` is `users`. */
function findTable(name: string): NamedTable {
  const found = tables.find((table) => table.name === name || table.name === `${name}s`)
  return found ?? { name, columns: [] }
}

interface Hiding {
  readonly people: PeopleMap
  readonly text: PrivateText
  readonly table: NamedTable
  /** Words of the command line that records may repeat: the values of a request, which is not sent yet. */
  readonly typed?: ReadonlySet<string>
  /** True for records as a platform returns them: no field has words of this program. */
  readonly isForeign?: boolean
}

/** Leaves out names, free text, and fields that are in no table of the data dictionary. */
function hidePeople(record: unknown, how: Hiding): PrivateRecord {
  const dropped = new Set<string>()
  const { isForeign = false, table } = how
  return { value: within(record, '', table) ?? null, dropped }

  /** Undefined for a value that is left out. */
  function within(value: unknown, path: string, table: NamedTable): unknown {
    if (value === null || typeof value === 'boolean') return value
    if (Array.isArray(value)) {
      return value.map((each) => within(each, path, table)).filter((kept) => kept !== undefined)
    }
    if (isJsonObject(value)) return members(value, path, table)
    const kept = leafOf(value, path, table, how)
    if (kept === undefined && dropped.size < maxDropped) dropped.add(path === '' ? 'text' : path)
    return kept
  }

  function members(value: JsonObject, path: string, table: NamedTable): unknown {
    // A change of a record names its table, and that of a field its field.
    const kind = value['dataset'] ?? value['noun']
    const own = typeof kind === 'string' ? findTable(kind) : table
    const { field } = value
    // An entry of the audit log has a whole record of another table in some members.
    const isEntry = isForeign && how.table.columns.length > 0 && own !== table
    const entries = Object.entries(value).flatMap(([name, member]) => {
      // A record by address or name instead of by field.
      if (!fieldName.test(name)) return []
      const isOfField = typeof field === 'string' && valuesOfField.has(name)
      const place = isOfField ? field : path === '' ? name : `${path}.${name}`
      const isRecord = isEntry && valuesOfField.has(name)
      const kept = within(member, isRecord ? '' : place, isEntry && !isRecord ? table : own)
      return kept === undefined ? [] : [[name, kept] as const]
    })
    return entries.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(entries)
  }
}

function leafOf(
  value: unknown,
  path: string,
  table: NamedTable,
  { people, text, typed, isForeign = false, table: { columns } }: Hiding,
): unknown {
  if (typed?.has(String(value))) return value
  const leaf = path.slice(path.lastIndexOf('.') + 1)
  // With its salt, a digest of the audit log confirms a guess of the value.
  if (leaf.endsWith('Salt')) return undefined
  const column = columnOf(path, table)
  if (!column && choicesByField[leaf]?.some((choice) => choice === value)) return value
  switch (privacyOf(leaf, table, path, column)) {
    case 'none':
    case 'time':
      // A title in a record about a person may be that of the person.
      if (!column && isForeign && isAboutPerson(table)) return undefined
      // Another platform may have anything in a field.
      return column?.path === path && !isOfType(column.type, value) ? undefined : value
    case 'id':
      return people.of(kindOf(table.name, path, leaf), String(value))
    case 'address':
      return /email$/i.test(leaf) ? people.of('e-mail address', String(value)) : undefined
    case 'name':
    case 'text':
      return undefined
    default:
  }
  // The numbers of a report or of settings are in no table.
  if (isForeign && (columns.length > 0 || typeof value === 'string')) return undefined
  // A number may be an id of another platform.
  if (typeof value !== 'string') return /id$/i.test(leaf) ? undefined : value
  if (messages.has(leaf) || academyId.test(value)) return text.clean(value)
  return ownWords.has(leaf) || dayOrTime.test(value) ? value : undefined
}

/** Undefined for a field that is not in the dictionary. */
function privacyOf(
  leaf: string,
  table: NamedTable,
  path: string,
  column: TableColumn | undefined,
): Privacy | undefined {
  if (column?.path === path || column?.name === path) return column.privacy
  const own = messages.has(leaf) && !column ? undefined : findPrivacy(table.name, leaf)
  // Another platform may have people inside of a whole value, such as the authors of a module.
  return column && (own === undefined || own === 'none' || own === 'time') ? column.privacy : own
}

/** Returns the column of a field, by its name if columns were chosen, or that of a whole value which contains it. */
function columnOf(path: string, { columns }: NamedTable): TableColumn | undefined {
  const of = (place: string) =>
    columns.find((column) => column.path === place) ?? columns.find(({ name }) => name === place)
  return [path, ...ancestorsOf(path)].map(of).find((column) => column !== undefined)
}

function isAboutPerson({ columns }: NamedTable): boolean {
  return columns.some(({ privacy }) => privacy === 'name' || privacy === 'address')
}

const valuesOfField: ReadonlySet<string> = new Set(['from', 'to', 'before', 'after', 'value'])
const fieldName = /^[\w.$-]{1,100}$/
/** Ids of the academy, with their prefix. */
const academyId = /^[a-z]{3}_[0-9a-z]{20,40}$/
const dayOrTime = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/
const maxDropped = 40
