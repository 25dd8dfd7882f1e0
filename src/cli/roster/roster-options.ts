import type { Given } from '../command/command.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import type { OpenRosterOptions } from './open-roster.ts'
import { rosterFormats } from './roster.ts'

/** Flags of commands that read a roster. */
export const rosterFlags: readonly Flag[] = [
  {
    name: 'format',
    kind: 'text',
    placeholder: 'name',
    choices: rosterFormats,
    summary: 'Format of the roster (default: found by its headers)',
  },
  {
    name: 'email-domain',
    kind: 'text',
    placeholder: 'domain',
    summary: 'Make addresses of user names at this domain for people without one',
  },
]

/** Reads the flags of a roster. Throws a UsageError. */
export function readRosterOptions({ flags }: Pick<Given, 'flags'>): OpenRosterOptions {
  const [format, domain] = [flags['format'], flags['email-domain']]
  checkChoices(rosterFlags, flags)
  const emailDomain = domain === undefined ? null : String(domain).replace(/^@/, '').toLowerCase()
  if (emailDomain !== null && !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(emailDomain)) {
    throw new UsageError(
      `--email-domain must be a domain such as school.example, not ${JSON.stringify(domain)}`,
    )
  }
  return { format: rosterFormats.find((each) => each === format) ?? null, emailDomain }
}
