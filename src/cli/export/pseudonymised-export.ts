import { jsonText, parseJson } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { matchingPaths, resolvePath } from '../output/columns.ts'
import { endBytes, hiddenNote, rowBytes } from '../output/formats/format.ts'
import { type KeptColumn, type Pseudonymising, PseudonymTable } from '../pseudonyms/pseudonym-table.ts'
import { SortedPeople } from '../pseudonyms/sorted-people.ts'
import { UsageError } from '../terminal/errors.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'
import type { Source } from './write-export.ts'

interface PseudonymisedRows {
  readonly operation: string
  readonly rows: AsyncIterable<readonly unknown[]>
}

const maxNames = 30

/**
 * Returns rows whose people cannot be told by name. They are sorted by pseudonym, those of a person in their order: the order of
 * a list, such as that of addresses, would tell who is who. All rows are read before the first is written.
 */
export async function pseudonymisedSource(
  context: Context,
  how: Pseudonymising,
  form: RowForm,
  { operation, rows }: PseudonymisedRows,
): Promise<Source> {
  const table = new PseudonymTable(operation, how)
  const chosen = chosenColumns(table, form.columns)
  const labelled = chosen.map(({ name, path }) => ({ label: name, path }))
  const columns = { csv: labelled, table: labelled, chosen: labelled, typed: async () => chosen }
  const encoder = await listEncoder(context, form, columns)
  const places = chosen.map((column) => table.placeOf(column))
  const people = new SortedPeople(table, how, chosen)
  let written = 0
  let groupNotes: readonly string[] = []

  async function* bytes() {
    try {
      for await (const batch of rows) {
        for (const row of batch) {
          const values = table.valuesOf(row)
          people.add(values, jsonText(places.map((place) => values[place] ?? null)))
        }
      }
      for (const texts of people.batches()) {
        written += texts.length
        yield rowBytes(
          encoder,
          texts.map((text) => recordOf(chosen, text)),
        )
      }
      groupNotes = people.groupNotes()
      yield endBytes(encoder)
    } finally {
      people.remove()
    }
  }

  return {
    bytes: bytes(),
    rows: () => written,
    guarded: () => encoder.guarded?.() ?? 0,
    notes: () => [
      ...pseudonymNotes(how, [...table.dropped], chosen, groupNotes),
      ...[hiddenNote(encoder)].filter((note) => note !== null),
    ],
  }
}

/** Returns what a pseudonymised file leaves out, and what people could still be recognised by. */
export function pseudonymNotes(
  how: Pseudonymising,
  dropped: readonly string[],
  columns: readonly Pick<KeptColumn, 'privacy'>[],
  groupNotes: readonly string[],
): string[] {
  return [
    droppedNote(dropped),
    ...(how.times === null && columns.some(({ privacy }) => privacy === 'time')
      ? ['Times are exact, and may identify people; --coarsen-times day|week|month reduces them']
      : []),
    ...groupNotes,
  ]
}

/** Throws a UsageError for a column that is left out. */
function chosenColumns(table: PseudonymTable, names: readonly string[] | null): readonly KeptColumn[] {
  if (names === null) return table.columns
  const paths = table.columns.map(({ path }) => path)
  return names.map((name) => {
    if (matchingPaths(name, paths).length === 0 && table.dropped.has(name)) {
      throw droppedColumnError(name, table.columns)
    }
    const path = resolvePath(name, paths)
    const column = table.columns.find((each) => each.path === path)
    if (!column) throw new TypeError(`no column ${path}`)
    return { ...column, name }
  })
}

export function droppedColumnError(name: string, columns: readonly KeptColumn[]): UsageError {
  return new UsageError(`--columns ${name} and --pseudonymise cannot be used together`, {
    why: ['The column has names, addresses or free text, or tells much about a person'],
    hint: `Columns: ${columns.map((column) => column.name).join(', ')}`,
  })
}

function recordOf(columns: readonly KeptColumn[], text: string): Record<string, unknown> {
  // Written by this program a moment ago.
  const values = parseJson(text) as readonly unknown[]
  return Object.fromEntries(columns.map(({ path }, index) => [path, values[index] ?? null]))
}

function droppedNote(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ')
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ''
  return `Pseudonymised data is still personal data. Left out: ${shown}${more}`
}
