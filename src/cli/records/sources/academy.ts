import { readdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, relative, resolve, sep } from 'node:path'
import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../../codec/json-text.ts'
import { systemCode } from '../../../config/errors.ts'
import { suggestionText } from '../../../contract/validation-issues.ts'
import type { Context } from '../../command/context.ts'
import { columnsOf, withDays } from '../../dataset/column.ts'
import { isAboutPeople } from '../../dataset/dataset.ts'
import { reportToWorkflow } from '../../output/github.ts'
import { UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import type { Io } from '../../terminal/io.ts'
import {
  type PlacedDocument,
  pathText,
  readPlacedDocument,
  violationsIn,
} from '../../terminal/placed-document.ts'
import { problemsOf, problemText, readRows, shownProblem } from '../check-rows.ts'
import {
  countText,
  createProblems,
  type Declared,
  distinct,
  type Entry,
  loadPart,
  nameByKeys,
  type Part,
  type PartDataset,
  type Place,
  type Problems,
  parts,
  withMemberships,
} from '../entries.ts'
import { keyIn } from '../identity.ts'
import {
  formatVersion,
  GroupEntry,
  hasVariable,
  type PartName,
  partSchemas,
  type Variables,
  withVariables,
} from './academy-document.ts'
import { CourseDocument, recordsOf } from './course.ts'
import { openImportFile } from './file.ts'
import type { Row } from './rows.ts'

interface Reading {
  readonly io: Io
  readonly variables: Variables
  readonly problems: Problems
  readonly entries: Map<Part, Entry[]>
}

/**
 * Reads the files of an academy and validates them: their form, every record by its schema, and that each is declared
 * once. Throws a UsageError with every problem and its line.
 *
 * @param allowed the environment variables that the files may use
 */
export async function loadAcademy(
  io: Io,
  files: readonly string[],
  allowed: readonly string[],
): Promise<Declared> {
  const problems = createProblems()
  const reading = {
    io,
    problems,
    variables: { allowed: new Set(allowed), env: io.env },
    entries: new Map<Part, Entry[]>(),
  }
  for (const file of files) await readFile(reading, await readPlacedDocument(io, file))
  problems.throwIfAny()
  // Parts in the order in which they are written.
  const declared = new Map(
    parts.flatMap((part) =>
      reading.entries.has(part) ? [[part, reading.entries.get(part) ?? []] as const] : [],
    ),
  )
  const records = withMemberships(declared)
  await nameByKeys(records)
  const merged = distinct(records, problems)
  problems.throwIfAny()
  return merged
}

export async function printValid(
  { io, output, settings }: Context,
  files: readonly string[],
  declared: Declared,
): Promise<void> {
  const counts = Object.fromEntries([...declared].map(([part, entries]) => [part, entries.length]))
  const [first] = files
  const subject = files.length === 1 ? `${first} is` : `${pluralise(files.length, 'file')} are`
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value))
    await output.document({ valid: true, files: [...files], ...counts })
  else {
    const text = [...declared].map(([part, { length }]) => countText(part, length)).join(', ')
    await output.done(`${subject} valid: ${text || 'nothing declared'}`)
  }
  await reportToWorkflow(io, { title: `${subject} valid`, counts, list: [], more: 0 })
}

async function readFile(reading: Reading, document: PlacedDocument): Promise<void> {
  const { problems, variables } = reading
  const { name, value, lineOf } = document
  const at = (path: readonly PropertyKey[]): Place => ({ file: name, line: lineOf(path) })
  if (!isJsonObject(value)) return problems.add(at([]), 'must be an object with learnctl, courses, users, …')
  const { learnctl, ...sections } = value
  if (learnctl !== formatVersion) {
    const isCourse = learnctl === undefined && !Object.keys(sections).some(isPart) && 'title' in sections
    const found =
      learnctl === undefined
        ? `is required: add the line "learnctl: ${formatVersion}"`
        : `must be ${formatVersion}`
    return problems.add(
      at(['learnctl']),
      isCourse
        ? 'This is the file of one course: use "courses diff -f" or "courses apply -f"'
        : `learnctl ${found}, the version of the format`,
    )
  }
  for (const [part, content] of Object.entries(sections)) {
    if (!isPart(part)) {
      problems.add(
        at([part]),
        `${part} is not a known field${suggestionText(part, Object.keys(partSchemas))}`,
      )
      continue
    }
    const refused = new Set<string>()
    const filled = withVariables(content, variables, (path, message) => {
      const place = pathText([part, ...path])
      refused.add(place)
      problems.add(
        at([part, ...path]),
        `${place} ${message}`,
        `${pathText([part, ...path.slice(0, 1)])} ${message}`,
      )
    })
    await readPart(reading, part, { content, filled, refused, at })
  }
}

/** Part of one file, as written and with its variables replaced. */
interface Section {
  readonly content: unknown
  readonly filled: unknown
  /** Paths of texts whose variable cannot be replaced. */
  readonly refused: ReadonlySet<string>
  at(path: readonly PropertyKey[]): Place
}

async function readPart(
  reading: Reading,
  part: PartName,
  { content, filled, refused, at }: Section,
): Promise<void> {
  const { io, problems } = reading
  const dataset = await loadPart(part)
  const add = (name: Part, ...more: Entry[]) =>
    reading.entries.set(name, [...(reading.entries.get(name) ?? []), ...more])
  add(part)
  if (part === 'courses') add('lessons')
  const list = reading.entries.get(part) ?? []
  if (isJsonObject(filled) && part !== 'courses') {
    const { file, ...others } = filled
    if (typeof file !== 'string' || Object.keys(others).length > 0) {
      return problems.add(at([part]), `${part} must be a list, or name a table: {file: ${part}.csv}`)
    }
    for await (const { record, place } of readTable(io, tableOf(dataset), file, at([part]), problems)) {
      list.push(entryOf(part, record, place))
    }
    return
  }
  if (!Array.isArray(filled)) return problems.add(at([part]), `${part} must be a list`)
  for (const [index, item] of filled.entries()) {
    const path = [part, index]
    const place = at(path)
    const schema: z.ZodType = partSchemas[part]
    const value = withDays(schema, item)
    const parsed = schema.safeParse(value, { reportInput: true })
    if (!parsed.success) {
      for (const { path: inner, message, shown } of violationsIn(schema, parsed.error)) {
        const inside = pathText([...path, ...inner])
        if (refused.has(inside)) continue
        const whole = `${inside} ${message}`
        problems.add(at([...path, ...inner]), whole, isAboutPeople(dataset) ? `${part}: ${shown}` : whole)
      }
    } else if (part === 'courses') {
      const { course, lessons } = recordsOf(CourseDocument.parse(value))
      list.push(entryOf('courses', course, place))
      for (const lesson of lessons) reading.entries.get('lessons')?.push(entryOf('lessons', lesson, place))
    } else if (isJsonObject(value)) {
      const asWritten: unknown = Array.isArray(content) ? content[index] : undefined
      list.push(entryOf(part, value, place, isJsonObject(asWritten) ? asWritten['password'] : undefined))
    }
  }
}

/** Returns the dataset of a table beside a file: its groups list their members. */
function tableOf(dataset: PartDataset): PartDataset {
  return dataset.name === 'groups'
    ? { ...dataset, schema: GroupEntry, columns: columnsOf(GroupEntry) }
    : dataset
}

function isPart(name: string): name is PartName {
  return Object.hasOwn(partSchemas, name)
}

/** References are not resolved yet. */
function entryOf(dataset: Part, declared: JsonObject, place: Place, password?: unknown): Entry {
  const { managedBy, externalId, ...others } = declared
  const record = {
    ...(typeof externalId === 'string' && { externalId }),
    ...others,
    ...(typeof managedBy === 'string' && { managedBy }),
  }
  return {
    dataset,
    record,
    key: keyIn(dataset, record) ?? '',
    place,
    ...(typeof password === 'string' && hasVariable(password) && { password }),
  }
}

const usual = ['academy.yaml', 'academy.yml', 'academy.json', 'academy']

/** Files of a folder are sorted by name; default `academy.yaml`, `academy.json` or the folder `academy`. */
export async function findFiles({ cwd }: Io, given: readonly string[]): Promise<string[]> {
  if (given.length > 0) return (await Promise.all(given.map((path) => filesAt(cwd, path)))).flat()
  for (const path of usual) {
    const found = await stat(resolve(cwd, path)).catch(() => null)
    if (found) return filesAt(cwd, path)
  }
  throw new UsageError('No academy file found', {
    why: [`Looked for ${usual.join(', ')} in ${cwd}`],
    hint: 'Name the file or folder, or write one from an academy: learnctl dump --file academy.yaml',
  })
}

async function filesAt(cwd: string, path: string): Promise<string[]> {
  if (path === '-') return [path]
  const found = await stat(resolve(cwd, path)).catch((cause: unknown) => {
    const reason = systemCode(cause) === 'ENOENT' ? 'file not found' : (systemCode(cause) ?? String(cause))
    throw new UsageError(`Cannot read ${path}: ${reason}`, { cause })
  })
  if (!found.isDirectory()) return [path]
  const entries = await readdir(resolve(cwd, path), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => relative(resolve(cwd, path), join(entry.parentPath, entry.name)))
    .filter((file) => !file.split(sep).some((step) => step.startsWith('.')))
  if (files.length === 0) throw new UsageError(`${path} has no YAML or JSON files`)
  return files.sort().map((file) => join(path, file))
}

/**
 * Reads the rows of a table that a file names: CSV, JSON or JSONL, as imports do. The table must be in or below the
 * folder of the file, so that an academy file cannot expose other files.
 *
 * @param named where the name is written
 */
async function* readTable(
  io: Io,
  dataset: PartDataset,
  file: string,
  named: Place,
  problems: Problems,
): AsyncGenerator<Row & { readonly place: Place }> {
  const inside = normalize(file)
  if (isAbsolute(file) || inside === '..' || inside.startsWith(`..${sep}`)) {
    problems.add(
      named,
      `${dataset.name}.file must be in the folder of ${named.file} or below, not ${JSON.stringify(file)}`,
    )
    return
  }
  const path = named.file === 'Standard input' ? inside : join(dirname(named.file), inside)
  const table = await openImportFile(io, path, { encodingHint: 'Save it as UTF-8' })
  const { rows } = await readRows(table, dataset, {
    map: new Map(),
    delimiter: undefined,
    clearEmpty: false,
    // No durations: a declaration must mean the same every day.
    now: Number.NaN,
    dateFormat: null,
  })
  for await (const some of rows) {
    for (const row of some) {
      const place = { file: path, line: row.line }
      const found = problemsOf(dataset, row, { partial: false, isOurs: true })
      for (const problem of found) problems.add(place, problemText(problem), shownProblem(dataset, problem))
      if (found.length === 0) yield { ...row, place }
    }
  }
}
