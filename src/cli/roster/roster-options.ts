import {
  checkChoices,
  type Flag,
  type FlagValues,
  fileFormFlags,
  mappingFlags,
  textsIn,
} from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import type { OpenRosterOptions } from './open-roster.ts'
import { type RosterPart, rosterFormats, rosterParts, type Scope } from './roster.ts'

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
  ...mappingFlags,
  ...fileFormFlags,
]

export const scopeFlags = [
  {
    name: 'only',
    kind: 'words',
    placeholder: 'parts',
    summary: 'Only these parts, such as users,enrollments',
    choices: rosterParts,
  },
  {
    name: 'course',
    kind: 'texts',
    placeholder: 'course',
    summary: 'Only this course with its people, by external id or title',
  },
  {
    name: 'term',
    kind: 'texts',
    placeholder: 'term',
    summary: 'Only the courses of this term with their people, by external id or name',
  },
] as const satisfies readonly Flag[]

export function scopeOf(flags: FlagValues): Scope {
  // checkChoices refuses other parts.
  const only = textsIn(flags, 'only') as RosterPart[]
  return { only, courses: textsIn(flags, 'course'), terms: textsIn(flags, 'term') }
}

const fileFlags = ['format', ...fileFormFlags.map(({ name }) => name)]

/** Throws a UsageError, also for a flag about files if all `sources` are integrations. */
export async function readRosterOptions(
  io: Io,
  flags: FlagValues,
  sources: readonly string[],
): Promise<OpenRosterOptions> {
  const domain = flags['email-domain']
  checkChoices(rosterFlags, flags)
  const fileFlag = fileFlags.find((name) => flags[name] !== undefined)
  if (fileFlag !== undefined && sources.every((name) => name.startsWith('integration:'))) {
    throw new UsageError(`--${fileFlag} is about files; ${sources[0]} has none`)
  }
  const emailDomain = domain === undefined ? null : String(domain).replace(/^@/, '').toLowerCase()
  if (emailDomain !== null && !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(emailDomain)) {
    throw new UsageError(
      `--email-domain must be a domain such as school.example, not ${JSON.stringify(domain)}`,
    )
  }
  const [{ mappingDocument, readMapping, withFlags }, { mappedColumns }] = await Promise.all([
    import('../records/sources/mapping.ts'),
    import('./open-roster.ts'),
  ])
  const format = rosterFormats.find((each) => each === flags['format']) ?? null
  const to = mappedColumns(format)
  // The format of a roster is not that of its files, which are CSV.
  const given = await readMapping(io, { ...flags, format: undefined }, to)
  const mapping = withFlags({ ...given, format: undefined }, flags, to)
  return {
    ...{ format, emailDomain, mapping },
    keepMapping: async () => {
      const path = flags['save-mapping']
      if (path === undefined) return
      const { saveMapping } = await import('../records/sources/mapping.ts')
      const from = flags['mapping'] === undefined ? undefined : String(flags['mapping'])
      await saveMapping(io, String(path), from, mappingDocument(mapping, to))
    },
  }
}
