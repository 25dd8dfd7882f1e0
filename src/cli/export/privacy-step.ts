import { DatabaseSync } from 'node:sqlite'
import { formatCount } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { datasetTables } from '../../tables/dictionary.ts'
import { matchingPaths, resolvePath } from '../output/columns.ts'
import { coarsened, type KeptColumn, type Pseudonymising, PseudonymTable } from '../pseudonyms/pseudonyms.ts'
import { UsageError } from '../terminal/errors.ts'
import { firstNames, pluralise } from '../terminal/format-text.ts'
import type { ChangedRow } from './dataset-files.ts'

type Batches = AsyncIterable<readonly unknown[]>

/** A row without what identifies its person; a row about no person is passed on at once, null leaves the row out. */
type Masked = MaskedRow | { readonly person: null; readonly row: unknown } | null

interface Mask {
  readonly tables: readonly PeopleTable[]
  readonly columns: readonly KeptColumn[]
  /** Includes columns that only some rows have. */
  readonly dropped: ReadonlySet<string>
  of(row: unknown): Masked
  notes(): string[]
}

export class PrivacyStep {
  readonly #mask: Mask
  readonly #how: Pseudonymising
  #groupNotes: readonly string[] = []

  constructor(how: Pseudonymising, mask: Mask) {
    this.#how = how
    this.#mask = mask
  }

  get columns(): readonly KeptColumn[] {
    return this.#mask.columns
  }

  assertKept(names: readonly string[] | null): void {
    const { columns, dropped } = this.#mask
    const name = names?.find((each) => dropped.has(each))
    if (name !== undefined) throw droppedColumnError(name, columns)
  }

  /** Yields the rows that are about people sorted by their pseudonyms. All are read before the first of them is yielded. */
  async *rows(batches: Batches): AsyncGenerator<readonly unknown[]> {
    const people = new PeopleRows(this.#how, this.#mask.tables)
    try {
      for await (const batch of batches) {
        const passed: unknown[] = []
        for (const row of batch) {
          const masked = this.#mask.of(row)
          if (masked?.person === null) passed.push(masked.row)
          else if (masked !== null) people.add(masked)
        }
        if (passed.length > 0) yield passed
      }
      yield* people.batches()
      this.#groupNotes = people.groupNotes()
    } finally {
      people.close()
    }
  }

  /** Returns what is left out, and what people could still be recognised by; complete after the last row. */
  notes(): string[] {
    return [...this.#mask.notes(), ...this.#groupNotes]
  }
}

/** `names` are chosen columns; null for all that are kept. The field `whole` is kept as it is. */
export function listPrivacy(
  how: Pseudonymising,
  operation: string,
  names: readonly string[] | null,
  whole?: string,
): PrivacyStep {
  const table = new PseudonymTable(operation, how)
  const own = table.columns.filter(({ path }) => path !== whole)
  const columns = names === null ? own : chosenColumns(table, own, names)
  const places = columns.map((column) => table.placeOf(column))
  const seen = table.recognisable(columns)
  const people = { name: null, columns: seen.columns }
  return new PrivacyStep(how, {
    tables: [people],
    columns,
    dropped: table.dropped,
    of: (row) => {
      const values = table.valuesOf(row)
      const kept = columns.map(({ path }, index) => [path, values[places[index] ?? 0] ?? null])
      return {
        table: people,
        person: table.personIn(values),
        seen: seen.places.map((place) => values[place] ?? null),
        row: {
          ...Object.fromEntries(kept),
          ...(whole !== undefined && isJsonObject(row) && { [whole]: row[whole] }),
        },
      }
    },
    notes: () => [droppedNote([...table.dropped]), ...timesNotes(how, columns)],
  })
}

function chosenColumns(
  { dropped }: PseudonymTable,
  columns: readonly KeptColumn[],
  names: readonly string[],
): readonly KeptColumn[] {
  const paths = columns.map(({ path }) => path)
  return names.map((name) => {
    if (matchingPaths(name, paths).length === 0 && dropped.has(name)) throw droppedColumnError(name, columns)
    const path = resolvePath(name, paths)
    const column = columns.find((each) => each.path === path)
    if (!column) throw new TypeError(`no column ${path}`)
    return { ...column, name }
  })
}

function droppedColumnError(name: string, columns: readonly KeptColumn[]): UsageError {
  return new UsageError(`--columns ${name} and --pseudonymise cannot be used together`, {
    why: ['The column has names, addresses or free text, or tells much about a person'],
    hint: `Columns: ${columns.map((column) => column.name).join(', ')}`,
  })
}

export function statementPrivacy(how: Pseudonymising): PrivacyStep {
  // Columns by which a person could be recognised: the event, its course or item, and its time.
  const people = { name: null, columns: ['verb', 'object', 'timestamp'] }
  return new PrivacyStep(how, {
    tables: [people],
    columns: [],
    dropped: new Set(),
    of: (item) => {
      const { actor, statement } = pseudonymisedStatement(objectAt(item), how)
      const { verb, object, timestamp } = statement
      const seen = [objectAt(verb)['id'], objectAt(object)['id'], timestamp]
      return { table: people, person: actor, seen, row: statement }
    },
    notes: () => [[personalData, ...(how.times === null ? [exactTimes] : [])].join('. ')],
  })
}

/** Properties that identify no person (xAPI 1.0.3, Data 2.2). */
const keptProperties = ['verb', 'object', 'result', 'version'] as const

function pseudonymisedStatement(statement: JsonObject, { pseudonyms, times }: Pseudonymising) {
  const actor = objectAt(statement['actor'])
  const account = objectAt(actor['account'])
  const { registration, platform, contextActivities } = objectAt(statement['context'])
  const name = pseudonyms.of('user', String(account['name'] ?? actor['mbox'] ?? ''))
  const at = statement['timestamp'] ?? null
  const kept = keptProperties.filter((property) => statement[property] !== undefined)
  return {
    actor: name,
    statement: {
      id: pseudonyms.uuidOf('statement', String(statement['id'])),
      actor: { objectType: 'Agent', account: { homePage: account['homePage'] ?? null, name } },
      ...Object.fromEntries(kept.map((property) => [property, statement[property]])),
      context: {
        registration: pseudonyms.uuidOf('registration', String(registration)),
        ...(platform !== undefined && { platform }),
        ...(contextActivities !== undefined && { contextActivities }),
      },
      timestamp: times === null ? at : `${coarsened(at, times) ?? '1970-01-01'}T00:00:00.000Z`,
    } as JsonObject,
  }
}

function objectAt(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Includes the keys of rows that are gone. */
export function datasetPrivacy(how: Pseudonymising): PrivacyStep {
  const tables = datasetTables.map((each) => {
    const table = new PseudonymTable(each, how)
    return { name: each.name, table, ...table.recognisable(table.columns) }
  })
  const byName = new Map(tables.map((each) => [each.name as string, each]))
  const dropped = datasetTables.flatMap(({ name, columns }) => {
    const kept = new Set(byName.get(name)?.table.columns.map((column) => column.name))
    return columns.flatMap((column) => (kept.has(column.name) ? [] : [`${name}.${column.name}`]))
  })
  const columns = tables.flatMap(({ table }) => table.columns)
  return new PrivacyStep(how, {
    tables,
    columns,
    dropped: new Set(dropped),
    of: (changed) => {
      const { table: name, state, key, record } = changed as ChangedRow
      const found = byName.get(name)
      // A newer platform may have more tables.
      if (!found) return null
      const { table, places } = found
      const keys = table.valuesOf(key)
      const values = record && table.valuesOf(record)
      const fieldsOf = (from: readonly unknown[]) =>
        Object.fromEntries(table.columns.map(({ path }, place) => [path, from[place] ?? null]))
      const keyOf = Object.entries(fieldsOf(keys)).filter(([path]) => Object.hasOwn(key, path))
      const row = { table: name, state, key: Object.fromEntries(keyOf), record: values && fieldsOf(values) }
      if (!table.hasPeople) return { person: null, row }
      const seen = values === null ? [] : places.map((place) => values[place] ?? null)
      return { table: found, person: table.personIn(values ?? keys), seen, row }
    },
    notes: () => [droppedNote(dropped), ...timesNotes(how, columns)],
  })
}

const personalData = 'Pseudonymised data is still personal data'
const exactTimes = 'Times are exact, and may identify people; --coarsen-times day|week|month reduces them'

function droppedNote(names: readonly string[]): string {
  return `${personalData}. Left out: ${firstNames(names, 30)}`
}

function timesNotes({ times }: Pseudonymising, columns: readonly KeptColumn[]): string[] {
  return times === null && columns.some(({ privacy }) => privacy === 'time') ? [exactTimes] : []
}

export interface PeopleTable {
  /** Null for the only table of a file. */
  readonly name: string | null
  /** Columns that people could be recognised by. */
  readonly columns: readonly string[]
}

export interface MaskedRow {
  readonly table: PeopleTable
  /** Pseudonym of the person that the row is about. */
  readonly person: string
  readonly seen: readonly unknown[]
  readonly row: JsonObject
}

const batchRows = 500

/**
 * Sorts rows by the pseudonyms of their people, those of a person in their order: the order of a list, such as that of addresses, would
 * tell who is who. Counts the groups of people whose rows have equal values: a person in a group of fewer than k may be recognised by
 * these (k-anonymity, Samarati and Sweeney 1998).
 */
export class PeopleRows {
  readonly #how: Pseudonymising
  readonly #tables: readonly PeopleTable[]
  // A temporary file, which only this process can read: SQLite deletes it (In-Memory Databases § Temporary Databases).
  readonly #database = new DatabaseSync('')
  readonly #insert
  #notes: readonly string[] = []

  constructor(how: Pseudonymising, tables: readonly PeopleTable[]) {
    this.#how = how
    this.#tables = tables
    this.#database.exec('create table rows (place integer, person text, seen text, row text); begin')
    this.#insert = this.#database.prepare('insert into rows values (?, ?, ?, ?)')
  }

  add({ table, person, seen, row }: MaskedRow): void {
    const isGrouped = this.#how.k > 1 && seen.length > 0
    this.#insert.run(this.#tables.indexOf(table), person, isGrouped ? jsonText(seen) : null, jsonText(row))
  }

  /** Yields all rows in batches: without those of small groups, if these are to be left out. Call `close` at the end. */
  *batches(): Generator<readonly JsonObject[]> {
    this.#notes = this.#tables.flatMap((table, place) => this.#notesOf(table, place))
    let batch: JsonObject[] = []
    for (const { row } of this.#database.prepare('select row from rows order by person, rowid').iterate()) {
      // Written by this class.
      batch.push(parseJson(String(row)) as JsonObject)
      if (batch.length < batchRows) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

  /** Deletes the rows of small groups if these are to be left out. */
  #notesOf({ name, columns }: PeopleTable, place: number): string[] {
    const { k, suppressSmall } = this.#how
    const small = `select seen, count(distinct person) as people from rows where place = ${place} and seen is not null
      group by seen having people < ${k}`
    const counts = this.#database
      .prepare(`select count(*) as groups, min(people) as least from (${small})`)
      .get()
    const groups = Number(counts?.['groups'])
    if (groups === 0) return []
    const text = `${formatCount(groups)} ${groups === 1 ? 'group' : 'groups'} of fewer than ${k} people with the same ${columns.join(', ')}`
    if (suppressSmall) {
      const left = this.#database.prepare(
        `delete from rows where place = ${place} and seen in (select seen from (${small}))`,
      )
      return [`Left out ${pluralise(Number(left.run().changes), 'row')} of ${text}`]
    }
    const where = name === null ? '' : `${name}: `
    return [
      `${where}${text} (the smallest has ${Number(counts?.['least'])}): they may be recognised by these`,
    ]
  }

  /** Notes about small groups; complete after `batches`. */
  groupNotes(): readonly string[] {
    return this.#notes
  }

  close(): void {
    this.#database.close()
  }
}
