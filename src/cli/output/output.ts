import { isJsonObject } from '../../codec/json-object.ts'
import type { Settings } from '../../config/settings.ts'
import { colourLevel, painter } from '../terminal/colour.ts'
import { UsageError } from '../terminal/errors.ts'
import { type Io, say, write } from '../terminal/io.ts'
import { visible } from '../terminal/visible.ts'
import { assertColumns, pathsIn, pick, valueAt } from './columns.ts'
import type { Format, ListEncoder } from './formats/format.ts'

/** What is known about a result before it is there: it orders columns, and tells which names are valid. */
export interface Shape {
  /** The columns of a table unless others are chosen. */
  readonly table: readonly string[]
  /** The top-level fields, in order: the columns of a CSV. */
  readonly fields: readonly string[]
  /** Every path that `--columns` may name. */
  readonly paths: readonly string[]
  /** The field that `--quiet` prints; `id` unless told otherwise. */
  readonly identifier?: string | undefined
}

/** The place where results are printed, in the format that was asked for. */
export interface Output {
  /** One resource. */
  one(value: unknown, shape: Shape): Promise<void>
  /** A list as one document, page by page, in constant memory. */
  list(pages: AsyncIterable<readonly unknown[]>, shape: Shape): Promise<void>
  /** A value as a whole, in JSON or YAML, whatever columns are chosen. */
  document(value: unknown): Promise<void>
  /** A list of values of which nothing is known beforehand: in JSON unless another format is asked for. */
  documents(pages: AsyncIterable<readonly unknown[]>): Promise<void>
  /** Text that is the result as it stands. */
  text(text: string | Uint8Array): Promise<void>
  /** A line on standard error that says what a command has done; nothing under --quiet. */
  done(text: string): Promise<void>
  /** A line on standard error, `note: …`, about what happened beside the result. */
  note(text: string): Promise<void>
  /**
   * Throws a UsageError, before anything is sent, when a result of this shape cannot be shown as asked. A platform
   * elsewhere may have more fields than are declared: with `open`, columns are left to be judged by what it sends.
   */
  check(shape: Shape, open?: 'open'): void
}

/** The output of a run: format, columns and quietness by its settings. */
export function createOutput(io: Io, settings: Settings): Output {
  const format = settings.output.value
  const quiet = settings.quiet.value

  /** The columns that were asked for; null for the usual ones. Throws a UsageError on names that are not valid. */
  function choose(valid: readonly string[]): readonly string[] | null {
    const { value, origin } = settings.columns
    if (value === null || quiet) return null
    if (origin.source !== 'project') {
      assertColumns(value, valid)
      return value
    }
    // A project's file speaks for all commands at once: of its columns each takes those that it has.
    const fitting = value.filter((column) => valid.includes(column))
    return fitting.length > 0 ? fitting : null
  }

  /** The format for values of which a sample is there, so that fields nobody declared are shown, too. */
  async function formatFor(sample: readonly unknown[], shape: Shape): Promise<Format> {
    if (quiet) return idsIn(shape.identifier)
    const chosen = choose([...new Set([...shape.paths, ...sample.flatMap(pathsIn)])])
    const columns = chosen ?? shape.table
    switch (format) {
      case 'json':
      case 'jsonl':
      case 'yaml':
        return narrowed(await documentFormat(format), chosen)
      case 'csv':
        return (await import('./formats/csv.ts')).csv(chosen ?? fieldsOf(sample, shape))
      case 'table': {
        if (!io.stdout.isTTY) return (await import('./formats/tsv.ts')).tsv(columns)
        const chalk = await painter(colourLevel(io.stdout, io.env, settings.color.value))
        const width = io.stdout.columns ?? 80
        return (await import('./formats/table.ts')).loadTable({
          columns,
          chosen: chosen !== null,
          width,
          chalk,
        })
      }
    }
  }

  async function printPages(
    pages: AsyncIterable<readonly unknown[]>,
    open: (rows: readonly unknown[]) => Promise<Format>,
  ): Promise<void> {
    let encoder: ListEncoder | null = null
    let empty = true
    for await (const rows of pages) {
      encoder ??= (await open(rows)).list()
      empty &&= rows.length === 0
      await write(io.stdout, encoder.rows(rows))
    }
    encoder ??= (await open([])).list()
    await write(io.stdout, encoder.end())
    if (empty && io.stderr.isTTY && !quiet) await say(io, 'note: nothing found\n')
  }

  const note = (text: string) => say(io, `note: ${visible(text)}\n`)

  return {
    one: async (value, shape) => {
      await write(io.stdout, (await formatFor([value], shape)).one(value))
    },
    list: async (pages, shape) => {
      const late = new Set<string>()
      const watched = format === 'csv' ? watch(pages, shape, late) : pages
      await printPages(watched, (rows) => formatFor(rows, shape))
      if (late.size === 0 || quiet || settings.columns.value) return
      await note(`later items have more fields, which are not in this CSV: ${[...late].join(', ')}`)
    },
    documents: (pages) => {
      const { value: chosen } = settings.columns
      const shown = quiet || chosen !== null || format === 'csv'
      const unknown = { table: chosen ?? [], fields: [], paths: [] }
      return printPages(pages, (rows) => (shown ? formatFor(rows, unknown) : documentFormat(format)))
    },
    document: async (value) => {
      await write(io.stdout, (await documentFormat(format)).one(value))
    },
    text: (text) => write(io.stdout, text),
    done: async (text) => {
      if (!quiet) await say(io, `${visible(text)}\n`)
    },
    note,
    check: (shape, open) => {
      if (quiet && !shape.paths.includes(shape.identifier ?? 'id')) {
        throw new UsageError('--quiet prints ids, and nothing here has one', { code: 'no_id' })
      }
      if (!open) choose(shape.paths)
    },
  }
}

async function documentFormat(format: string): Promise<Format> {
  if (format === 'yaml') return (await import('./formats/yaml.ts')).loadYaml()
  const { json, jsonLines } = await import('./formats/json.ts')
  return format === 'jsonl' ? jsonLines : json
}

function idsIn(field = 'id'): Format {
  const line = (value: unknown) => `${idOf(value, field)}\n`
  return { one: line, list: () => ({ rows: (values) => values.map(line).join(''), end: () => '' }) }
}

function idOf(value: unknown, field: string): string {
  const id = valueAt(value, field)
  if (typeof id === 'string' || typeof id === 'number') return visible(String(id))
  throw new UsageError('--quiet prints ids, and what the platform sent has none', { code: 'no_id' })
}

function narrowed(format: Format, columns: readonly string[] | null): Format {
  if (columns === null) return format
  const narrow = (value: unknown) => pick(value, columns)
  return {
    one: (value) => format.one(narrow(value)),
    list: () => {
      const encoder = format.list()
      return { rows: (values) => encoder.rows(values.map(narrow)), end: encoder.end }
    },
  }
}

function fieldsOf(sample: readonly unknown[], { fields }: Shape): string[] {
  return [
    ...new Set([...fields, ...sample.flatMap((value) => (isJsonObject(value) ? Object.keys(value) : []))]),
  ]
}

/** The same pages; fields that the first one does not have, and that no column is there for, are put into `late`. */
async function* watch(
  pages: AsyncIterable<readonly unknown[]>,
  shape: Shape,
  late: Set<string>,
): AsyncGenerator<readonly unknown[]> {
  let known: Set<string> | null = null
  for await (const rows of pages) {
    known ??= new Set(fieldsOf(rows, shape))
    for (const field of fieldsOf(rows, { ...shape, fields: [] })) if (!known.has(field)) late.add(field)
    yield rows
  }
}
