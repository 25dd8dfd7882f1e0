import { readFileSync, statSync } from 'node:fs'

/** Result of a look-up in a password file. */
export interface FoundPassword {
  readonly password: string | undefined
  /** Why the file was ignored, as the end of a sentence about it; undefined if it was read or does not exist. */
  readonly ignored: string | undefined
}

/** The connection to find a line for. */
export interface Wanted {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

const mostBytes = 1024 * 1024

/**
 * Finds the password in a file of lines `host:port:database:user:password`, where `*` matches anything; the first
 * match counts. A file that others can read is ignored (PostgreSQL, libpq, The Password File).
 */
export function passwordIn(path: string, { host, port, database, user }: Wanted): FoundPassword {
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) return { password: undefined, ignored: undefined }
  if (!file.isFile()) return { password: undefined, ignored: 'is not a file' }
  if (file.size > mostBytes) return { password: undefined, ignored: 'is larger than 1 MiB' }
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0) {
    return { password: undefined, ignored: `can be read by others; run \`chmod 600 ${path}\`` }
  }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return { password: undefined, ignored: 'cannot be read' }
  }
  // A socket matches by its directory or as `localhost`.
  const hosts = host.startsWith('/') ? [host, 'localhost'] : [host]
  const values = [hosts, [String(port)], [database], [user]]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    const [password] = fields.slice(values.length)
    const fits = values.every((any, index) => ['*', ...any].includes(fields[index] ?? ''))
    if (password && fits) return { password, ignored: undefined }
  }
  return { password: undefined, ignored: undefined }
}

const field = String.raw`((?:\\.|[^:\\])*):`
const lineFields = new RegExp(`^${field.repeat(4)}(.*)$`)

/** Splits a line into its five fields. The last may contain colons; a backslash escapes the next character. */
function fieldsOf(line: string): string[] {
  const [, ...fields] = lineFields.exec(line) ?? []
  return fields.map((text) => text.replace(/\\(.)/g, '$1'))
}
