import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import { systemCode } from '../../../config/errors.ts'
import { UsageError } from '../../terminal/errors.ts'
import type { Io } from '../../terminal/io.ts'

export const importFormats = ['csv', 'tsv', 'json', 'jsonl'] as const
export type ImportFormat = (typeof importFormats)[number]

export interface Place {
  readonly line: number
  /** Set where a line has several records. */
  readonly column?: string
}

/** Read several times: to detect its format, to check it, and to send it. */
export interface ImportFile {
  /** `users.csv`, or `standard input`. */
  readonly name: string
  /** Absolute; null for standard input. */
  readonly path: string | null
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly hash: string
  /** Standard name of the encoding, such as `utf-8`. */
  readonly charset: string
  /** True with the byte order mark of UTF-8. */
  readonly isMarked: boolean
  readonly format: ImportFormat
  /** Returns the place of the record on a line of the text, if the text was made from another file. */
  readonly placeOf?: (line: number) => Place
  /** Reads from the beginning. */
  text(): AsyncIterable<string>
}

interface ImportFileOptions {
  readonly charset?: string | undefined
  readonly format?: ImportFormat | undefined
  readonly delimiter?: string | undefined
  /** Name or number, of a workbook. */
  readonly sheet?: string | undefined
  /** Default: name it with `--encoding`. */
  readonly encodingHint?: string
}

/** Limit of standard input, which is buffered to be read several times. */
const maximumInputBytes = 256 * 1024 * 1024
const lineBreak = 0x0a
export const zipSignature = 'PK\x03\x04'
const formatOfEnding: ReadonlyMap<string, ImportFormat> = new Map([
  ['csv', 'csv'],
  ['txt', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
])

/** `-` is standard input, `.gz` is decompressed, `.xlsx` is a workbook. Throws a UsageError for a file that cannot be read. */
export async function openImportFile(
  io: Pick<Io, 'cwd' | 'stdin' | 'signal' | 'stderr'>,
  given: string,
  options: ImportFileOptions = {},
): Promise<ImportFile> {
  const path = given === '-' ? null : resolve(io.cwd, given)
  const { sheet, charset, delimiter, format = 'csv' } = options
  if (path !== null && /\.xlsx$/i.test(path)) {
    if (charset !== undefined || delimiter !== undefined || format !== 'csv') {
      throw new UsageError('--format, --delimiter and --encoding are about text files, not about workbooks')
    }
    const { readWorkbook } = await import('./workbook.ts')
    const { text, rows } = await readWorkbook(io, { name: given, path, sheet })
    const bytes = () => oneByOne(Buffer.from(text))
    const file = await inspectFile({ name: given, path, bytes }, { format: 'csv', charset: 'utf-8' })
    return { ...file, placeOf: (line) => ({ line: rows[line - 1] ?? line }) }
  }
  if (sheet !== undefined) throw new UsageError('--sheet is about XLSX workbooks')
  const name = path === null ? 'standard input' : given
  const kept = path === null ? await readAll(io) : null
  const bytes = () => (kept ? oneByOne(kept) : bytesOf(io, path ?? '', given))
  return inspectFile({ name, path, bytes }, options)
}

/** Throws a UsageError if the file is empty or has an unknown encoding or format. */
export async function inspectFile(
  { name, path, bytes }: Pick<ImportFile, 'name' | 'path'> & { bytes(): AsyncIterable<Uint8Array> },
  options: ImportFileOptions = {},
): Promise<ImportFile> {
  const hash = createHash('sha256')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  let sample = Buffer.alloc(0)
  const decode = (piece?: Uint8Array) => {
    try {
      if (isUtf8) decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      isUtf8 = false
    }
  }
  for await (const piece of bytes()) {
    hash.update(piece)
    decode(piece)
    if (sample.length < sampleBytes) sample = Buffer.concat([sample, piece.subarray(0, sampleBytes)])
  }
  decode()
  const found = wideIn(sample) ?? (isUtf8 ? 'utf-8' : null)
  const charset =
    // `utf-16` names no byte order: take the one that the bytes show.
    options.charset === 'utf-16le' && found === 'utf-16be' ? found : (options.charset ?? found)
  const format = options.format ?? formatOf(name, sample)
  if (sample.toString('latin1', 0, zipSignature.length) === zipSignature) throw zipped(name, path)
  const known = charset ?? (await assumedCharset(bytes(), name, options.encodingHint ?? encodingHint))
  // An empty JSONL file is valid and has no records; other formats need some characters to say that.
  if (sample.length === 0 && format !== 'jsonl') throw new UsageError(`${sentence(name)} is empty`)
  return {
    name,
    path,
    hash: hash.digest('hex'),
    charset: known,
    isMarked: sample.subarray(0, 3).toString('hex') === 'efbbbf',
    format,
    text: () => textOf(bytes(), known, name),
  }
}

/** Assumes Windows-1252, in which every byte is a character. Throws a UsageError if the bytes show another encoding. */
async function assumedCharset(bytes: AsyncIterable<Uint8Array>, name: string, hint: string): Promise<string> {
  let line = 1
  for await (const piece of bytes) {
    for (const byte of piece) {
      if (byte === lineBreak) line += 1
      if (byte < 0x80 || byte > 0x9f || usualBytes.has(byte)) continue
      const hex = `0x${byte.toString(16).toUpperCase()}`
      throw new UsageError(`Cannot tell the encoding of ${name}: it is not UTF-8`, {
        code: 'unknown_encoding',
        why: [`Line ${line} has the byte ${hex}, which text in Windows-1252 rarely has`],
        hint,
      })
    }
  }
  return 'windows-1252'
}

/** Decodes the bytes of a file without the byte order mark. Throws a UsageError if they are not in its encoding. */
async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  charset: string,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  try {
    for await (const piece of bytes) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new UsageError(`Cannot read ${name}: it is not ${charset}`, {
      code: 'invalid_encoding',
      cause,
      hint: encodingHint,
    })
  }
}

function zipped(name: string, path: string | null): UsageError {
  return new UsageError(`Cannot read ${name}: it is a zip file`, {
    hint:
      path === null
        ? 'Standard input takes a single CSV file: name the zip file or its folder instead'
        : 'Extract it, and import its files',
  })
}

const encodingHint = 'Name its encoding: --encoding shift_jis, macintosh, windows-1252, utf-16, …'

function formatOf(name: string, start: Buffer): ImportFormat {
  const [, ending = ''] = /\.(\w+)(?:\.gz)?$/i.exec(basename(name)) ?? []
  if (/^(xlsx?|xlsb|ods|numbers)$/i.test(ending)) {
    // Imports read XLSX before this is asked.
    throw new UsageError(`Cannot read ${name}: spreadsheets are not supported`, {
      hint: `Save it as CSV (UTF-8)${/^xlsx$/i.test(ending) ? '' : ' or XLSX'} and import that file`,
    })
  }
  const known = formatOfEnding.get(ending.toLowerCase())
  if (known) return known
  const text = start
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  if (text.startsWith('[')) return 'json'
  return text.startsWith('{') ? 'jsonl' : 'csv'
}

/** Reads a file, decompressed if its name ends in `.gz`. Throws a UsageError if it cannot be read. */
export async function* bytesOf(
  { signal }: Pick<Io, 'signal'>,
  path: string,
  given: string,
): AsyncGenerator<Uint8Array> {
  try {
    const file = createReadStream(path, { signal, highWaterMark: 256 * 1024 })
    if (!/\.gz$/i.test(path)) return yield* file
    const { createGunzip } = await import('node:zlib')
    const gunzip = createGunzip()
    file.on('error', (error) => gunzip.destroy(error))
    yield* file.pipe(gunzip)
  } catch (error) {
    signal.throwIfAborted()
    const code = systemCode(error)
    if (code === undefined) throw error
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'file not found',
      EISDIR: 'it is a directory',
      EACCES: 'permission denied',
      Z_DATA_ERROR: 'it is not gzip',
      Z_BUF_ERROR: 'it is cut short',
    }
    throw new UsageError(`Cannot read ${given}: ${reasons[code] ?? code}`, { cause: error })
  }
}

async function readAll({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>): Promise<Buffer> {
  const { addAbortSignal } = await import('node:stream')
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of addAbortSignal(signal, stdin)) {
    const bytes = Buffer.from(piece)
    size += bytes.length
    if (size > maximumInputBytes) {
      throw new UsageError('Standard input is larger than 256 MiB', {
        hint: 'Save it to a file and import that',
      })
    }
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}

async function* oneByOne(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const step = 256 * 1024
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
}

export function sentence(name: string): string {
  return name === 'standard input' ? 'Standard input' : name
}

/** The longest name of an encoding that the standard has is 19. */
const maxLabel = 40
/** Bytes between 0x80 and 0x9F that text in Windows-1252 often has: `€`, `…`, quotation marks, dashes and `™`. */
const usualBytes: ReadonlySet<number> = new Set([0x80, 0x85, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x99])

/** WHATWG Encoding Standard §4.2: `shift_jis` for `sjis`. Throws a UsageError for an unknown one. */
export function requireCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined
  const charset = charsetOf(label)
  if (charset !== null) return charset
  throw new UsageError(`--encoding is not a known encoding: ${label.slice(0, maxLabel)}`, {
    hint: 'Use a name such as utf-8, windows-1252, shift_jis, macintosh, euc-jp, big5 or gb18030',
  })
}

/** Returns the standard name of an encoding; null if it is not known. */
export function charsetOf(label: string): string | null {
  try {
    return label.length <= maxLabel ? new TextDecoder(label).encoding : null
  } catch {
    return null
  }
}

/** Inspected for the format and for UTF-16. */
const sampleBytes = 4096

/** Returns UTF-16 for a byte order mark, or the zero bytes that Latin letters have in it; null for any other. */
function wideIn(sample: Buffer): string | null {
  const mark = sample.subarray(0, 2).toString('hex')
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = sample.length / 8
  if (odd > many && odd > even * 4) return 'utf-16le'
  return even > many && even > odd * 4 ? 'utf-16be' : null
}
