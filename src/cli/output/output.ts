import { idOf, placeOf } from '../../client/foreign/record.ts'
import { visible, visibleDocument } from '../../codec/visible.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import { painterFor } from '../terminal/colour.ts'
import { UsageError } from '../terminal/errors.ts'
import { exactText } from '../terminal/exact-text.ts'
import { fitted, type Io, note, say, write } from '../terminal/io.ts'
import {
  ancestorsOf,
  type Column,
  labelled,
  leavesOf,
  pathMeant,
  pathsIn,
  pathsMeant,
  pick,
} from './columns.ts'
import { type Format, hiddenNote, type ListEncoder, narrowed } from './formats/format.ts'

/** What is known about a result before it is there: it orders columns, and tells which names are valid. */
export interface Shape {
  /** The columns of a table unless others are chosen. */
  readonly table: readonly string[]
  /** Every path that `--columns` may name, objects before what is in them. Those that end there are a CSV's columns. */
  readonly paths: readonly string[]
  /** The field that `--quiet` prints; `id` unless told otherwise. */
  readonly identifier?: string | undefined
  /** What the things are, such as `course`: their id may be called after it. */
  readonly noun?: string | undefined
}

/** The rows of a list, a page after the other. */
export type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>

/** The place where results are printed, in the format that was asked for. */
export interface Output {
  /** One resource. */
  one(value: unknown, shape: Shape): Promise<void>
  /** A list as one document, page by page, in constant memory. Rows that are all there are one page: `[rows]`. */
  list(pages: Pages, shape: Shape): Promise<void>
  /** A value as a whole, in JSON or YAML, whatever columns are chosen. */
  document(value: unknown): Promise<void>
  /** A list of values of which nothing is known beforehand: in JSON unless another format is asked for. */
  documents(pages: Pages): Promise<void>
  /** Text that this program wrote, as it stands. */
  text(text: string): Promise<void>
  /** What others wrote, as it stands; a terminal shows its control characters escaped. */
  exact(pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<void>
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

/**
 * The output of a run: format, columns and quietness by its settings. `mask` takes the run's credentials out of what a
 * terminal shows and out of notes: a platform may send back what it was sent. Pipes and files get every byte.
 */
export function createOutput(io: Io, settings: Settings, mask: (text: string) => string): Output {
  const format = settings.output.value
  const quiet = settings.quiet.value

  /**
   * The columns that were asked for; null for the usual ones. Names mean declared paths before those that a sample has
   * besides. Throws a UsageError on names that mean none, or several.
   */
  function choose(declared: readonly string[], valid = declared): readonly Column[] | null {
    const { value, origin } = settings.columns
    if (value === null || quiet) return null
    const scope = (name: string) => (pathsMeant(name, declared).length === 1 ? declared : valid)
    if (origin.source !== 'project') {
      return value.map((label) => ({ label, path: pathMeant(label, scope(label)) }))
    }
    // A project's file speaks for all commands at once: of its columns each takes those that it has.
    const fitting = value.flatMap((label) => {
      const [path, ...others] = pathsMeant(label, scope(label))
      return path === undefined || others.length > 0 ? [] : [{ label, path }]
    })
    return fitting.length > 0 ? fitting : null
  }

  /** The format for values of which a sample is there, so that fields nobody declared are shown, too. */
  async function formatFor(sample: readonly unknown[], shape: Shape): Promise<Format> {
    if (quiet) return idsIn(shape)
    const named = (columns: readonly Column[]) => columns.map((column) => ({ ...column, noun: shape.noun }))
    const asked = choose(shape.paths, [...new Set([...shape.paths, ...sample.flatMap(pathsIn)])])
    const chosen = asked && named(asked)
    switch (format) {
      case 'json':
      case 'jsonl':
      case 'yaml':
        return reduced(await documentFormat(format), chosen)
      case 'csv': {
        const fields = fieldsOf(sample, shape)
        return (await import('./formats/csv.ts')).csv(chosen ?? named(labelled(fields, fields)))
      }
      case 'table': {
        const columns = chosen ?? named(labelled(shape.table, shape.paths))
        if (!io.stdout.isTTY) return (await import('./formats/tsv.ts')).tsv(columns)
        const chalk = await painterFor(io.stdout, io, settings)
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

  function print({ drawn }: Format, text: string): Promise<void> {
    if (!io.stdout.isTTY) return write(io.stdout, text)
    return write(io.stdout, mask(drawn ? text : visibleDocument(text)))
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
    const hidden = hiddenNote(encoder)
    if (hidden !== null) await note(io, hidden)
  }

  return {
    one: async (value, shape) => {
      const chosen = await formatFor([value], shape)
      await print(chosen, chosen.one(value))
    },
    list: async (pages, shape) => {
      const late = new Set<string>()
      const watched = format === 'csv' ? watch(pages, shape, late) : pages
      await printPages(watched, (rows) => formatFor(rows, shape))
      if (late.size === 0 || quiet || settings.columns.value) return
      await note(
        io,
        `Later items have fields that are missing from this CSV: ${[...late].join(', ')}; use --columns or -o json`,
      )
    },
    documents: (pages) => {
      const { value: chosen } = settings.columns
      const shown = quiet || chosen !== null || format === 'csv'
      const unknown = { table: chosen ?? [], paths: [] }
      return printPages(pages, (rows) => (shown ? formatFor(rows, unknown) : documentFormat(format)))
    },
    document: async (value) => {
      const document = await documentFormat(format)
      await print(document, document.one(value))
    },
    text: (text) => write(io.stdout, text),
    exact: async (pieces) => {
      const out = exactText(io.stdout, mask)
      for await (const piece of pieces) await out.write(piece)
      await out.end()
    },
    done: async (text) => {
      if (!quiet) await say(io, `${fitted(io, mask(visible(text)))}\n`)
    },
    note: (text) => note(io, mask(text)),
    check: (shape, open) => {
      if (quiet && !shape.paths.includes(shape.identifier ?? 'id')) {
        throw noId()
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

function idsIn({ noun = '', identifier }: Shape): Format {
  const line = (value: unknown) => {
    const id = idOf(value, noun, identifier)
    if (id === null) throw noId()
    return `${visible(id)}\n`
  }
  return { one: line, list: () => ({ rows: (values) => values.map(line).join(''), end: () => '' }) }
}

function noId(): UsageError {
  return new UsageError('--quiet is not supported here: the result has no id', { code: 'no_id' })
}

function reduced(format: Format, columns: readonly Column[] | null): Format {
  if (columns === null) return format
  return { one: (value) => format.one(pick(value, columns)), list: () => narrowed(format.list(), columns) }
}

/** The columns of a CSV: what is declared, then what a sample has beside it. What is declared as one is one cell. */
function fieldsOf(sample: readonly unknown[], shape: Pick<Shape, 'paths' | 'noun'>): string[] {
  const declared = leavesOf(shape.paths)
  const cells = new Set([...declared, ...placesOf(sample, shape)])
  const others = new Set(sample.flatMap(pathsIn))
  return leavesOf([...declared, ...[...others].filter((path) => !inside(path, cells))])
}

/** Where the values of declared fields stand in a sample, by the names that the platform gives them. */
function placesOf(sample: readonly unknown[], { paths, noun }: Pick<Shape, 'paths' | 'noun'>): string[] {
  const declared = leavesOf(paths)
  return sample.flatMap((value) => declared.map((path) => placeOf(value, path, noun)?.join('.') ?? path))
}

/** True for a path that one of `cells` holds. */
function inside(path: string, cells: ReadonlySet<string>): boolean {
  return cells.has(path) || ancestorsOf(path).some((above) => cells.has(above))
}

/** The same pages; fields that the first one does not have, and that no column is there for, are put into `late`. */
async function* watch(pages: Pages, shape: Shape, late: Set<string>): AsyncGenerator<readonly unknown[]> {
  let known: Set<string> | null = null
  for await (const rows of pages) {
    known ??= new Set([...fieldsOf(rows, shape), ...placesOf(rows, shape)])
    for (const field of fieldsOf(rows, { paths: [] })) if (!inside(field, known)) late.add(field)
    yield rows
  }
}
