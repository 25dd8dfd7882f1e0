import { NotOfferedError } from '../../client/errors.ts'
import { encodePath, normaliseBaseUrl } from '../../client/request.ts'
import { shellWord } from '../../codec/display-text.ts'
import { localProfile } from '../../config/profiles.ts'
import { type Command, type Given, notAList } from '../command/command.ts'
import { type Context, openPage } from '../command/context.ts'
import { browserFlag } from '../command/flag.ts'
import { isServing, listServers } from '../local-server/running-servers.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const fields = ['url']
const shape = { table: fields, paths: fields }
const places = ['dashboard', 'course']

export const command: Command = {
  name: 'open',
  summary: 'Open the dashboard in the browser',
  writes: [],
  prints: ['OpenedPage'],
  description:
    'Prints the URL and, on a terminal, opens it. A local academy must be running: learnctl server start --detach.',
  arguments: [
    {
      name: 'what',
      summary: 'What to open: dashboard or course (default dashboard)',
      optional: true,
      choices: places,
    },
    { name: 'id', summary: 'Course: id or external id', optional: true },
  ],
  flags: [browserFlag],
  examples: ['open', 'open course ext:first-course', 'open --no-browser'],
  refuses: notAList,
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const { io, settings, output } = context
  output.check(shape)
  const course = courseOf(given)
  const base = await baseOf(context)
  const id = course === undefined || settings.dryRun.value ? course : await idOf(context, course)
  const url = base + (id === undefined ? '/dashboard' : pathOf(id))
  await (settings.output.value === 'table' ? output.text(`${url}\n`) : output.one({ url }, shape))
  const { browser } = given.flags
  if (settings.dryRun.value || browser === false || !(io.stdout.isTTY || browser === true)) return
  await openPage(context, url)
}

/** Undefined for the whole dashboard. Throws a UsageError. */
function courseOf({ arguments: { what = 'dashboard', id } }: Given): string | undefined {
  if (!places.includes(what)) {
    throw new UsageError(`Cannot open ${JSON.stringify(what)}: it must be ${places.join(' or ')}`, {
      choice: { given: what, valid: places },
    })
  }
  if (what === 'course' && id === undefined) {
    throw new UsageError('<id> of the course is required', { hint: 'List courses: learnctl courses list' })
  }
  if (what === 'dashboard' && id !== undefined) {
    throw new UsageError(`The dashboard takes no id: ${JSON.stringify(id)}`)
  }
  return id
}

async function baseOf(context: Context): Promise<string> {
  const target = context.session.target()
  if (target.kind === 'remote') return normaliseBaseUrl(target.url)
  const servers = await listServers(context.directories.state)
  // Prefer the server that was started last.
  for (const server of servers.toReversed()) {
    if (server.database !== target.database) continue
    if (context.settings.dryRun.value || (await isServing(context, server)))
      return normaliseBaseUrl(server.url)
  }
  const which = target.profile === localProfile ? '' : ` --database ${shellWord(target.database)}`
  throw new CommandError('not_running', 'notFound', `No server is running for ${target.database}`, {
    hint: `Start one: learnctl server start --detach${which}`,
  })
}

/**
 * Resolves a course to its id, so that an unknown one is reported here; returns the reference as given if it cannot
 * be looked up.
 */
async function idOf({ io, session }: Context, reference: string): Promise<string> {
  const target = session.target()
  if (target.kind === 'remote' && target.credential === null) return reference
  const { courses } = (await import('../../contract/calls.ts')).calls
  const caller = await session.caller()
  try {
    const { data } = await caller.call(courses.get, { params: { courseId: reference }, signal: io.signal })
    // Other platforms may have numeric ids.
    return String(data.id)
  } catch (error) {
    if (error instanceof NotOfferedError) return reference
    throw error
  }
}

/** Escapes the characters that `encodeURIComponent` leaves and shells interpret (RFC 3986 §2.2). */
function pathOf(courseId: string): string {
  return encodePath('/dashboard/courses/{courseId}', { courseId }).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
