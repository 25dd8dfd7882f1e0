import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { chunks } from '../tsdown.config.ts'

/** Which part of src may import which others: statically, as types, or when it needs them. */
const parts: Readonly<Record<string, readonly string[]>> = {
  codec: [],
  contract: ['codec'],
  client: ['contract', 'codec'],
  auth: ['contract', 'codec', 'config'],
  config: ['contract', 'codec'],
  webhooks: ['contract', 'codec'],
  server: ['webhooks', 'contract', 'codec'],
  cli: ['webhooks', 'contract', 'codec', 'client', 'auth', 'config', 'server'],
}

/** Which room of the server may import which others; what stands beside them puts them together. */
const serverRooms: Readonly<Record<string, readonly string[]>> = {
  problem: [],
  database: ['problem'],
  access: ['database', 'problem'],
  sealing: ['database', 'problem'],
  outbox: ['database'],
  outgoing: [],
  counters: ['database'],
  audit: ['counters', 'access', 'database', 'problem'],
  http: ['audit', 'outgoing', 'sealing', 'access', 'database', 'problem'],
  'audit-log': ['audit', 'http', 'database', 'problem'],
  changes: ['audit', 'outbox'],
  courses: ['changes', 'counters', 'http', 'database', 'problem'],
  users: ['changes', 'audit', 'outbox', 'counters', 'http', 'access', 'database', 'problem'],
  progress: ['changes', 'audit', 'counters', 'courses', 'users', 'http', 'database', 'problem'],
  grades: ['changes', 'audit', 'progress', 'counters', 'courses', 'users', 'http', 'database', 'problem'],
  webhooks: [
    ...['integrations', 'grades', 'progress', 'users', 'changes', 'audit', 'outbox', 'outgoing', 'sealing'],
    ...['http', 'access', 'database', 'problem'],
  ],
  integrations: ['outgoing', 'changes', 'audit', 'sealing', 'http', 'database', 'problem'],
  analytics: ['counters', 'http', 'database', 'problem'],
  credentials: ['changes', 'audit', 'users', 'http', 'access', 'database', 'problem'],
  pages: ['changes', 'audit', 'http', 'access', 'database', 'problem'],
  oauth: ['changes', 'audit', 'pages', 'credentials', 'http', 'access', 'database', 'problem'],
  dashboard: [
    ...[
      'audit',
      'pages',
      'courses',
      'users',
      'analytics',
      'grades',
      'webhooks',
      'integrations',
      'audit-log',
      'credentials',
      'http',
      'access',
      'problem',
    ],
  ],
  copy: ['audit', 'upgrade', 'database'],
  upgrade: ['database'],
  'long-reads': ['outgoing', 'sealing', 'http', 'access', 'database', 'problem'],
  socket: [
    'webhooks',
    'outgoing',
    'sealing',
    'upgrade',
    'long-reads',
    'credentials',
    'http',
    'access',
    'database',
    'problem',
  ],
}

/** Which room of the command line may import which others. */
const cliRooms: Readonly<Record<string, readonly string[]>> = {
  terminal: [],
  shell: [],
  output: ['terminal'],
  session: ['terminal'],
  command: ['output', 'session', 'terminal'],
  operation: ['dataset', 'command', 'session', 'output', 'terminal'],
  help: ['command', 'terminal'],
  export: ['dataset', 'operation', 'command', 'output', 'terminal'],
  dataset: ['output', 'terminal'],
  'course-file': ['dataset', 'operation', 'command', 'output', 'terminal'],
  import: ['dataset', 'export', 'operation', 'command', 'session', 'output', 'terminal'],
  audit: ['operation', 'command', 'session', 'output', 'terminal'],
  academy: ['course-file', 'dataset', 'import', 'operation', 'command', 'session', 'output', 'terminal'],
  quickstart: ['session', 'terminal'],
  'local-server': ['dataset', 'command', 'terminal'],
  'sign-in': ['operation', 'command', 'session', 'output', 'terminal'],
  simulator: ['command', 'terminal'],
  listener: ['terminal'],
  commands: [
    ...[
      'operation',
      'help',
      'export',
      'dataset',
      'course-file',
      'academy',
      'audit',
      'import',
      'quickstart',
      'local-server',
      'sign-in',
      'simulator',
      'listener',
    ],
    ...['command', 'session', 'output', 'shell', 'terminal'],
  ],
  program: ['commands', 'help', 'command', 'terminal'],
  completion: ['local-server', 'shell', 'operation', 'help', 'command', 'session', 'terminal'],
}

/** What stands beside the rooms of each, above all of them, and may be imported from the rooms named. */
const besideRooms: Readonly<Record<string, readonly string[]>> = {
  'server/academy.ts': ['socket', 'copy', 'upgrade'],
  'server/encryption-key.ts': [],
  'server/endpoints.ts': ['socket', 'long-reads'],
  'server/local.ts': [],
  'server/routes.ts': ['socket', 'long-reads'],
  'server/service.ts': [],
  'server/upkeep.ts': ['socket'],
  'cli/error-report.ts': [],
  'cli/failures.ts': ['commands', 'operation'],
  'cli/main.ts': [],
  'cli/report.ts': [],
}

/** Where the command line reaches the server. */
const doorsToServer = [
  'cli/session/session.ts',
  'cli/commands/server-start.ts',
  'cli/commands/server-copy.ts',
  'cli/commands/server-exec.ts',
  'cli/commands/server-backup.ts',
  'cli/commands/server-encryption-key.ts',
  'cli/commands/server-snapshot.ts',
]
/** Where it knows a type of the server, which leaves nothing behind when it runs. */
const typesOfServer = [
  'cli/commands/server-copy.ts',
  'cli/session/session.ts',
  'cli/session/upgrade-notes.ts',
  'cli/local-server/log-text.ts',
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

/** True for a file of ours: TypeScript, or pages in it. */
function isOwn(path: string): boolean {
  return /\.tsx?$/.test(path)
}

/** Strings are kept: they say what is imported, and may hold what looks like a comment. */
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

/** The folder of a file inside its part; the file itself where it stands beside the folders. */
function roomOf(path: string): string {
  const [part, room, ...more] = path.split('/')
  return more.length > 0 ? (room ?? '') : `${part}/${room}`
}

/** All that a file leads to, however it imports it. */
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

/** All that is loaded together with a file: what it imports statically, and what that imports. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  for (const { to, kind } of imports.filter(({ from }) => from === path)) {
    if (kind !== 'static' || seen.has(to)) continue
    seen.add(to)
    loadedWith(to, seen)
  }
  return seen
}

/** The chunk of the build that a file goes into, where it is named: the first that its name fits. */
function chunkOf(path: string): string | undefined {
  return chunks.find(({ test }) => test.test(`src/${path}`))?.name
}

function shown({ from, to, kind }: Import): string {
  return `${from} → ${to} (${kind})`
}

test('every import in src is one that this test can read', () => {
  const words = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/^(?:import|export)\b.*? from\b|^} from\b|\bimport\(|^import '/gm)].map(() => path),
  )
  expect(imports.map(({ from }) => from)).toEqual(words)
  expect(imports.length).toBeGreaterThan(500)
})

test('each part of src imports only the parts that it may', () => {
  expect([...new Set(sources.map(({ path }) => partOf(path)))].sort()).toEqual(Object.keys(parts).sort())
  const wrong = own.filter(({ from, to }) => {
    const [part, other] = [partOf(from), partOf(to)]
    return part !== other && !parts[part]?.includes(other)
  })
  expect(wrong.map(shown)).toEqual([])
})

test.for([
  ['server', serverRooms],
  ['cli', cliRooms],
] as const)('each room of %s imports only the rooms below it that it may', ([part, rooms]) => {
  const inside = own.filter(({ from, to }) => partOf(from) === part && partOf(to) === part)
  const found = new Set(inside.flatMap(({ from, to }) => [roomOf(from), roomOf(to)]))
  const beside = Object.keys(besideRooms).filter((path) => partOf(path) === part)
  expect([...found].sort()).toEqual([...Object.keys(rooms), ...beside].sort())
  const wrong = inside.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (room === other || room in besideRooms) return false
    return !(rooms[room]?.includes(other) || besideRooms[other]?.includes(room))
  })
  expect(wrong.map(shown)).toEqual([])
})

test('the rooms of each part are floors: no circle leads back into one', () => {
  for (const rooms of [parts, serverRooms, cliRooms]) {
    const floors: string[] = []
    while (floors.length < Object.keys(rooms).length) {
      const next = Object.keys(rooms).filter(
        (room) => !floors.includes(room) && rooms[room]?.every((below) => floors.includes(below)),
      )
      expect(next, `what stands on ${floors.join(', ')}`).not.toEqual([])
      floors.push(...next)
    }
  }
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
  const starts = ['cli/main.ts', 'cli/command/context.ts', 'cli/report.ts'].concat(
    sources.map(({ path }) => path).filter((path) => path.startsWith('cli/commands/')),
  )
  const light = /^commander$|^node:(?!https?$)/
  const heavy = starts.flatMap((path) =>
    [...loadedWith(path)].filter((to) => !isOwn(to) && !to.endsWith('.json') && !light.test(to)),
  )
  expect(heavy).toEqual([])
})

test('the chunk of the program holds what main.ts loads, and needs no other one to start', () => {
  const missing = [...loadedWith('cli/main.ts')].filter((to) => isOwn(to) && chunkOf(to) !== 'program')
  const leaving = own.filter(
    ({ from, to, kind }) => kind === 'static' && chunkOf(from) === 'program' && chunkOf(to) !== 'program',
  )
  expect([...missing, ...leaving.map(shown)]).toEqual([])
})

test('the help of what works on one resource needs no chunk but its own and that of the program', () => {
  const resources = ['courses', 'lessons', 'users', 'enrollments', 'progress', 'keys', 'apps']
  const others = resources.flatMap((name) =>
    [...loadedWith(`cli/commands/${name}.ts`)]
      .filter((to) => isOwn(to) && ![undefined, 'program'].includes(chunkOf(to)))
      .map((to) => `${name} → ${to}`),
  )
  expect(others).toEqual([])
})

test('the chunk of a run needs that of the program alone: zod waits for a call', () => {
  const leaving = own.filter(
    ({ from, to, kind }) =>
      kind === 'static' && chunkOf(from) === 'run' && !['run', 'program'].includes(chunkOf(to) ?? ''),
  )
  expect(leaving.map(shown)).toEqual([])
})

test('what a list on a local academy loads beside its resource is in the named chunks', () => {
  const starts = ['cli/operation/run-operation.ts', 'cli/operation/list.ts', 'cli/session/request-options.ts']
  const run = starts.concat('cli/command/context.ts', 'cli/command/resolve-times.ts', 'server/local.ts')
  const scattered = run
    .flatMap((path) => [path, ...loadedWith(path)])
    .filter((path) => isOwn(path) && !chunkOf(path))
  expect(scattered).toEqual([])
})

test.for([
  'server/local.ts',
  'server/courses/course-reads.ts',
  'server/users/user-reads.ts',
  'server/progress/progress-reads.ts',
])('no schema is loaded with %s', (path) => {
  // The build puts their values in the place of these.
  const evaluated = ['contract/calls.ts', 'contract/empty-profile.ts']
  const needing = sources.filter((source) => loadedWith(source.path, new Set(evaluated)).has('zod'))
  const found = [...loadedWith(path, new Set(evaluated))].filter(
    (to) => to === 'zod' || needing.some((source) => source.path === to && !evaluated.includes(to)),
  )
  expect(found).toEqual([])
})

test('the driver for PostgreSQL is behind its own door: nobody who has a file loads it', () => {
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

test('every folder and file that the chunks name is there', () => {
  const idle = chunks.filter(({ test }) => !sources.some(({ path }) => test.test(`src/${path}`)))
  expect(idle.map(({ name }) => name)).toEqual([])
})

test('no file of src is longer than 250 lines', () => {
  const long = sources.filter(({ lines }) => lines.length > 250)
  expect(long.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([])
})

test('files and folders have names of their own, in kebab-case', () => {
  const names = new Set(sources.flatMap(({ path }) => path.replace(/(\.d)?\.tsx?$/, '').split('/')))
  const odd = [...names].filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))
  const dumps = [...names].filter((name) => /^(utils?|helpers?|common|types|misc|shared)$/.test(name))
  expect([...odd, ...dumps]).toEqual([])
})

test('every export says what it is, by its comment or by itself', () => {
  const silent = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      const name =
        /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/.exec(
          line,
        )?.[1]
      const before = lines[index - 1] ?? ''
      return name === undefined || before.endsWith('*/') || saysItself(line) ? [] : [`${path}: ${name}`]
    }),
  )
  expect(silent).toEqual([])
})

/**
 * A type made from a value, a union of names, a schema, its words, a list of choices and the routes of a resource need
 * no sentence: their names and fields are the sentence, and one more could only repeat them.
 */
function saysItself(line: string): boolean {
  return (
    /^export type \w+ = (.*\btypeof (\w+)|('[\w]+' \| )+'\w+'$)/.test(line) ||
    /^export const (\w+Words = \{|\w+ = (z$|z\.|\[|[A-Z]\w*\.|patchOf\(|optional\(|routesOf\(|plainRoutesOf<))/.test(
      line,
    )
  )
}

test('a document that src names is in the repository', () => {
  const missing = sources.flatMap(({ path, lines }) =>
    [...lines.join('\n').matchAll(/[\w./-]+\.md\b/g)].flatMap(([name]) =>
      existsSync(join(root, '..', name)) ? [] : [`${path}: ${name}`],
    ),
  )
  expect(missing).toEqual([])
})

test('types are known, and erasable', () => {
  const wrong = sources.flatMap(({ path, code }) =>
    [
      ...code.matchAll(
        /(?::|\bas|<|\|) any\b|<any\b|\bany\[\]|^\s*(?:export |declare )*(?:enum|namespace) \w+/gm,
      ),
    ].map(([text]) => `${path}: ${text.trim()}`),
  )
  expect(wrong).toEqual([])
})
