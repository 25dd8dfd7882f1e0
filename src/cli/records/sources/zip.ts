import { crc32 } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { systemCode } from '../../../config/errors.ts'
import { UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'

export interface PackedFile {
  /** Path in the package, `users.csv`; of a single file the path as given. */
  readonly name: string
  /** Reads the bytes from the beginning. */
  bytes(): AsyncIterable<Uint8Array>
}

/** Maximum number of files and folders in a zip file. */
const maxEntries = 10_000
const mib = 1024 * 1024
/** Maximum size of one file and of all files, uncompressed. */
const maxEntryMiB = 4096
const maxTotalMiB = 16_384
/** Maximum compression of a file: rosters reach about 30, a zip bomb 1000. */
const maxRatio = 300
/** Size below which the compression of a file does not matter. */
const smallBytes = mib

/**
 * Lists the files of a zip file whose names are `wanted`; Zip64 is supported. Throws a UsageError if it is damaged, is
 * encrypted, has names outside of its folder, or grows beyond the limits when it is decompressed.
 */
export async function filesInZip(
  path: string,
  given: string,
  wanted: (name: string) => boolean,
): Promise<{ readonly files: readonly PackedFile[]; readonly others: readonly string[] }> {
  const files: PackedFile[] = []
  const others: string[] = []
  await whileOpen(path, given, async (zip) => {
    if (zip.entryCount > maxEntries) {
      throw refusal(given, `it has ${pluralise(zip.entryCount, 'file')}; at most ${maxEntries} are supported`)
    }
    let total = 0
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName
      if (name.endsWith('/')) continue
      if (!wanted(name)) {
        others.push(name)
        continue
      }
      total += entry.uncompressedSize
      requireReadable(given, entry, total)
      if (files.some((file) => file.name === name)) throw refusal(given, `it has ${name} more than once`)
      files.push({ name, bytes: () => bytesOf(path, given, entry) })
    }
  })
  return { files, others }
}

function requireReadable(given: string, entry: Entry, total: number): void {
  const { fileName: name, compressedSize, uncompressedSize } = entry
  if (entry.isEncrypted()) throw refusal(given, `${name} is encrypted`, 'Save it without a password')
  if (!entry.canDecodeFileData()) {
    throw refusal(
      given,
      `${name} is compressed by a method that is not supported`,
      'Save it as a usual zip file',
    )
  }
  if (uncompressedSize > maxEntryMiB * mib) {
    throw refusal(given, `${name} is larger than ${maxEntryMiB} MiB`, 'Unpack it and name the folder')
  }
  if (total > maxTotalMiB * mib) {
    throw refusal(
      given,
      `its files are larger than ${maxTotalMiB} MiB in all`,
      'Unpack it and name the folder',
    )
  }
  if (uncompressedSize > smallBytes && uncompressedSize > compressedSize * maxRatio) {
    const ratio = Math.round(uncompressedSize / Math.max(compressedSize, 1))
    throw refusal(
      given,
      `${name} is compressed ${ratio} times, as in a zip bomb`,
      'If you trust it, unpack it and name the folder',
    )
  }
}

/** Decompresses a file; yauzl ends it at the size that the directory names. */
async function* bytesOf(path: string, given: string, entry: Entry): AsyncGenerator<Uint8Array> {
  const zip = await opened(path, given)
  try {
    let sum = 0
    for await (const piece of await zip.openReadStreamPromise(entry)) {
      const bytes = piece as Uint8Array
      sum = crc32(bytes, sum)
      yield bytes
    }
    if (sum !== entry.crc32) throw refusal(given, `${entry.fileName} is damaged`)
  } catch (error) {
    throw readable(given, error)
  } finally {
    zip.close()
  }
}

async function whileOpen(path: string, given: string, use: (zip: ZipFile) => Promise<void>): Promise<void> {
  const zip = await opened(path, given)
  try {
    await use(zip)
  } catch (error) {
    throw readable(given, error)
  } finally {
    zip.close()
  }
}

async function opened(path: string, given: string): Promise<ZipFile> {
  const { openPromise } = await import('yauzl')
  try {
    return await openPromise(path, { autoClose: false, lazyEntries: true })
  } catch (error) {
    throw readable(given, error)
  }
}

/** Converts an error of yauzl or zlib. */
function readable(given: string, error: unknown): unknown {
  if (error instanceof UsageError || !(error instanceof Error)) return error
  const { message } = error
  if (/^(invalid relative path|absolute path|invalid characters in fileName)/.test(message)) {
    return refusal(given, `it has a file outside of its folder: ${message.slice(message.indexOf(':') + 2)}`)
  }
  if (/too many bytes|not enough bytes/.test(message)) {
    return refusal(given, 'a file in it is not as long as its directory says')
  }
  if (/end of central directory/i.test(message)) return refusal(given, 'it is no zip file, or is cut short')
  const code = systemCode(error)
  if (code !== undefined && !code.startsWith('Z_')) return refusal(given, code)
  return refusal(given, 'it is damaged', undefined, error)
}

function refusal(given: string, reason: string, hint?: string, cause?: unknown): UsageError {
  const options = { code: 'invalid_zip', cause, ...(hint !== undefined && { hint }) }
  return new UsageError(`Cannot read ${given}: ${reason}`, options)
}
