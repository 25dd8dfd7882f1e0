import { escapeHidden, escapeHiddenInDocument } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import { type BinaryFormat, isBinaryFormat } from '../../config/setting.ts'
import type { EncodedColumn } from '../../tables/column.ts'
import { ancestorsOf, labelColumns, leavesOf, valueAt } from '../../tables/column.ts'
import { UsageError } from '../terminal/errors.ts'
import { createPainterFor } from '../terminal/format-text.ts'
import { createExactWriter, type Io, note, wrapLine, write, writeStderr } from '../terminal/io.ts'
import { type Column, matchingPaths, pathsIn, pick, resolvePath } from './columns.ts'
import {
  type BinaryEncoder,
  type Format,
  hiddenNotes,
  type ListEncoder,
  reduceColumns,
} from './formats/format.ts'

/** Known before the result: it orders columns and decides which names are valid. */
export interface Shape {
  readonly table: readonly string[]
  /** All paths that `--columns` accepts, objects before their fields. The leaves are the columns of a CSV. */
  readonly paths: readonly string[]
  /** The field that `--quiet` prints; default `id`. */
  readonly identifier?: string | undefined
  /** Character between the cells of CSV (default a comma). */
  readonly delimiter?: string | undefined
  /** Operation that lists such results, whose types are in the data dictionary. */
  readonly operation?: string | undefined
  /** Types and meanings of columns that the data dictionary lacks. */
  readonly described?: readonly EncodedColumn[]
}

type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>

export interface Output {
  one(value: unknown, shape: Shape): Promise<void>
  /**
   * Prints a list as one document, page by page, in constant memory. A complete list is one page: `[rows]`.
   */
  list(pages: Pages, shape: Shape): Promise<void>
  /**
   * Prints a whole value as JSON or YAML, with iterable members of an object as lists; ignores columns. Prints nothing with
   * --quiet, except in a dry run.
   */
  document(value: unknown): Promise<void>
  /** Values of unknown shape: JSON unless another format is chosen. */
  documents(pages: Pages): Promise<void>
  text(text: string): Promise<void>
  /** Prints foreign text unchanged; escapes its control characters on a terminal. */
  exact(pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<void>
  done(text: string): Promise<void>
  note(text: string): Promise<void>
  /**
   * Throws a UsageError before anything is sent. `open` checks columns later, because another platform may have more
   * fields; with `write`, a result without an id prints nothing under --quiet.
   */
  check(shape: Shape, use?: 'open' | 'write'): void
}

/** `mask` acts on notes and terminals: a platform may return what it received. Pipes and files get every byte. */
export function createOutput(io: Io, settings: Settings, mask: (text: string) => string): Output {
  const format = settings.output.value
  const quiet = settings.quiet.value

  function print({ drawn }: Format, text: string): Promise<void> {
    if (!io.stdout.isTTY) return write(io.stdout, text)
    return write(io.stdout, mask(drawn ? text : escapeHiddenInDocument(text)))
  }

  async function printPages(
    pages: Pages,
    open: (rows: readonly unknown[]) => Promise<Format>,
  ): Promise<void> {
    let format: Format | null = null
    let encoder: ListEncoder | null = null
    let empty = true
    for await (const rows of pages) {
      format ??= await open(rows)
      encoder ??= format.list()
      empty &&= rows.length === 0
      await print(format, encoder.rows(rows))
    }
    format ??= await open([])
    encoder ??= format.list()
    await print(format, encoder.end())
    if (empty && io.stderr.isTTY && !quiet) await note(io, 'No results')
    for (const text of hiddenNotes(encoder)) await note(io, text)
  }

  async function printTables(binary: BinaryFormat, pages: Pages, shape: Shape): Promise<void> {
    const { loadTableEncoder, typeColumns } = await import('./formats/format.ts')
    const open = async (sample: readonly unknown[]) => {
      const columns = cellColumns(settings, sample, shape)
      return loadTableEncoder(binary, await typeColumns(columns, shape.operation, shape.described))
    }
    let encoder: BinaryEncoder | null = null
    for await (const rows of pages) {
      encoder ??= await open(rows)
      await write(io.stdout, await encoder.rows(rows))
    }
    encoder ??= await open([])
    await write(io.stdout, await encoder.end())
  }

  return {
    one: async (value, shape) => {
      if (isBinaryFormat(format) && !quiet) return printTables(format, [[value]], shape)
      const chosen = await loadFormat(io, settings, [value], shape)
      await print(chosen, chosen.one(value))
    },
    list: async (pages, shape) => {
      const late = new Set<string>()
      const isBinary = isBinaryFormat(format) && !quiet
      const watched = format === 'csv' || isBinary ? collectLateFields(pages, shape, late) : pages
      if (isBinary) await printTables(format, watched, shape)
      else await printPages(watched, (rows) => loadFormat(io, settings, rows, shape))
      if (late.size === 0 || quiet || settings.columns.value) return
      await note(
        io,
        `Later items have fields that are missing from this ${format === 'csv' ? 'CSV' : 'file'}: ${[...late].join(', ')}; use --columns or -o json`,
      )
    },
    documents: (pages) => {
      const { value: chosen } = settings.columns
      const shown = quiet || chosen !== null || format === 'csv'
      const unknown = { table: chosen ?? [], paths: [] }
      return printPages(pages, (rows) =>
        shown ? loadFormat(io, settings, rows, unknown) : documentFormat(format),
      )
    },
    document: async (value) => {
      if (printsIds(settings)) return
      const document = await documentFormat(format)
      const pieces = isJsonObject(value) ? document.pieces?.(value) : undefined
      for (const piece of pieces ?? [document.one(value)]) await print(document, piece)
    },
    text: (text) => write(io.stdout, text),
    exact: async (pieces) => {
      const out = createExactWriter(io.stdout, mask)
      for await (const piece of pieces) await out.write(piece)
      await out.end()
    },
    done: async (text) => {
      if (!quiet) await writeStderr(io, `${wrapLine(io, mask(escapeHidden(text)))}\n`)
    },
    note: (text) => note(io, mask(text)),
    check: (shape, use) => {
      if (printsIds(settings) && use !== 'write' && !shape.paths.includes(shape.identifier ?? 'id')) {
        throw noId()
      }
      if (use !== 'open') chosenColumns(settings, shape.paths)
    },
  }
}

/** Null for the default ones. Declared paths come before those of a sample. Throws a UsageError unless one matches. */
function chosenColumns(
  { columns: { value, origin }, quiet }: Settings,
  declared: readonly string[],
  valid = declared,
): readonly Column[] | null {
  if (value === null || quiet.value) return null
  const scope = (name: string) => (matchingPaths(name, declared).length === 1 ? declared : valid)
  if (origin.source !== 'project') {
    return value.map((label) => ({ label, path: resolvePath(label, scope(label)) }))
  }
  // The project file applies to all commands: each uses the columns that it has.
  const fitting = value.flatMap((label) => {
    const [path, ...others] = matchingPaths(label, scope(label))
    return path === undefined || others.length > 0 ? [] : [{ label, path }]
  })
  return fitting.length > 0 ? fitting : null
}

/** Returns the chosen columns, which may be undeclared fields of a sample; null for the default ones. */
function chosenForSample(
  settings: Settings,
  sample: readonly unknown[],
  { paths }: Shape,
): readonly Column[] | null {
  if (settings.columns.value === null) return null
  return chosenColumns(settings, paths, [...new Set([...paths, ...pathsIn(sample)])])
}

function wholeColumns(sample: readonly unknown[], shape: Shape): readonly Column[] {
  const fields = columnsInRows(sample, shape)
  return labelColumns(fields, fields)
}

/** Throws a UsageError on unknown names. */
export function cellColumns(settings: Settings, sample: readonly unknown[], shape: Shape): readonly Column[] {
  return chosenForSample(settings, sample, shape) ?? wholeColumns(sample, shape)
}

/** A dry run shows what would happen, not ids. */
function printsIds({ quiet, dryRun }: Pick<Settings, 'quiet' | 'dryRun'>): boolean {
  return quiet.value && !dryRun.value
}

async function loadFormat(
  io: Io,
  settings: Settings,
  sample: readonly unknown[],
  shape: Shape,
): Promise<Format> {
  if (printsIds(settings)) return idFormat(shape)
  const format = settings.output.value
  const chosen = chosenForSample(settings, sample, shape)
  switch (format) {
    case 'parquet':
    case 'xlsx':
      throw new TypeError(`${format} has no text`)
    case 'json':
    case 'jsonl':
    case 'yaml':
      return reduceFormat(await documentFormat(format), chosen)
    case 'csv': {
      const columns = chosen ?? wholeColumns(sample, shape)
      return (await import('./formats/delimited.ts')).csv(columns, false, shape.delimiter)
    }
    case 'table': {
      const columns = chosen ?? labelColumns(shape.table, shape.paths)
      if (!io.stdout.isTTY) return (await import('./formats/delimited.ts')).tsv(columns)
      const chalk = await createPainterFor(io.stdout, io, settings)
      const width = io.stdout.columns ?? 80
      const { loadTable } = await import('./formats/table.ts')
      return loadTable({ columns, chosen: chosen !== null, width, chalk })
    }
  }
}

async function documentFormat(format: string): Promise<Format> {
  if (format === 'yaml') return (await import('./formats/documents.ts')).loadYaml()
  const { json, jsonLines } = await import('./formats/documents.ts')
  return format === 'jsonl' ? jsonLines : json
}

function idFormat({ identifier = 'id' }: Shape): Format {
  const line = (value: unknown) => {
    const id = valueAt(value, identifier)
    if (id === undefined || id === null || id === '' || typeof id === 'object') throw noId()
    return `${escapeHidden(String(id))}\n`
  }
  return { one: line, list: () => ({ rows: (values) => values.map(line).join(''), end: () => '' }) }
}

function noId(): UsageError {
  return new UsageError('--quiet is not supported here: the result has no id', { code: 'no_id' })
}

function reduceFormat(format: Format, columns: readonly Column[] | null): Format {
  if (columns === null) return format
  return {
    one: (value) => format.one(pick(value, columns)),
    list: () => reduceColumns(format.list(), columns),
  }
}

/**
 * Returns the columns of rows in a CSV: the declared fields, then others of a sample. A declared object is one cell.
 */
export function columnsInRows(sample: readonly unknown[], shape: Pick<Shape, 'paths'>): string[] {
  const declared = leavesOf(shape.paths)
  const cells = new Set(declared)
  return leavesOf([...declared, ...pathsIn(sample).filter((path) => !isInside(path, cells))])
}

function isInside(path: string, cells: ReadonlySet<string>): boolean {
  return cells.has(path) || ancestorsOf(path).some((above) => cells.has(above))
}

/** Passes pages through and adds fields to `late` that the first page does not have and no column shows. */
async function* collectLateFields(
  pages: Pages,
  shape: Shape,
  late: Set<string>,
): AsyncGenerator<readonly unknown[]> {
  let known: Set<string> | null = null
  for await (const rows of pages) {
    known ??= new Set(columnsInRows(rows, shape))
    for (const field of columnsInRows(rows, { paths: [] })) if (!isInside(field, known)) late.add(field)
    yield rows
  }
}

/** The project file does not count, because it applies to all commands. */
export function hasChosenColumns({ columns }: Pick<Settings, 'columns'>): boolean {
  return ['flag', 'environment'].includes(columns.origin.source)
}

/** False means a line about the change instead of the record. */
export function hasChosenForm(settings: Pick<Settings, 'output' | 'columns' | 'quiet'>): boolean {
  return settings.output.origin.source !== 'default' || hasChosenColumns(settings) || settings.quiet.value
}

export function shapeOfValue(value: unknown, table: readonly string[]): Shape {
  return { table, paths: pathsIn([value]) }
}
