import type { Argument, Command, Host, Invocation } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'

/** Flags for filters and fields of one operation are offered with it, all others only if they are listed here. */
interface Offer {
  readonly access: 'read' | 'write'
  readonly flags: readonly string[]
  /** Table or operation of the data dictionary with its records; by default its operation's, or its noun's. */
  readonly table?: string
  /** True if the result is text of this program alone. */
  readonly isPublic?: true
  /** True if its files name further ones, beside them or below. */
  readonly readsBeside?: true
}

const rowFlags = ['ignore-filters', 'timezone', 'deleted']
const createFlags = ['body', 'if-not-exists', 'upsert', 'group', 'ids', 'timezone']
const updateFlags = ['body', 'unset', 'if-version', 'ids', 'timezone']
const ofLearner = ['user', 'course', 'role', 'item', 'source']
const placeFlags = ['course', 'module', 'title', 'description', 'after', 'position']
const mappingFlags = ['map', 'map-value', 'mapping', 'delimiter', 'encoding', 'date-format']
const importFlags = [
  ...mappingFlags,
  ...['on-exists', 'skip-invalid', 'clear-empty', 'batch-size', 'extra-credit', 'gradebook'],
]
const exportFlags = [
  ...rowFlags,
  ...['status', 'difficulty', 'search', 'tags', 'term', 'external-id', 'managed-by', 'role', 'email'],
  ...['since', 'until', 'updated-since', 'sort', 'group', 'user', 'course', 'learner', 'item', 'source'],
  ...['module', 'history', 'include-deleted', 'all-columns'],
]
const figureFlags = [
  ...['start-date', 'end-date', 'course', 'learner', 'group', 'term', 'status', 'difficulty'],
  ...['enrollment-status', 'include-not-started', 'include-deleted', 'last', 'by', 'timezone'],
]
const rosterFlags = [
  ...mappingFlags,
  ...['format', 'email-domain', 'only', 'course', 'term', 'label', 'prune', 'delete-users'],
  ...['skip-invalid', 'max-deletes', 'plan'],
]
const academyFlags = ['label', 'prune', 'max-deletes', 'plan']

/** Commands that assistants may run, by path. A new command, and a new flag, is refused until it is listed here. */
export const offeredCommands: ReadonlyMap<string, Offer> = new Map(
  Object.entries({
    ...nounOffers('courses', ['versions', 'publish', 'unpublish', 'archive']),
    'courses diff': read([...rowFlags, 'file', 'prune']),
    'courses validate': read(['file']),
    'courses apply': write(['file', 'prune', 'plan']),
    'courses copy': write(['title', 'external-id', 'lesson-ids', 'term', 'status']),
    'courses restore': write(['ids']),
    'modules list': read(['course']),
    'modules create': write(placeFlags),
    'modules rename': write(placeFlags),
    'modules move': write(placeFlags),
    'modules delete': write(['course']),
    ...nounOffers('lessons', ['versions']),
    'lessons diff': read(rowFlags),
    'lessons move': write(placeFlags),
    'lessons restore': write(['ids']),
    ...nounOffers('users', ['me', 'suspend', 'activate', 'restore']),
    ...nounOffers('terms'),
    ...nounOffers('enrollments', ['restore']),
    ...nounOffers('groups', ['restore']),
    'groups members list': read(rowFlags),
    'groups members add': write(['ids']),
    'groups members remove': write(['ids']),
    'groups members import': write(importFlags, 'groups.members'),
    'groups members export': read(exportFlags, 'groups.members'),
    'progress get': read(rowFlags),
    'progress set': write(['body', 'ids', 'timezone']),
    'progress history': read(rowFlags),
    'progress import': write(importFlags),
    'progress export': read(exportFlags),
    'grades list': read(rowFlags),
    'grades get': read(ofLearner),
    'grades set': write(['body', 'ids', 'timezone']),
    'grades delete': write([...ofLearner, 'ids']),
    'grades history': read([...rowFlags, ...ofLearner]),
    'grades import': write(importFlags),
    'grades report': read(['learner', 'group', 'unpublished'], 'grades.report'),
    'grades export': read(exportFlags),
    'analytics export': read([...figureFlags, 'ignore-filters'], 'learners'),
    'analytics summary': read(figureFlags, 'summary'),
    'analytics at-risk': read(rowFlags),
    'analytics activity': read(figureFlags, 'activity'),
    'analytics grades': read(rowFlags),
    'analytics fields': { ...read([]), isPublic: true },
    validate: { ...read([]), readsBeside: true },
    diff: { ...read(academyFlags), readsBeside: true },
    apply: { ...write(academyFlags), readsBeside: true },
    'roster validate': read(rosterFlags),
    'roster diff': read(rosterFlags),
    'roster apply': write(rosterFlags),
    'undo list': read([], 'changes'),
    'undo change': write([]),
    'integrations list': read(rowFlags),
    'integrations get': read([]),
    'integrations mappings': read(rowFlags),
    'webhooks messages list': read(rowFlags),
    'webhooks messages get': read([]),
    'webhooks deliveries list': read(rowFlags),
    'webhooks deliveries get': read([]),
    'settings get': read([]),
    'settings update': write(updateFlags),
    'audit list': read(rowFlags),
    'audit get': read([]),
    'audit verify': read(['expect'], 'audit'),
    'audit revert': write([], 'audit'),
  }),
)

function read(flags: readonly string[], table?: string): Offer {
  return { access: 'read', flags, ...(table !== undefined && { table }) }
}

function write(flags: readonly string[], table?: string): Offer {
  return { access: 'write', flags, ...(table !== undefined && { table }) }
}

function nounOffers(noun: string, others: readonly string[] = []): Record<string, Offer> {
  const offers: readonly (readonly [string, Offer])[] = [
    ['list', read(rowFlags)],
    ['get', read(['with-lessons', ...ofLearner])],
    ['create', write(createFlags)],
    ['update', write([...updateFlags, ...ofLearner])],
    ['delete', write(['ids', ...ofLearner])],
    ['import', write(importFlags)],
    ['export', read(exportFlags)],
    ...others.map(
      (verb) =>
        [
          verb,
          ['versions', 'me'].includes(verb) ? read(rowFlags) : write([...ofLearner, 'if-version', 'ids']),
        ] as const,
    ),
  ]
  return Object.fromEntries(offers.map(([verb, offer]) => [`${noun} ${verb}`, offer]))
}

/** The others choose the target, or change how learnctl itself works. */
export const offeredSettings: ReadonlySet<string> = new Set([
  ...['output', 'columns', 'limit', 'all', 'dryRun', 'yes', 'noInput'],
])

/** Reasons why commands are not offered, by their first words; the longest match counts. */
const reasons: readonly (readonly [words: string, reason: string])[] = [
  ['auth', 'Signing in, and credentials, are left to the user'],
  ['keys', 'Credentials are left to the user'],
  ['apps', 'Credentials are left to the user'],
  ['users set-password', 'Passwords are left to the user'],
  ['users export-data', 'It writes the personal data of a user to a file'],
  ['calendars', 'The address of a calendar is a secret'],
  ['profiles', 'The user chooses the platform'],
  ['api', 'It sends any request, whatever it changes'],
  ['server', 'Servers and databases are left to the user'],
  ['completion', 'It is for shells'],
  ['mcp', 'It runs already'],
  ['help', 'Use the tool help'],
  ['open', 'There is no browser'],
]

export function refusalReason(path: string): string {
  const found = reasons.find(([words]) => path === words || path.startsWith(`${words} `))
  return found?.[1] ?? 'It is left to the user'
}

export interface OfferedCommand {
  readonly path: string
  readonly command: Command
  readonly offer: Offer
}

/** In the order of help. */
export async function loadOffered({ commandsAt }: Host): Promise<readonly OfferedCommand[]> {
  const all = (await commandsAt([])) ?? []
  return all.flatMap(({ path: short, command }) => {
    const path = command.isDefault ? `${short} ${command.name}` : short
    const offer = offeredCommands.get(path)
    return offer ? [{ path, command, offer }] : []
  })
}

export function offeredFlagsOf({
  command: { calls, flags = [] },
  offer,
}: OfferedCommand): ReadonlySet<string> {
  const bound = [...(calls?.fields ?? []), ...(calls?.query ?? [])].map(({ flag }) => flag.name)
  const listed = flags.filter(({ name, writes, file }) => {
    return offer.flags.includes(name) && writes === undefined && file !== 'write' && file !== 'both'
  })
  return new Set([...bound, ...listed.map(({ name }) => name)])
}

interface NamedValue {
  readonly name: string
  readonly text: string
  readonly place: Argument | Flag | undefined
}

export function namedValues(
  { arguments: given, flags }: Pick<Invocation, 'arguments' | 'flags'>,
  { command }: Pick<OfferedCommand, 'command'>,
): NamedValue[] {
  const positions = command.arguments ?? []
  const rest = positions.findIndex((position) => position.rest)
  const inArguments = given.map((text, index) => {
    const place = positions[rest >= 0 && index > rest ? rest : index]
    return { name: place?.name ?? '', text, place }
  })
  const inFlags = Object.entries(flags).flatMap(([name, value]) => {
    const place = command.flags?.find((flag) => flag.name === name)
    const values = value === undefined ? [] : [value].flat()
    return values.map((each) => ({
      name,
      text: typeof each === 'string' ? each : JSON.stringify(each),
      place,
    }))
  })
  return [...inArguments, ...inFlags]
}
