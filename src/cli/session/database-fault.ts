import { CommandError, type ExitName } from '../terminal/errors.ts'

/** Error code for a missing database, or one without an academy. */
export const databaseMissing = 'database_missing'

const unusable = ['database_unusable', 'failure'] as const
/** Error code and exit code for each kind of DatabaseError. */
const codesByKind: Readonly<Record<string, readonly [code: string, exit: ExitName]>> = {
  missing: [databaseMissing, 'notFound'],
  unreachable: ['database_unreachable', 'unavailable'],
  refused: ['database_refused', 'auth'],
  invalid: ['invalid_setting', 'usage'],
}

/** Converts a DatabaseError of the server to a CommandError; returns other errors unchanged. */
export function databaseErrorOf(error: unknown): unknown {
  // instanceof would load the server.
  if (!(error instanceof Error) || error.name !== 'DatabaseError' || !('path' in error)) return error
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: error.hint } : {}
  const [code, exit] = codesByKind['kind' in error ? String(error.kind) : ''] ?? unusable
  return new CommandError(code, exit, `${error.path} ${error.message}`, {
    cause: error,
    ...hint,
  })
}
