import { type LmsKind, readableKinds } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { type OpenRosterOptions, openRoster } from './open-roster.ts'
import type { RosterSource } from './roster.ts'
import type { Scope } from './scope.ts'

/**
 * Opens a roster: files, or `integration:canvas` for the system of an integration.
 *
 * @param scope parts and courses to read of another system; none for all courses, and all parts but grades
 */
export async function openSource(
  context: Context,
  given: string,
  options: OpenRosterOptions,
  scope: Pick<Scope, 'only' | 'courses'> = { only: [], courses: [] },
): Promise<RosterSource> {
  const kind = integrationIn(given)
  if (kind === null) return openRoster(context.io, given, options)
  const { openIntegration } = await import('./integration-source.ts')
  return openIntegration(context, kind, options, scope)
}

/** Returns the kind of system in `integration:canvas`; null for any other name. Throws a UsageError for a kind that cannot be read. */
export function integrationIn(given: string): LmsKind | null {
  const [, name] = /^integration:(.*)$/.exec(given) ?? []
  if (name === undefined) return null
  const kind = readableKinds.find((each) => each === name)
  if (kind) return kind
  throw new UsageError(`No roster can be read from the integration ${JSON.stringify(name)}`, {
    hint: `Name one of ${readableKinds.map((each) => `integration:${each}`).join(', ')}`,
  })
}
