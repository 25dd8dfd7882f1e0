import type { Settings } from '../config/settings.ts'
import { colourLevel, painter } from './colour.ts'
import { assertColumns, isRecord, pathsIn, pick, valueAt } from './columns.ts'
import { UsageError } from './errors.ts'
import type { Format, ListEncoder } from './formats/format.ts'
import { type Io, say, write } from './io.ts'
import { visible } from './visible.ts'

/** What is known about a result before it is there: it orders columns, and tells which names are valid. */
export interface Shape {
  /** The columns of a table unless others are chosen. */
  readonly table: readonly string[]
  /** The top-level fields, in order: the columns of a CSV. */
  readonly fields: readonly string[]
  /** Every path that `--columns` may name. */
  readonly paths: readonly string[]
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
  const chosen = settings.columns.value
  const quiet = settings.quiet.value

  /** The format for values of which a sample is there, so that fields nobody declared are shown, too. */
  async function formatFor(sample: readonly unknown[], shape: Shape): Promise<Format> {
    const seen = [...new Set([...shape.paths, ...sample.flatMap(pathsIn)])]
    if (chosen) assertColumns(chosen, seen)
    if (quiet) return ids
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
    choose: (rows: readonly unknown[]) => Promise<Format>,
  ): Promise<void> {
    let encoder: ListEncoder | null = null
    let empty = true
    for await (const rows of pages) {
      encoder ??= (await choose(rows)).list()
      empty &&= rows.length === 0
      await write(io.stdout, encoder.rows(rows))
    }
    encoder ??= (await choose([])).list()
    await write(io.stdout, encoder.end())
    if (empty && io.stderr.isTTY && !quiet) await say(io, 'note: nothing found\n')
  }

  return {
    one: async (value, shape) => {
      await write(io.stdout, (await formatFor([value], shape)).one(value))
    },
    list: (pages, shape) => printPages(pages, (rows) => formatFor(rows, shape)),
    documents: (pages) => {
      const shown = quiet || chosen !== null || format === 'csv'
      const unknown = { table: chosen ?? [], fields: [], paths: [] }
      return printPages(pages, (rows) => (shown ? formatFor(rows, unknown) : documentFormat(format)))
    },
    document: async (value) => {
      await write(io.stdout, (await documentFormat(format)).one(value))
    },
    text: (text) => write(io.stdout, text),
    note: (text) => say(io, `note: ${text}\n`),
    check: (shape, open) => {
      if (quiet && !shape.paths.includes('id')) {
        throw new UsageError('--quiet prints ids, and nothing here has one', { code: 'no_id' })
      }
      if (chosen && !quiet && !open) assertColumns(chosen, shape.paths)
    },
  }
}

async function documentFormat(format: string): Promise<Format> {
  if (format === 'yaml') return (await import('./formats/yaml.ts')).loadYaml()
  const { json, jsonLines } = await import('./formats/json.ts')
  return format === 'jsonl' ? jsonLines : json
}

const ids: Format = {
  one: (value) => `${idOf(value)}\n`,
  list: () => ({ rows: (values) => values.map((value) => `${idOf(value)}\n`).join(''), end: () => '' }),
}

function idOf(value: unknown): string {
  const id = valueAt(value, 'id')
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
  return [...new Set([...fields, ...sample.flatMap((value) => (isRecord(value) ? Object.keys(value) : []))])]
}
