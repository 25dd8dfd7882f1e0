import type { Credential } from '../../config/target.ts'
import type { Command } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { notAList } from '../command/refusals.ts'
import { valueAt } from '../output/columns.ts'
import { maskCredential } from '../output/mask.ts'
import { shapeOfValue } from '../output/value-shape.ts'
import { clockWarning, secondsAhead } from '../session/clock.ts'

const columns = [
  'profile',
  'location',
  'source',
  'credential.source',
  'credential.scopes',
  'credential.expiresAt',
  'user.email',
  'user.role',
]

/** `learnctl auth status` */
export const status: Command = {
  name: 'status',
  summary: 'Show the platform and the credential in use, and where they come from',
  description:
    'Exits with 4 when there is no credential or the platform rejects it. An access token that is about to\nexpire is refreshed.',
  refuses: notAList,
  examples: ['auth status', 'auth status -o json'],
  run,
}

async function run(context: Context): Promise<void> {
  const { session, output, io, settings } = context
  const caller = await session.caller()
  const { users } = (await import('../../contract/calls.ts')).calls
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(users.profile, { signal: io.signal }))
  }
  const { data: user, date } = await caller.call(users.profile, { signal: io.signal })
  const target = session.target()
  const value = {
    profile: target.profile,
    location: target.kind === 'local' ? target.database : target.url,
    source: target.origin.name,
    shadows: target.shadows.map(({ name }) => name),
    credential: target.kind === 'remote' && target.credential ? told(target.credential) : null,
    user: briefly(user),
  }
  await output.one(value, shapeOfValue(value, columns))
  const warning = clockWarning(secondsAhead(date, io.now()) ?? 0)
  if (warning !== null) await output.note(warning)
}

/** Returns the public part of a credential. Only the platform knows more of a key, or of a variable's value. */
function told({ kind, value, origin, shadows, kept }: Credential) {
  const tokens = kept?.tokens ?? null
  return {
    kind: tokens ? 'oauth' : kind,
    value: maskCredential(value),
    scopes: tokens?.scopes ?? null,
    expiresAt: tokens?.expiresAt ?? null,
    refreshable: tokens !== null && tokens.refreshToken !== null,
    source: origin.name,
    shadows: shadows.map(({ name }) => name),
  }
}

/** Returns a summary of the user and their access; all fields if another platform has none of these. */
function briefly(user: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = ['id', 'email', 'username', 'role', 'scopes', 'authMethod']
  const known = names.map((name) => [name, valueAt(user, name)]).filter(([, value]) => value !== undefined)
  return known.length === 0 ? user : Object.fromEntries(known)
}
