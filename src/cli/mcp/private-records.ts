import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { TableColumn } from '../../tables/column.ts'
import { tables } from '../../tables/dictionary.ts'
import { ancestorsOf } from '../../tables/paths.ts'
import { findPrivacy } from '../../tables/privacy.ts'
import { isOfType, kindOf } from '../pseudonyms/pseudonym-table.ts'
import type { PeopleMap } from './people-map.ts'
import type { PrivateText } from './private-text.ts'

type Privacy = TableColumn['privacy']

/** Texts of results that are words of this program, not of a platform. */
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

/** A record without identities, and the fields that were left out. */
export interface PrivateRecord {
  readonly value: unknown
  readonly dropped: ReadonlySet<string>
}

/** A table of the data dictionary; without columns if it has none of this name. */
export type NamedTable = Pick<(typeof tables)[number], 'name' | 'columns'>

/** Returns the table of a name, or of a noun: `user` is `users`. */
export function findTable(name: string): NamedTable {
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

/**
 * Replaces the ids and addresses of people in a record by pseudonyms, and leaves out names, free text, and fields that are in no
 * table of the data dictionary.
 */
export function hidePeople(record: unknown, how: Hiding): PrivateRecord {
  const dropped = new Set<string>()
  const { isForeign = false, table } = how
  return { value: within(record, '', table) ?? null, dropped }

  /** Returns a value without identities; undefined for one that is left out. */
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

/** Returns how a field identifies a person; undefined for one that is not in the dictionary. */
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

/** Members with the values of a field that another member names. */
const valuesOfField: ReadonlySet<string> = new Set(['from', 'to', 'before', 'after', 'value'])
const fieldName = /^[\w.$-]{1,100}$/
/** Ids of the academy, with their prefix. */
const academyId = /^[a-z]{3}_[0-9a-z]{20,40}$/
const dayOrTime = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/
const maxDropped = 40
