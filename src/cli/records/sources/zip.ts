import { crc32 } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { systemCode } from '../../../config/errors.ts'
import { UsageError } from '../../terminal/errors.ts'

export interface PackedFile {
  /** Path in the package, `users.csv`; of a single file as given. */
  readonly name: string
  bytes(): AsyncIterable<Uint8Array>
}

/** Maximum compression of a file: rosters reach about 30, a zip bomb 1000. */
const maxRatio = 300
/** Size below which the compression of a file does not matter. */
const smallBytes = 1024 * 1024

/** Reads Zip64, too. Throws a UsageError if it is damaged, encrypted, has names outside of its folder, or is a zip bomb. */
export async function filesInZip(
  path: string,
  given: string,
  wanted: (name: string) => boolean,
): Promise<{ readonly files: readonly PackedFile[]; readonly others: readonly string[] }> {
  const files: PackedFile[] = []
  const others: string[] = []
  const zip = await opened(path, given)
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName
      if (name.endsWith('/')) continue
      if (!wanted(name)) {
        others.push(name)
        continue
      }
      requireReadable(given, entry)
      if (files.some((file) => file.name === name)) throw refusal(given, `it has ${name} more than once`)
      files.push({ name, bytes: () => bytesOf(path, given, entry) })
    }
  } catch (error) {
    throw readable(given, error)
  } finally {
    zip.close()
  }
  return { files, others }
}

function requireReadable(given: string, entry: Entry): void {
  const { fileName: name, compressedSize, uncompressedSize } = entry
  if (entry.isEncrypted()) throw refusal(given, `${name} is encrypted`, 'Save it without a password')
  if (!entry.canDecodeFileData()) {
    const reason = `${name} is compressed by a method that is not supported`
    throw refusal(given, reason, 'Save it as a usual zip file')
  }
  if (uncompressedSize <= smallBytes || uncompressedSize <= compressedSize * maxRatio) return
  const ratio = Math.round(uncompressedSize / Math.max(compressedSize, 1))
  const hint = 'If you trust it, unpack it and name the folder'
  throw refusal(given, `${name} is compressed ${ratio} times, as in a zip bomb`, hint)
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

async function opened(path: string, given: string): Promise<ZipFile> {
  const { openPromise } = await import('yauzl')
  try {
    return await openPromise(path, { autoClose: false, lazyEntries: true })
  } catch (error) {
    throw readable(given, error)
  }
}

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
