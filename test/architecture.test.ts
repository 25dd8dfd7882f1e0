import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { expect, test } from 'vitest'
import { plainData } from '../tsdown.config.ts'

/**
 * The floors of src, from the ground up: a file imports from its own room and from floors below, statically, as a type or
 * when it needs it. Rooms on one line do not import each other.
 */
const floors = `
codec
contract
tables
client config lms report
auth

server/problem-error.ts server/outgoing
server/database
server/access
server/changes
server/http
server/audit server/courses server/events server/pages server/service.ts
server/groups
server/users server/analytics
server/calendars server/credentials server/digests.ts server/leases.ts server/progress server/settings.ts
server/grades server/oauth
server/integrations server/oneroster
server/plans
server/dashboard server/upkeep.ts
server/routes.ts
server/long-reads
server/academy
server/copy server/socket

cli/terminal
cli/output
cli/session cli/dataset
cli/command
cli/targets
cli/operation cli/help cli/local-server cli/flags
cli/webhooks cli/pseudonyms
cli/failures.ts
cli/records
cli/roster cli/results
cli/export cli/audit cli/sign-in cli/undo cli/mcp
cli/commands cli/completion
cli/program cli/report.ts
cli/main.ts
testing
`

/** Forbidden imports that the floors alone would allow. */
const never: readonly (readonly [from: RegExp, to: RegExp])[] = [
  // auth is given the network as a function.
  [/^auth$/, /^(client|lms|report)$/],
  [/^server\//, /^(client|config|auth)$/],
  // Pages of the dashboard read through the handlers of the API.
  [/^server\/dashboard$/, /^server\/database$/],
]

/** Allowed imports from a floor above. */
const upwards = [
  // A call that fails among several is reported like a failed command.
  'cli/operation → cli/failures.ts',
]

/** Modules through which the command line reaches the server. */
const doorsToServer = [
  'cli/session/session.ts',
  'cli/commands/server-start.ts',
  'cli/commands/server-copy.ts',
  'cli/commands/server-exec.ts',
  'cli/commands/server-backup.ts',
  'cli/commands/server.ts',
  'cli/commands/server-snapshot.ts',
]
/** Files that import only types of the server. */
const typesOfServer = [
  'cli/commands/server-copy.ts',
  'cli/session/session.ts',
  'cli/session/academy-file.ts',
  'cli/local-server/start-report.ts',
  'cli/local-server/exec-run.ts',
]

interface Import {
  readonly from: string
  /** A path inside src, or the name of a package. */
  readonly to: string
  readonly kind: 'static' | 'type' | 'dynamic'
}

interface Source {
  readonly path: string
  /** The text without its comments. */
  readonly code: string
  readonly lines: readonly string[]
}

const root = join(import.meta.dirname, '../src')

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter(isOwn)
  .sort()
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, code: withoutComments(text), lines: text.trimEnd().split('\n') }
  })

const imports: readonly Import[] = sources.flatMap(importsOf)
const own = imports.filter(({ to }) => isOwn(to))
const ownByFile = new Map(
  [...Map.groupBy(own, ({ from }) => from)].map(([from, all]) => [from, all.map(({ to }) => to)]),
)
const staticByFile = new Map(
  [...Map.groupBy(imports, ({ from }) => from)].map(([from, all]) => [
    from,
    all.filter(({ kind }) => kind === 'static').map(({ to }) => to),
  ]),
)

/** True for a TypeScript file of ours. */
function isOwn(path: string): boolean {
  return /\.tsx?$/.test(path)
}

/** Strings stay: they hold the paths of imports, and may contain what looks like a comment. */
function withoutComments(text: string): string {
  return text.replace(/('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/.*/g, '$1')
}

function importsOf({ path, code }: Source): Import[] {
  const found = code.matchAll(
    /^(import|export)\b(?<type> type\b)?[^;'"`]*?from '(?<from>[^']+)'|^import '(?<bare>[^']+)'|\bimport\(\s*'(?<lazy>[^']+)'/gm,
  )
  return [...found].map(({ groups = {} }) => {
    const { type, from, bare, lazy } = groups
    const name = from ?? bare ?? lazy ?? ''
    return {
      from: path,
      to: name.startsWith('.') ? normalize(join(dirname(path), name)) : name,
      kind: lazy ? 'dynamic' : type ? 'type' : 'static',
    }
  })
}

function partOf(path: string): string {
  return path.split('/')[0] ?? ''
}

/** Returns the room of a file: its part, or in server and cli the folder or file right below. */
function roomOf(path: string): string {
  const [part = '', room = ''] = path.split('/')
  return ['server', 'cli'].includes(part) ? `${part}/${room}` : part
}

/** Returns all files that a file imports in any way, directly or not. */
function reachedFrom(path: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [path]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const to of ownByFile.get(next) ?? []) {
      if (seen.has(to)) continue
      seen.add(to)
      open.push(to)
    }
  }
  return seen
}

/** Returns all files that are loaded together with a file: its static imports, directly or not. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  for (const to of staticByFile.get(path) ?? []) {
    if (seen.has(to)) continue
    seen.add(to)
    loadedWith(to, seen)
  }
  return seen
}

/** Modules that the build replaces by their values. */
const evaluated = sources.map(({ path }) => path).filter((path) => plainData.test(`/src/${path}`))

function shown({ from, to, kind }: Import): string {
  return `${from} → ${to} (${kind})`
}

test('every import in src is one that this test can read', () => {
  const words = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/^(?:import|export)\b.*? from '|^} from '|\bimport\(|^import '/gm)].map(() => path),
  )
  expect(imports.map(({ from }) => from)).toEqual(words)
  expect(imports.length).toBeGreaterThan(500)
})

test('each file imports from its own room and from floors below', () => {
  const levels = floors
    .trim()
    .split(/\n+/)
    .map((line) => line.split(' '))
  const rooms = new Set(sources.map(({ path }) => roomOf(path)))
  expect(levels.flat().sort()).toEqual([...rooms].sort())
  const levelOf = (room: string) => levels.findIndex((level) => level.includes(room))
  const wrong = own.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (room === other || upwards.includes(`${room} → ${other}`)) return false
    return levelOf(other) >= levelOf(room) || never.some(([one, two]) => one.test(room) && two.test(other))
  })
  expect(wrong.map(shown)).toEqual([])
})

test('no file of src is in a circle of imports', () => {
  const circles = sources.filter(({ path }) => reachedFrom(path).has(path)).map(({ path }) => path)
  expect(circles).toEqual([])
})

test('only the version leaves src', () => {
  const leaving = imports.filter(({ to }) => to.startsWith('..'))
  expect(leaving.map(shown)).toEqual(['contract/version.ts → ../package.json (static)'])
})

test('the command line reaches the server through few doors, and opens them when they are needed', () => {
  const reaching = own.filter(({ from, to }) => partOf(from) === 'cli' && partOf(to) === 'server')
  const wrong = reaching.filter(({ from, kind }) =>
    kind === 'dynamic' ? !doorsToServer.includes(from) : kind === 'static' || !typesOfServer.includes(from),
  )
  expect(wrong.map(shown)).toEqual([])
  expect(new Set(reaching.filter(({ kind }) => kind === 'dynamic').map(({ from }) => from))).toEqual(
    new Set(doorsToServer),
  )
})

test('nothing heavy is loaded before a command needs it', () => {
  const starts = ['cli/main.ts', 'cli/command/context.ts', 'cli/report.ts', 'client/caller.ts'].concat(
    sources.map(({ path }) => path).filter((path) => path.startsWith('cli/commands/')),
  )
  const light = /^commander$|^node:(?!https?$)/
  const heavy = starts.flatMap((path) =>
    [...loadedWith(path, new Set(evaluated))].filter(
      (to) => !isOwn(to) && !to.endsWith('.json') && !light.test(to),
    ),
  )
  expect(heavy).toEqual([])
})

test.for([
  'server/local.ts',
  'server/courses/course-reads.ts',
  'server/users/user-reads.ts',
  'server/progress/progress-reads.ts',
  'client/caller.ts',
])('no schema is loaded with %s', (path) => {
  const needing = sources.filter((source) => loadedWith(source.path, new Set(evaluated)).has('zod'))
  const found = [...loadedWith(path, new Set(evaluated))].filter(
    (to) => to === 'zod' || needing.some((source) => source.path === to && !evaluated.includes(to)),
  )
  expect(found).toEqual([])
})

test('the driver for PostgreSQL is behind its own door: an academy in a file never loads it', () => {
  const driver = 'server/database/postgres/'
  const wrong = imports.filter(
    ({ from, to, kind }) =>
      !from.startsWith(driver) && kind === 'static' && (to.startsWith(driver) || /^pg\b/.test(to)),
  )
  expect(wrong.map(shown)).toEqual([])
  const packages = imports
    .filter(({ to, kind }) => /^pg\b/.test(to) && kind !== 'type')
    .map(({ from }) => from)
  expect(packages).toEqual([`${driver}pool.ts`])
})

test('code for other platforms is loaded when one of them responds', () => {
  const outside = own.filter(
    ({ from, to, kind }) =>
      kind === 'static' &&
      /^client\/platform\/(?!index\.)/.test(to) &&
      !/^(?:client\/platform\/|cli\/commands\/profile-)/.test(from),
  )
  expect(outside.map(shown)).toEqual([])
})

test('behaviour that depends on the style of a platform is decided by its replies, not by its kind', () => {
  const rooms = ['client', 'cli/operation', 'cli/export', 'cli/output', 'cli/dataset', 'cli/command']
  const asking = sources.filter(({ code }) => /\bkind [!=]== '(?:local|remote)'/.test(code))
  expect(asking.map(({ path }) => path).filter((path) => rooms.includes(roomOf(path)))).toEqual([
    // names the academy in a question
    'cli/command/confirm.ts',
    // waits for the user to stop typing before it sends a request
    'cli/command/pick-thing.ts',
    // shows whether a credential is sent
    'cli/operation/dry-run.ts',
  ])
})

const page = readFileSync(join(root, '../docs/architecture.md'), 'utf8')

test('docs/architecture.md has a line for each folder of src', () => {
  const [, tree = ''] = /```text\n([\s\S]*?)```/.exec(page) ?? []
  const parents: string[] = []
  const described = tree.split('\n').flatMap((line) => {
    const [, indent = '', name] = /^( *)([\w-]+)\//.exec(line) ?? []
    if (name === undefined) return []
    parents.splice(indent.length / 2, parents.length, name)
    return parents[0] === 'src' && parents.length > 1 ? [parents.slice(1).join('/')] : []
  })
  const folders = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  expect(described.toSorted()).toEqual(folders.toSorted())
})

test('docs/architecture.md names files that exist', () => {
  const names = [...page.matchAll(/[\w/.-]*\w\.(?:tsx?|js)\b/g)].map(([name]) => name)
  const paths = ['bin', 'src', 'test', 'test/helpers'].flatMap((folder) =>
    readdirSync(join(root, '..', folder), { recursive: folder === 'src', encoding: 'utf8' }),
  )
  const isThere = (name: string) =>
    existsSync(join(root, '..', name)) || paths.some((path) => `/${path}`.endsWith(`/${name}`))
  expect(names.filter((name) => !isThere(name))).toEqual([])
})
