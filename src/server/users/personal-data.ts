import sql, { join, raw } from 'sql-template-tag'
import { parseJsonOrNull } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { PersonalSection } from '../../contract/constants.ts'
import type { PersonalRecord, User } from '../../contract/users.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { invalidCursor, type Page, readCursor, where, writeCursor } from '../database/page.ts'
import { hintsOf, identifiersOf } from './identifiers.ts'
import { type Person, sections } from './personal-sections.ts'

const sort = 'personal'

interface Position {
  readonly section: PersonalSection
  readonly after: readonly Cell[] | null
}

/** A page may have fewer records than its limit. */
export async function readPersonalData(
  database: Database,
  user: User,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<PersonalRecord>> {
  const person: Person = { id: user.id, hints: hintsOf(await identifiersOf(database, user)) }
  const names = Object.keys(sections) as PersonalSection[]
  const [first = 'user'] = names
  let { section, after } = cursor === undefined ? { section: first, after: null } : positionIn(cursor)
  const data: PersonalRecord[] = []
  for (;;) {
    const { rows, next } = await readSection(database, section, { person, after, limit: limit - data.length })
    data.push(...rows.map((record) => ({ section, record })))
    const following = names[names.indexOf(section) + 1]
    if (next) return { data, nextCursor: cursorAt({ section, after: next }) }
    if (following === undefined) return { data, nextCursor: null }
    section = following
    after = null
    if (data.length === limit) return { data, nextCursor: cursorAt({ section, after }) }
  }
}

interface SectionPage {
  readonly rows: readonly Record<string, unknown>[]
  readonly next: readonly Cell[] | null
}

async function readSection(
  database: Database,
  name: PersonalSection,
  { person, after, limit }: Pick<Position, 'after'> & { readonly person: Person; readonly limit: number },
): Promise<SectionPage> {
  const {
    table,
    shown,
    more = {},
    joined,
    of,
    key,
    joinedKeys,
    maxRows = limit,
    read,
    json = [],
    show,
  } = sections[name]
  if (read) return { rows: [camelCased(await read(database, person))], next: null }
  const terms = join(key.map((column) => raw(column)))
  const outer = joinedKeys !== undefined && after !== null ? key.slice(0, joinedKeys) : []
  const count = Math.min(limit, maxRows)
  const found = await database.all(sql`
    select ${join([
      ...shown.map((column) => raw(`r.${column}`)),
      ...Object.entries(more).map(([as, value]) => sql`${value} as ${raw(as)}`),
      ...key.map((column, index) => raw(`${column} as key_${index}`)),
    ])}
    from ${raw(table)} r ${joined ?? raw('')}
    ${where([
      of(person),
      outer.length > 0 &&
        sql`(${join(outer.map((column) => raw(column)))}) >= (${join((after ?? []).slice(0, outer.length))})`,
      after !== null && sql`(${terms}) > (${join([...after])})`,
    ])}
    order by ${terms} limit ${count + 1}`)
  const last = found.length > count ? found[count - 1] : undefined
  const keyOf = (row: Row) => key.map((_, index) => row[`key_${index}`] ?? null)
  const rows = found.slice(0, count).map((row) => {
    const values = Object.fromEntries(Object.entries(row).filter(([column]) => !/^key_\d+$/.test(column)))
    const shownRow = show?.(values) ?? values
    return camelCased({
      ...shownRow,
      ...Object.fromEntries(json.map((column) => [column, parsed(values[column])])),
    })
  })
  return { rows, next: last ? keyOf(last) : null }
}

function parsed(value: Cell | undefined): unknown {
  return typeof value === 'string' ? (parseJsonOrNull(value) ?? value) : null
}

function camelCased(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [name(column), value]))
}

function cursorAt({ section, after }: Position): string {
  return writeCursor(sort, section, JSON.stringify(after))
}

/** Throws 400 `invalid_cursor`. */
function positionIn(cursor: string): Position {
  const [section, text] = readCursor(cursor, sort, 2)
  const after = parseJsonOrNull(String(text))
  if (!Object.hasOwn(sections, String(section))) throw invalidCursor()
  const name = String(section) as PersonalSection
  const isKey =
    after === null ||
    (Array.isArray(after) && after.length === sections[name].key.length && after.every(isCell))
  if (!isKey) throw invalidCursor()
  return { section: name, after: after as Cell[] | null }
}

function isCell(value: unknown): boolean {
  return typeof value === 'string' ? isStorableText(value) : typeof value === 'number'
}
