import { createHash } from 'node:crypto'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { suggestionText } from '../../contract/validation-issues.ts'
import { csvHeader } from '../records/sources/csv.ts'
import {
  bytesOf,
  type ImportFile,
  inspectFile,
  openImportFile,
  zipSignature,
} from '../records/sources/file.ts'
import type { MappedTo } from '../records/sources/mapping.ts'
import type { PackedFile } from '../records/sources/zip.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { canvasRoles, canvasTables, readCanvas } from './canvas.ts'
import { kolibriRoles, kolibriTables, readKolibri } from './kolibri.ts'
import { moodleRoles, moodleTables, readMoodle } from './moodle.ts'
import { oneRosterRoles, readOneRoster } from './oneroster.ts'
import {
  isManifest,
  type Manifest,
  oneRosterTables,
  otherOneRosterFiles,
  readManifest,
} from './oneroster-tables.ts'
import { Reading, type RosterOptions } from './reading.ts'
import {
  academyRoles,
  formatNames,
  isRoleColumn,
  type Roster,
  RosterFindings,
  type RosterFormat,
  type RosterMode,
  type RosterPart,
  roleField,
  rosterFormats,
  rosterParts,
} from './roster.ts'
import { isShownBy, mappedHeader, type TableForm } from './table.ts'

export interface OpenRosterOptions extends RosterOptions {
  /** Null to find it by the headers. */
  readonly format: RosterFormat | null
  /** Writes the mapping to the file that `--save-mapping` names, once the roster has been read. */
  keepMapping?(): Promise<void>
}

interface HeadedFile {
  readonly file: ImportFile
  readonly header: readonly string[]
}

interface LeftOut {
  readonly file: string
  readonly why: string
  readonly value?: string
}

/**
 * Reads a folder, a zip file or a CSV file. Throws a UsageError if there is none, or if its format is unclear, with the
 * columns that were seen.
 */
export async function readRoster(
  io: Pick<Io, 'cwd' | 'signal' | 'stdin' | 'stderr'>,
  path: string,
  options: OpenRosterOptions,
): Promise<Roster> {
  const given = path === '-' ? 'standard input' : path
  const { map, delimiter } = options.mapping
  const { files, others } = await filesOf(io, path, options)
  const headed: HeadedFile[] = []
  const named = new Set<string>()
  for (const file of files) {
    const header = await csvHeader(file, delimiter)
    for (const name of header) named.add(name)
    headed.push({ file, header: mappedHeader(header, map) })
  }
  const manifestFile = headed.find(({ header }) => isManifest(header))
  const tables = headed.filter((each) => each !== manifestFile)
  const format = options.format ?? formatOf(given, tables, manifestFile !== undefined)
  const manifest = manifestFile && format === 'oneroster' ? await readManifest(manifestFile.file) : null
  const { used, leftOut } = sortFiles(format, tables, manifest)
  if (used.size === 0) {
    throw unknownColumns(given, format, tables)
  }
  for (const name of others)
    leftOut.push({ file: given, why: 'files that are no CSV are left out', value: name })
  for (const [name, column] of map) {
    if (column !== null && !named.has(name))
      leftOut.push({ file: given, why: 'columns of the mapping are in no file', value: name })
  }
  return readFiles(given, format, options, { used, leftOut, manifest })
}

async function filesOf(
  io: Pick<Io, 'cwd' | 'signal' | 'stdin' | 'stderr'>,
  given: string,
  { mapping: { charset } }: OpenRosterOptions,
): Promise<{ readonly files: readonly ImportFile[]; readonly others: readonly string[] }> {
  if (given === '-') return { files: [await openImportFile(io, given, { charset })], others: [] }
  const { files: packed, others } = await openPackage(io, given)
  const files: ImportFile[] = []
  for (const { name, bytes } of packed) {
    files.push(await inspectFile({ name, path: null, bytes }, { charset }))
  }
  return { files, others }
}

async function readFiles(
  name: string,
  format: RosterFormat,
  options: RosterOptions,
  { used, leftOut, manifest }: ReturnType<typeof sortFiles> & { readonly manifest: Manifest | null },
): Promise<Roster> {
  const { tables, more = {}, read } = formatReaders[format]
  const forms = tables.filter((form) => used.has(form.name))
  const deltas = new Set(tables.flatMap((form) => (manifest?.modeOf(form.name) === 'delta' ? form.name : [])))
  const modeOf = (table: string): RosterMode => (deltas.has(table) ? 'delta' : 'bulk')

  function hasPart(form: TableForm, part: RosterPart): boolean {
    if (form.part === part) return true
    const columns = more[form.name]?.[part]
    const headers = (used.get(form.name) ?? []).flatMap(({ header }) => header)
    return columns !== undefined && headers.some((column) => columns.test(column))
  }

  const files = forms.flatMap((form) =>
    (used.get(form.name) ?? []).map(({ file }) => ({ file, table: form.name, mode: modeOf(form.name) })),
  )
  const parts = rosterParts.filter((part) => forms.some((form) => hasPart(form, part)))
  const findings = new RosterFindings()
  for (const { file, why, value } of leftOut) findings.addLeniency(file, why, value)
  manifest?.check(findings, (table) => tables.every((form) => form.name !== table) || used.has(table))
  if (format === 'oneroster' && manifest === null) {
    findings.addLeniency(name, 'there is no manifest.csv; files are read as bulk')
  }
  const byTable = new Map([...used].map(([table, all]) => [table, all.map(({ file }) => file)]))
  const reading = new Reading(findings, options, byTable, (table) => deltas.has(table))
  await read(reading)
  return {
    ...{ name, format, title: formatNames[format], parts, ...reading.finish(parts) },
    version: manifest?.version ?? (format === 'oneroster' ? versionOf(used) : null),
    systemName: manifest?.systemName ?? null,
    files: files.map(({ file, ...more }) => ({ name: file.name, ...more })),
    hash: createHash('sha256')
      .update(files.map(({ file }) => `${file.name}\n${file.hash}\n`).join(''))
      .digest('hex'),
    mode: (part) => {
      // Classes, which follow courses, are the courses of an academy where there are any.
      const form = forms.findLast((each) => hasPart(each, part))
      return form ? modeOf(form.name) : 'bulk'
    },
  }
}

function sortFiles(format: RosterFormat, files: readonly HeadedFile[], manifest: Manifest | null) {
  const used = new Map<string, HeadedFile[]>()
  const leftOut: LeftOut[] = []
  for (const each of files) {
    const { name } = each.file
    const form = tableOf(format, each)
    if (form === null) {
      const isKnown = otherOneRosterFiles.some((other) => other.toLowerCase() === plainName(name))
      const known = format === 'oneroster' && isKnown
      const why = known ? 'an academy has no such records' : `it is no file of ${formatNames[format]}`
      leftOut.push({ file: name, why: `is left out: ${why}` })
    } else if (manifest?.modeOf(form.name) === 'absent') {
      leftOut.push({ file: name, why: 'is left out: manifest.csv marks it absent' })
    } else used.set(form.name, [...(used.get(form.name) ?? []), each])
  }
  return { used, leftOut }
}

/** Null without one. In OneRoster the header may overrule the name: some systems export roles as `userProfiles.csv`. */
function tableOf(format: RosterFormat, { file, header }: HeadedFile): TableForm | null {
  const { tables } = formatReaders[format]
  const shown = tables.filter((form) => isShownBy(form, header))
  if (format !== 'oneroster') return shown[0] ?? null
  const named = tables.find(({ name }) => name.toLowerCase() === plainName(file.name))
  if (named && (shown.includes(named) || shown.length === 0)) return named
  return shown[0] ?? null
}

/** `path` without folder and ending, in lower case. */
function plainName(path: string): string {
  const [, name = path] = /([^/\\]+?)(?:\.\w+)?(?:\.gz)?$/.exec(path) ?? []
  return name.toLowerCase()
}

/** Throws a UsageError if there is none, or several. */
function formatOf(given: string, files: readonly HeadedFile[], hasManifest: boolean): RosterFormat {
  if (hasManifest) return 'oneroster'
  const formats = rosterFormats.filter((format) =>
    files.some(({ header }) => formatReaders[format].tables.some((form) => isShownBy(form, header))),
  )
  const [format, ...others] = formats
  if (format === undefined) throw unclear(`Cannot tell the format of ${given}`, files)
  if (others.length === 0) return format
  throw unclear(`${given} may be ${formats.map((each) => formatNames[each]).join(' or ')}`, files)
}

const maxColumnsShown = 12

function unclear(message: string, files: readonly HeadedFile[]): UsageError {
  const map = '; columns with names of their own need --map "column in the file=column"'
  return new UsageError(message, {
    code: 'unknown_format',
    why: files.map(columnsText),
    hint: `Name the format: --format ${rosterFormats.join(', ')}${map}`,
  })
}

function unknownColumns(given: string, format: RosterFormat, files: readonly HeadedFile[]): UsageError {
  const { tables } = formatReaders[format]
  const needed = tables.flatMap(({ name, shownBy: [set] }) => (set ? `${name}: ${set.join(', ')}` : []))
  const [first = ''] = files[0]?.header ?? []
  return new UsageError(`${given} has no file of ${formatNames[format]}`, {
    code: 'unknown_format',
    why: [...files.map(columnsText), ...needed.map((text) => `${formatNames[format]} has ${text}`)],
    hint: `Give columns their names in the format: --map ${JSON.stringify(`${first}=${tables.at(-1)?.key[0] ?? 'column'}`)}`,
  })
}

function columnsText({ file, header }: HeadedFile): string {
  const more = header.length > maxColumnsShown ? ', …' : ''
  return `${file.name} has the columns ${header.slice(0, maxColumnsShown).join(', ')}${more}`
}

function versionOf(used: ReadonlyMap<string, readonly HeadedFile[]>): string | null {
  if (used.has('roles')) return '1.2'
  const columns = used.get('users')?.[0]?.header.map((name) => name.toLowerCase())
  return columns ? (columns.includes('role') ? '1.1' : '1.2') : null
}

async function openPackage(io: Pick<Io, 'cwd' | 'signal'>, given: string) {
  const path = resolve(io.cwd, given)
  const found = await stat(path).catch((cause: unknown) => {
    const reason = systemCode(cause) === 'ENOENT' ? 'file not found' : (systemCode(cause) ?? String(cause))
    throw new UsageError(`Cannot read ${given}: ${reason}`, { cause })
  })
  if (!found.isDirectory() && !(await isZip(path))) {
    return { files: [{ name: given, bytes: () => bytesOf(io, path, given) }], others: [] }
  }
  const { files, others } = found.isDirectory()
    ? await filesInFolder(io, path)
    : await (await import('../records/sources/zip.ts')).filesInZip(path, given, isTable)
  if (files.length === 0) {
    throw new UsageError(`${given} has no CSV files`, {
      code: 'empty_roster',
      ...(others.length > 0 && { why: [`It has ${others.slice(0, 10).join(', ')}`] }),
    })
  }
  return { files: withoutFolder(files), others }
}

/** False for hidden files and additions of macOS. */
function isTable(name: string): boolean {
  const steps = name.split('/')
  return /\.(csv|txt|tsv)$/i.test(name) && !steps.some((step) => step.startsWith('.') || step === '__MACOSX')
}

async function isZip(path: string): Promise<boolean> {
  // Spreadsheets are zip files, and are refused as spreadsheets.
  if (/\.(xlsx|xlsm|ods|numbers)$/i.test(path)) return false
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.toString('latin1', 0, bytesRead) === zipSignature || /\.zip$/i.test(path)
  } finally {
    await file.close()
  }
}

async function filesInFolder(io: Pick<Io, 'signal'>, folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
    .filter((name) => !/(^|\/)\.[^/]*\//.test(name))
    .sort()
  const { table = [], other = [] } = Object.groupBy(names, (name) => (isTable(name) ? 'table' : 'other'))
  await refuseLinksOut(folder, table)
  const files = table.map((name) => ({ name, bytes: () => bytesOf(io, join(folder, name), name) }))
  return { files, others: other }
}

/** Throws a UsageError for a link to a file outside of the folder: the folder may be from somebody else, and errors show cells. */
async function refuseLinksOut(folder: string, names: readonly string[]): Promise<void> {
  const root = await realpath(folder)
  for (const name of names) {
    // A link to nothing is refused when it is read.
    const target = await realpath(join(folder, name)).catch(() => null)
    if (target === null || target.startsWith(root + sep)) continue
    throw new UsageError(`${name} is a link to a file outside of ${folder}`, {
      code: 'link_out',
      hint: 'Put the file itself into the folder',
    })
  }
}

function withoutFolder(files: readonly PackedFile[]): readonly PackedFile[] {
  const folders = new Set(files.map(({ name }) => name.slice(0, name.length - basename(name).length)))
  const [folder = ''] = folders
  return folders.size > 1 ? files : files.map((file) => ({ ...file, name: file.name.slice(folder.length) }))
}

interface FormatReader {
  readonly tables: readonly TableForm[]
  readonly roles: readonly string[]
  /** Parts of a table besides its own, and the columns by which a file has them. */
  readonly more?: Readonly<Record<string, Partial<Record<RosterPart, RegExp>>>>
  read(reading: Reading): Promise<void>
}

export const formatReaders: Readonly<Record<RosterFormat, FormatReader>> = {
  oneroster: { tables: Object.values(oneRosterTables), roles: oneRosterRoles, read: readOneRoster },
  canvas: { tables: Object.values(canvasTables), roles: canvasRoles, read: readCanvas },
  moodle: {
    tables: Object.values(moodleTables),
    roles: moodleRoles,
    more: { users: { enrollments: /^course\d+$/i, groups: /^(group|cohort)\d+$/i } },
    read: readMoodle,
  },
  kolibri: {
    tables: Object.values(kolibriTables),
    roles: kolibriRoles,
    more: { users: { courses: /ENROLLED_IN|ASSIGNED_TO/i, enrollments: /ENROLLED_IN|ASSIGNED_TO/i } },
    read: readKolibri,
  },
}

const secrets = ['password', 'ssha_password']

/** Null for all formats. Paths are in lower case, as the formats ignore case. */
export function mappedColumns(format: RosterFormat | null): MappedTo {
  const readers = (format === null ? rosterFormats : [format]).map((name) => formatReaders[name])
  const forms = readers.flatMap(({ tables }) => tables)
  const columns = new Map(
    [roleField, ...forms.flatMap((form) => form.columns)].map((name) => [
      name.toLowerCase(),
      { name, path: name.toLowerCase(), secret: secrets.includes(name.toLowerCase()) },
    ]),
  )
  const roles = [...new Set([...Object.keys(academyRoles), ...readers.flatMap((reader) => reader.roles)])]
  // `role` stands for `role1`, `role2` and so on.
  const isNumbered = (path: string) =>
    forms.some(({ pattern }) => pattern?.test(path) || pattern?.test(`${path}1`))
  return {
    columns: [...columns.values()],
    fieldOf(name) {
      const path = name.toLowerCase()
      const letters = lettersIn(path)
      const alike = [...columns.values()].filter((column) => lettersIn(column.path) === letters)
      const found = columns.get(path) ?? (alike.length === 1 ? alike[0] : undefined)
      return found ?? (isNumbered(path) ? { name: path, path, secret: false } : undefined)
    },
    faultOf({ path }, meaning) {
      if (!isRoleColumn(path) || roles.some((role) => role.toLowerCase() === meaning.toLowerCase()))
        return null
      const choices = Object.keys(academyRoles).join(', ')
      return `must be ${choices} or a role of the format, not ${JSON.stringify(meaning)}${suggestionText(meaning, roles)}`
    },
  }
}

function lettersIn(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}
