import { CommandError } from '../terminal/errors.ts'
import type { ExitName } from '../terminal/exit-codes.ts'

/** The code of a fault because a database, or the academy in it, does not exist. */
export const databaseMissing = 'database_missing'

const unusable = ['database_unusable', 'failure'] as const
/** What a database says of itself: nobody is there, it refuses the credential, or its URL is none. */
const troubles: Readonly<Record<string, readonly [code: string, exit: ExitName]>> = {
  missing: [databaseMissing, 'notFound'],
  unreachable: ['database_unreachable', 'unavailable'],
  refused: ['database_refused', 'auth'],
  invalid: ['invalid_setting', 'usage'],
}

/** What is wrong with a database, as a fault of this program; anything else as it is. */
export function databaseFault(error: unknown): unknown {
  // The server's own class would bring the server along.
  if (!(error instanceof Error) || error.name !== 'DatabaseError' || !('path' in error)) return error
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: error.hint } : {}
  const [code, exit] = troubles['kind' in error ? String(error.kind) : ''] ?? unusable
  return new CommandError(code, exit, `${error.path} ${error.message}`, {
    cause: error,
    ...hint,
  })
}
