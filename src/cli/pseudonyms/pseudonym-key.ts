import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellWord } from '../../codec/display-text.ts'
import { systemCode } from '../../config/errors.ts'
import { UsageError } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'

/** Bytes of a new key, and the least that a key may have: as many as SHA-256 gives (RFC 2104 §3). */
const keyBytes = 32
const maxKeyBytes = 4096

/** Creates a key file that only its owner can read. Throws a UsageError if the file exists. */
export async function createPseudonymKey(cwd: string, file: string): Promise<void> {
  if (existsSync(resolve(cwd, file))) {
    throw new UsageError(`${file} already exists`, {
      why: ['Pseudonyms that were made with a key cannot be made again without it'],
      hint: 'Use it with --pseudonym-key, or choose another path',
    })
  }
  await writeTarget(cwd, file, [`${randomBytes(keyBytes).toString('base64url')}\n`], { mode: 0o600 })
}

/** Reads a key. Throws a UsageError for a missing, short, trivial or too large file, and for one that others can read. */
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
