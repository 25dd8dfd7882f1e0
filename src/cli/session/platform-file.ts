import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { PlatformFile } from '../../client/platform/platform-schema.ts'
import { readRegularFile } from '../../config/files.ts'
import { UsageError } from '../terminal/errors.ts'

export interface KeptPlatform {
  readonly name: string
  /** SHA-256 of its text, in hexadecimal digits. */
  readonly digest: string
  readonly file: PlatformFile
}

const maxBytes = 256 * 1024

/** Throws a UsageError with every problem and its line. */
export async function readPlatformFile(cwd: string, path: string): Promise<KeptPlatform> {
  const [{ parsePlacedYaml }, { refusedDocument, violationsIn }, { PlatformSchema, platformFileOf }] =
    await Promise.all([
      import('../terminal/parse-document.ts'),
      import('../terminal/placed-document.ts'),
      import('../../client/platform/platform-schema.ts'),
    ])
  const text = readText(resolve(cwd, path), path)
  const document = { name: path, ...(await parsePlacedYaml(text, path)) }
  const { data: file, error } = platformFileOf(document.value)
  if (error) {
    const violations = violationsIn(PlatformSchema, error)
    throw refusedDocument(document, violations, { hint: 'See the fields: docs/platforms.md' })
  }
  return { name: file.name, digest: createHash('sha256').update(text).digest('hex'), file }
}

function readText(file: string, path: string): string {
  try {
    return readRegularFile(file, maxBytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`Cannot read ${path}: ${reason}`, { cause })
  }
}
