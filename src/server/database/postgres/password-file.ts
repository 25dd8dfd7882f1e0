import { readFileSync, statSync } from 'node:fs'

/** What a password file says of one connection. */
export interface FoundPassword {
  readonly password: string | undefined
  /** Why the file was not read, as the end of a sentence about it; undefined where it was read or is not there. */
  readonly ignored: string | undefined
}

/** Which line of the file is meant. */
export interface Wanted {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

const mostBytes = 1024 * 1024

/**
 * The password in a file of lines `host:port:database:user:password`, in which `*` stands for anything; the first line that
 * fits counts. A file that others can read is ignored (PostgreSQL, libpq, The Password File).
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
  // A socket goes by its folder or as `localhost`.
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

/** The five of a line, of which the last may have colons; a backslash takes its meaning away from the next character. */
function fieldsOf(line: string): string[] {
  const [, ...fields] = lineFields.exec(line) ?? []
  return fields.map((text) => text.replace(/\\(.)/g, '$1'))
}
