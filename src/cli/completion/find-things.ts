import { isJsonObject } from '../../codec/json-text.ts'
import { directoriesOf } from '../../config/directories.ts'
import { createProfileStore } from '../../config/profiles.ts'
import { readProjectFile, resolveSettings, type Settings } from '../../config/resolve-settings.ts'
import { type Setting, settings as table } from '../../config/setting.ts'
import { chooseTarget, type RemoteTarget, type Target } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Transports } from '../session/session.ts'
import type { Io } from '../terminal/io.ts'
import type { CursorPlace } from './cursor-place.ts'
import type { FindThings, Suggestion, ThingNoun } from './suggestions.ts'

/** Maximum time to wait for a platform, and for an academy in a file, which only a busy machine keeps waiting. */
const deadlineMs: Readonly<Record<Target['kind'], number>> = { remote: 1000, local: 2000 }
const maxThings = 500

/** Each run requests at most one list. */
export async function findThings(
  io: Io,
  transports: () => Promise<Transports>,
  ...asked: Parameters<FindThings>
): Promise<readonly Suggestion[]> {
  try {
    return await find(io, transports, ...asked)
  } catch {
    // The command itself reports errors when it is run.
    return []
  }
}

async function find(
  io: Io,
  transports: () => Promise<Transports>,
  noun: ThingNoun,
  place: CursorPlace,
  typed: string,
  isDeleted = false,
) {
  const { config, database: ownDatabase } = directoriesOf(io)
  const profiles = createProfileStore(config, io).read()
  if (noun === 'profiles') {
    return Object.entries(profiles.profiles).map(([value, profile]): Suggestion => {
      const at = 'database' in profile ? profile.database : profile.url
      return { value, meaning: profiles.active === value ? `${at} (active)` : at }
    })
  }
  const settings = resolveSettings({ flags: globalsOf(place), env: io.env, project: readProjectFile(io.cwd) })
  const target = chooseTarget({ settings, env: io.env, profiles, cwd: io.cwd })
  if (noun === 'snapshots') {
    const { snapshotsOf } = await import('../local-server/served-database.ts')
    const database = target?.kind === 'local' ? target.database : ownDatabase
    return snapshotsOf(database).map(({ name, createdAt }) => ({ value: name, meaning: createdAt }))
  }
  if (target === null) return []
  const course = ['lessons', 'modules'].includes(noun) ? place.values.get('course')?.at(-1) : undefined
  const deleted = isDeleted && ['courses', 'lessons', 'groups'].includes(noun)
  const things = await requestList(io, transports, settings, target, noun, { course, deleted })
  return suggestionsOf(things, typed)
}

function globalsOf({ values }: CursorPlace): Record<string, unknown> {
  const entries = Object.entries<Setting>(table).flatMap(([name, { flag, placeholder }]) => {
    const value = values.get(flag)?.at(-1)
    return value === undefined ? [] : [[name, placeholder === undefined ? true : value]]
  })
  return Object.fromEntries(entries)
}

/** Requests a list; returns the records that arrive before the deadline. */
async function requestList(
  io: Io,
  transports: () => Promise<Transports>,
  settings: Settings,
  target: Target,
  noun: Exclude<ThingNoun, 'profiles' | 'snapshots'>,
  { course, deleted }: { readonly course: string | undefined; readonly deleted: boolean },
): Promise<Thing[]> {
  const { calls } = await import('../../contract/calls.ts')
  if (noun === 'modules') return requestModules(io, transports, settings, target, course)
  const lists = calls[noun]
  const operation: Operation = deleted && 'listDeleted' in lists ? lists.listDeleted : lists.list
  const query = { limit: 100, ...(course !== undefined && { course_id: course }) }
  const controller = new AbortController()
  const { signal } = controller
  const found: Thing[] = []
  let close = async () => {}

  async function collect(): Promise<void> {
    const opened = await open(io, transports, settings, target)
    if (!opened) return
    close = opened.close
    for await (const { data } of opened.caller.pages(operation, { query, signal })) {
      for (const item of data) {
        const thing = thingOf(item, operation.identifier)
        if (thing) found.push(thing)
      }
      if (found.length >= maxThings || signal.aborted) return
    }
  }

  const deadline = Promise.withResolvers<void>()
  const timer = setTimeout(deadline.resolve, deadlineMs[target.kind])
  const work = collect().then(
    () => true,
    () => false,
  )
  const isWhole = await Promise.race([work, deadline.promise.then(() => false)])
  clearTimeout(timer)
  controller.abort()
  const closed = close().catch(() => {})
  if (isWhole) await closed
  return found
}

/** Requests the modules of a course, which are named by their titles; none without a course. */
async function requestModules(
  io: Io,
  transports: () => Promise<Transports>,
  settings: Settings,
  target: Target,
  course: string | undefined,
): Promise<Thing[]> {
  if (course === undefined) return []
  const [{ calls }, { modulesOf }] = await Promise.all([
    import('../../contract/calls.ts'),
    import('../operation/course-modules.ts'),
  ])
  const opened = await open(io, transports, settings, target)
  if (!opened) return []
  try {
    const signal = AbortSignal.timeout(deadlineMs[target.kind])
    const { data } = await opened.caller.call(calls.courses.get, { params: { courseId: course }, signal })
    return modulesOf(data).map(({ title }, index) => ({
      ...{ id: String(title), externalId: null, email: null },
      label: `Module ${index + 1}`,
    }))
  } finally {
    await opened.close()
  }
}

/**
 * Opens a connection; null if that needs a prompt. Without a valid credential nothing is sent, and no token
 * is refreshed. A local academy that is missing or of an earlier version is not changed.
 */
async function open(io: Io, transports: () => Promise<Transports>, settings: Settings, target: Target) {
  const { createCaller } = await import('../../client/caller.ts')
  const timeoutMs = deadlineMs[target.kind]
  const common = { attempts: 1, timeoutMs, now: io.now, sleep: io.sleep, random: io.random }
  if (target.kind === 'local') {
    const academy = await (await transports()).current(target.database, () => new Date(io.now()))
    if (!academy) return null
    const { transport, close } = academy
    return { caller: createCaller({ ...common, baseUrl: 'http://localhost', transport }), close }
  }
  const bearer = bearerOf(target, io.now())
  if (bearer === null) return null
  const network = await (await transports()).remote(io)
  const caller = createCaller({
    ...{ ...common, baseUrl: target.url, transport: network, insecureHttp: settings.insecureHttp.value },
    authorization: async () => `Bearer ${bearer}`,
  })
  return { caller, close: () => network.close() }
}

function bearerOf({ credential }: RemoteTarget, now: number): string | null {
  const tokens = credential?.kept?.tokens
  const ends = tokens?.expiresAt ? Date.parse(tokens.expiresAt) : Number.POSITIVE_INFINITY
  return credential && ends - now > 2 * deadlineMs.remote ? credential.value : null
}

interface Thing {
  readonly id: string
  readonly externalId: string | null
  readonly email: string | null
  readonly label: string
}

/** Fields that name a record without a name of its own. */
const joinedFields = [
  ...['itemId', 'userEmail', 'userExternalId', 'courseTitle', 'courseExternalId', 'role', 'status'],
]

/** Null if it has no id. */
function thingOf(item: unknown, identifier = 'id'): Thing | null {
  if (!isJsonObject(item)) return null
  const id = String(item[identifier] ?? '')
  if (id === '') return null
  const text = (name: string) => (typeof item[name] === 'string' && item[name] !== '' ? item[name] : null)
  const { displayName, firstName, lastName } = isJsonObject(item['profile']) ? item['profile'] : {}
  const names = [displayName, [firstName, lastName].filter(Boolean).join(' ')]
  const email = text('email')
  const own = [text('title'), text('name'), ...names, text('username'), email].find(
    (name) => typeof name === 'string' && name !== '',
  )
  const label = typeof own === 'string' ? own : joinedFields.flatMap((name) => text(name) ?? []).join(' · ')
  return { id, externalId: text('externalId'), email, label: label.slice(0, 100) }
}

/**
 * Returns the reference of each record that begins with the typed text: `ext:` and `email:` before bare ids.
 */
function suggestionsOf(things: readonly Thing[], typed: string): Suggestion[] {
  const found = new Map<string, string>()
  for (const { id, externalId, email, label } of things) {
    const named = [
      ...(email === null ? [] : [`email:${email}`]),
      ...(externalId === null ? [] : [`ext:${externalId}`]),
    ]
    const bare = [email, externalId].filter((name) => name !== null)
    const value = [...named, id, ...bare].find((each) => each.startsWith(typed))
    if (value !== undefined && !found.has(value)) found.set(value, label)
  }
  return [...found].map(([value, meaning]) => ({ value, meaning }))
}
