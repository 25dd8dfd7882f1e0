import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { decodeUtf8, NotUtf8Error } from '../../codec/unicode-text.ts'
import { systemCode } from '../../config/errors.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'

const maxBytes = 64 * 1024 * 1024

/**
 * Reads standard input as text (UTF-8, with or without a byte order mark). Throws a UsageError above 64 MiB.
 */
export function readInput(io: Io): Promise<string> {
  return readText(io, io.stdin, 'Standard input')
}

/** Reads a pipe such as `<(…)`, too. Throws a UsageError if it is unreadable, larger than 64 MiB or not UTF-8. */
export async function readFileText(io: Io, path: string): Promise<string> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(resolve(io.cwd, path))
    try {
      const found = await file.stat()
      if (found.isDirectory()) throw new UsageError(`Cannot read ${path}: it is a directory`)
      if (found.isFile() && found.size > maxBytes) throw tooLarge(path)
      return await readText(io, file.createReadStream({ autoClose: false }), path)
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error
    const reason = code === 'ENOENT' ? 'file not found' : code
    throw new UsageError(`Cannot read ${path}: ${reason}`, { cause: error })
  }
}

async function readText({ signal }: Io, stream: Readable, name: string): Promise<string> {
  const { addAbortSignal } = await import('node:stream')
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of addAbortSignal(signal, stream)) {
    const bytes = Buffer.from(chunk)
    size += bytes.byteLength
    if (size > maxBytes) throw tooLarge(name)
    chunks.push(bytes)
  }
  try {
    return decodeUtf8(Buffer.concat(chunks))
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error
    throw new UsageError(`Cannot read ${inSentence(name)}: ${error.message}`, {
      code: 'not_utf8',
      cause: error,
      hint: 'Save it as UTF-8; for example: iconv -f WINDOWS-1252 -t UTF-8',
    })
  }
}

function tooLarge(name: string): UsageError {
  return new UsageError(`${name} is larger than 64 MiB`)
}

function inSentence(name: string): string {
  return name === 'Standard input' ? 'standard input' : name
}
