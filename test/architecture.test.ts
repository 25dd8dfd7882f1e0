import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** Which part of src may import which others: statically, as types, or when it needs them. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  client: ['contract'],
  auth: ['contract', 'config'],
  config: ['contract'],
  server: ['contract'],
  cli: ['contract', 'client', 'auth', 'config', 'server'],
}

/** Where the command line reaches the server. */
const doorsToServer = ['cli/session.ts', 'cli/commands/server.ts']
/** Where it knows a type of the server, which leaves nothing behind when it runs. */
const typesOfServer = ['cli/session.ts', 'cli/example-data.ts']

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

/** All that is loaded together with a file: what it imports statically, and what that imports. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  for (const { to, kind } of imports.filter(({ from }) => from === path)) {
    if (kind !== 'static' || seen.has(to)) continue
    seen.add(to)
    loadedWith(to, seen)
  }
  return seen
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
  const parts = [...new Set(sources.map(({ path }) => partOf(path)))]
  expect(parts.sort()).toEqual(Object.keys(mayImport).sort())
  const wrong = own.filter(({ from, to }) => {
    if (to === '../package.json') return from !== 'contract/version.ts'
    const [part, other] = [partOf(from), partOf(to)]
    return part !== other && !mayImport[part]?.includes(other)
  })
  expect(wrong.map(shown)).toEqual([])
})

test('only the version leaves src', () => {
  const leaving = imports.filter(({ to }) => to.startsWith('..'))
  expect(leaving.map(shown)).toEqual(['contract/version.ts → ../package.json (static)'])
})

test('the command line reaches the server through two doors, and opens them when they are needed', () => {
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
  const starts = ['cli/main.ts', 'cli/context.ts', 'cli/report.ts'].concat(
    sources.map(({ path }) => path).filter((path) => path.startsWith('cli/commands/')),
  )
  const light = /^commander$|^node:(?!https?$)/
  const heavy = starts.flatMap((path) =>
    [...loadedWith(path)].filter((to) => !isOwn(to) && !to.endsWith('.json') && !light.test(to)),
  )
  expect(heavy).toEqual([])
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

test('every export says what it is', () => {
  const silent = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      const name =
        /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/.exec(
          line,
        )?.[1]
      const before = lines[index - 1] ?? ''
      return name === undefined || before.endsWith('*/') || typeOfValue(line) ? [] : [`${path}: ${name}`]
    }),
  )
  expect(silent).toEqual([])
})

/** A type that is made from the value above it needs no sentence of its own: that one says what both are. */
function typeOfValue(line: string): boolean {
  return /^export type \w+ = .*\btypeof (\w+)/.test(line)
}

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
