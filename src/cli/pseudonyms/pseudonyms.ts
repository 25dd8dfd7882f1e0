import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { ancestorsOf, type ColumnType, type TableColumn, valueAt } from '../../tables/column.ts'
import { tables } from '../../tables/dictionary.ts'
import { UsageError } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'

/** Kinds of ids. Equal ids of two kinds have different pseudonyms. */
type IdKind = string

/**
 * Makes the pseudonyms of one key: HMAC-SHA-256 (RFC 2104) of the kind and the id, cut to 100 bits. Among ten million ids,
 * two have the same pseudonym with a probability of 4 in 10^17.
 */
export class Pseudonyms {
  /** Node reads a KeyObject six times as fast as bytes. */
  readonly #key: KeyObject
  readonly #cache = new Map<string, string>()

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** Returns the pseudonym of an id: 20 letters and digits. */
  of(kind: IdKind, id: string): string {
    const name = `${kind}\0${id}`
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    const made = base32(this.#digest(name).subarray(0, pseudonymBytes)).slice(0, pseudonymLength)
    if (this.#cache.size >= maxCached) this.#cache.clear()
    this.#cache.set(name, made)
    return made
  }

  /** Returns a UUID for an id that must be one (version 8, RFC 9562 §5.8). */
  uuidOf(kind: IdKind, id: string): string {
    const bytes = Buffer.from(this.#digest(`${kind}\0${id}`).subarray(0, 16))
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const hex = bytes.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** Returns a digest by which the key is recognised, and from which it cannot be found. */
  keyDigest(): string {
    return createHmac('sha256', this.#key).update('learnctl pseudonym key 1').digest('hex').slice(0, 32)
  }

  #digest(name: string): Buffer {
    return createHmac('sha256', this.#key).update(`learnctl pseudonym 1\0${name}`).digest()
  }
}

/** Rows about one person often follow each other. */
const maxCached = 50_000
const pseudonymLength = 20
/** 20 digits of 5 bits each need 13 bytes. */
const pseudonymBytes = 13
/** Base32 in lower case (RFC 4648 §6). */
const digits = 'abcdefghijklmnopqrstuvwxyz234567'

function base32(bytes: Buffer): string {
  let [text, bits, held] = ['', 0, 0]
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += digits.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return text
}

export type CoarseTime = 'day' | 'week' | 'month'

/** Returns the first day of the period that contains a time (UTC; weeks begin on Monday); null for what is no time. */
export function coarsened(time: unknown, to: CoarseTime): string | null {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (Number.isNaN(ms)) return null
  const day = new Date(ms)
  if (to === 'month') day.setUTCDate(1)
  if (to === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

export interface Pseudonymising {
  readonly pseudonyms: Pseudonyms
  /** Null keeps times as they are. */
  readonly times: CoarseTime | null
  /** 1 checks nothing. */
  readonly k: number
  readonly suppressSmall: boolean
}

export interface KeptColumn extends TableColumn {
  /** Null for other values. */
  readonly kind: string | null
}

/** Ids as pseudonyms, times, and values that identify no person. Other columns, also of other platforms, are dropped. */
export class PseudonymTable {
  readonly columns: readonly KeptColumn[]
  readonly dropped: ReadonlySet<string>
  readonly hasPeople: boolean
  readonly #how: Pseudonymising
  readonly #dropped = new Set<string>()
  readonly #known: ReadonlySet<string>

  /** @param source a table, or the operation that lists its rows */
  constructor(source: string | NamedColumns, how: Pseudonymising) {
    const table = typeof source === 'string' ? tables.find(({ operation }) => operation === source) : source
    if (!table) throw new TypeError(`no table of ${String(source)}`)
    this.#how = how
    // An object of known fields is known.
    this.#known = new Set(table.columns.flatMap(({ path }) => [path, ...ancestorsOf(path)]))
    this.columns = keptColumnsOf(table, how.times)
    const kept = new Set(this.columns.map(({ path }) => path))
    for (const { name, path } of table.columns) if (!kept.has(path)) this.#dropped.add(name)
    this.dropped = this.#dropped
    this.hasPeople = this.columns.some(({ kind }) => kind !== null)
  }

  valuesOf(record: unknown): unknown[] {
    for (const field of isJsonObject(record) ? Object.keys(record) : []) {
      if (!this.#known.has(field) && this.#dropped.size < maxDropped) this.#dropped.add(field)
    }
    return this.columns.map((column) => this.#valueOf(column, valueAt(record, column.path)))
  }

  #valueOf({ kind, privacy, type }: KeptColumn, value: unknown): unknown {
    if (value === null || value === undefined) return null
    if (kind !== null) return isScalar(value) ? this.#how.pseudonyms.of(kind, String(value)) : null
    if (privacy === 'time') return this.#timeOf(value)
    return isOfType(type, value) ? value : null
  }

  #timeOf(value: unknown): string | null {
    const { times } = this.#how
    if (times !== null) return coarsened(value, times)
    return coarsened(value, 'day') === null ? null : String(value)
  }

  placeOf({ path }: KeptColumn): number {
    return this.columns.findIndex((column) => column.path === path)
  }

  /** Columns that people could be recognised by, and their places in the values. */
  recognisable(columns: readonly KeptColumn[]) {
    const found = columns.filter(isRecognisable)
    return {
      columns: found.map(({ name }) => name),
      places: found.map((column) => this.placeOf(column)),
    }
  }

  personIn(values: readonly unknown[]): string {
    const place = Math.max(
      0,
      this.columns.findIndex(({ kind }) => kind === 'user'),
    )
    return String(values[place] ?? '')
  }
}

interface NamedColumns {
  readonly name: string
  readonly columns: readonly TableColumn[]
}

/** Times become days if they are reduced. */
export function keptColumnsOf({ name, columns }: NamedColumns, times: CoarseTime | null): KeptColumn[] {
  return columns
    .filter((column) => keptPrivacies.has(column.privacy) && !isOfProfile(column))
    .map((column) => {
      const kind = column.privacy === 'id' ? kindOf(name, column.path) : null
      const isCoarse = column.privacy === 'time' && times !== null
      return { ...column, kind, type: isCoarse ? 'date' : column.type }
    })
}

const maxDropped = 200
const keptPrivacies: ReadonlySet<TableColumn['privacy']> = new Set(['id', 'time', 'none'])

/** Settings of a profile, such as those of accessibility, tell much about a person and nothing about learning. */
function isOfProfile({ path }: TableColumn): boolean {
  return path.startsWith('profile.')
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'bigint'].includes(typeof value)
}

/** Other platforms may have anything in a column; numbers, for example, may have been written as text. */
export function isOfType(type: ColumnType, value: unknown): boolean {
  switch (type) {
    case 'integer':
    case 'number':
    case 'percent':
      return typeof value !== 'boolean' && isScalar(value) && Number.isFinite(Number(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'timestamp':
    case 'date':
      return coarsened(value, 'day') !== null
    default:
      return isScalar(value) || (Array.isArray(value) && value.every(isScalar))
  }
}

/** Courses, groups, states and times. */
function isRecognisable(column: KeptColumn): boolean {
  if (column.kind !== null) return false
  if (column.privacy === 'time') return true
  return column.type === 'string' && !/title|name|label|externalId$/i.test(column.path)
}

const kinds: Readonly<Record<string, string>> = {
  learnerId: 'user',
  userId: 'user',
  recordedBy: 'user',
  createdBy: 'user',
  'users.id': 'user',
  userExternalId: 'user external id',
  learnerExternalId: 'user external id',
  // Only external ids of users identify a person; those of courses and groups stay.
  externalId: 'user external id',
  'enrollments.id': 'enrolment',
  gradeId: 'grade',
  'grades.id': 'grade',
  'groups.members.id': 'membership',
  'groups.memberships.id': 'membership',
}

/** `leaf` is the last step of its path. */
export function kindOf(table: string, path: string, leaf = path): string {
  return kinds[`${table}.${path}`] ?? kinds[path] ?? kinds[`${table}.${leaf}`] ?? kinds[leaf] ?? path
}

/** Bytes of a new key, and the least that a key may have: as many as SHA-256 gives (RFC 2104 §3). */
const keyBytes = 32
const maxKeyBytes = 4096

export async function createPseudonymKey(cwd: string, file: string): Promise<void> {
  if (existsSync(resolve(cwd, file))) {
    throw new UsageError(`${file} already exists`, {
      why: ['Pseudonyms that were made with a key cannot be made again without it'],
      hint: 'Use it with --pseudonym-key, or choose another path',
    })
  }
  await writeTarget(cwd, file, [`${randomBytes(keyBytes).toString('base64url')}\n`], { mode: 0o600 })
}

/** Throws a UsageError for a missing, short, trivial or too large file, and for one that others can read. */
export function readPseudonymKey(cwd: string, file: string): Buffer {
  const make = `Create one with: learnctl analytics pseudonym-key --file ${shellWord(file)}`
  const refuse = (why: string, hint = make) => {
    return new UsageError(`Cannot use ${file} as the key of pseudonyms`, { why: [why], hint })
  }
  let descriptor: number | null = null
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer. Windows has no such flag.
    descriptor = openSync(resolve(cwd, file), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const { mode, size } = fstatSync(descriptor)
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refuse('It is not a regular file')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0')
      throw refuse(`Others can read it: its mode is ${shown}`, `Change it with: chmod 600 ${shellWord(file)}`)
    }
    if (size > maxKeyBytes) throw refuse(`It is larger than ${maxKeyBytes} bytes`)
    const bytes = Buffer.alloc(maxKeyBytes)
    const key = withoutLineEnd(bytes.subarray(0, readSync(descriptor, bytes, 0, maxKeyBytes, 0)))
    if (key.length < keyBytes) throw refuse(`It has ${key.length} bytes; a key has at least ${keyBytes}`)
    if (new Set(key).size < 8) throw refuse('It repeats a few bytes, so the key could be guessed')
    return key
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') throw refuse('The file does not exist')
    if (code === undefined || error instanceof UsageError) throw error
    throw refuse(code === 'EACCES' ? 'Permission denied' : `Cannot read it: ${code}`)
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const end = /\r?\n?$/.exec(bytes.toString('latin1'))?.[0].length ?? 0
  return bytes.subarray(0, bytes.length - end)
}
