import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { shownFiles } from './helpers/examples.ts'
import { type Ended, root, run } from './helpers/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'learnctl-package-'))
const home = join(folder, 'home')
const prefix = join(folder, 'prefix')
const env = {
  ...process.env,
  HOME: home,
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
}
const archive = join(folder, `learnctl-${manifest.version}.tgz`)
const installed = join(prefix, 'lib/node_modules/learnctl')

interface Packed {
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

let packed: Packed

function npm(...words: readonly string[]): Promise<Ended> {
  return run('npm', words, { cwd: root, env })
}

/** Runs the installed program in a folder that is not a clone. */
function learnctl(...words: readonly string[]): Promise<Ended> {
  return run(join(prefix, 'bin/learnctl'), words, { cwd: folder, env: { ...process.env, HOME: home } })
}

beforeAll(async () => {
  const { stdout } = await npm('pack', '--ignore-scripts', '--json', '--pack-destination', folder)
  const told: Packed[] | Record<string, Packed> = JSON.parse(stdout)
  // npm 12 names the packages; npm 11 lists them.
  const [first] = Object.values(told)
  if (!first) throw new Error(`npm pack did not say what it packed: ${stdout}`)
  packed = first
  const install = ['install', '-g', archive, '--prefix', prefix, '--ignore-scripts']
  expect(await npm(...install)).toMatchObject({ code: 0 })
})

afterAll(() => rmSync(folder, { recursive: true }))

test('the package holds the program, its library, manual, completions and notices, and nothing else', () => {
  const kinds = packed.files.map(({ path }) =>
    path.replace(/^dist\/(cli\/chunks|library|examples|common-passwords)\/.*/, 'dist/$1/'),
  )
  expect([...new Set(kinds)].sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin/learnctl.js',
    'bin/package.json',
    'dist/THIRD-PARTY-NOTICES.txt',
    'dist/cli/chunks/',
    'dist/common-passwords/',
    'dist/completions/learnctl.bash',
    'dist/completions/learnctl.fish',
    'dist/completions/learnctl.powershell',
    'dist/completions/learnctl.zsh',
    'dist/examples/',
    'dist/help.txt',
    'dist/learnctl.1',
    'dist/library/',
    'dist/main.cjs',
    'dist/sbom.cdx.json',
    'package.json',
  ])
})

test('the package is at most 2 MB', () => {
  expect(packed.size).toBeLessThanOrEqual(2_000_000)
})

describe('notices', () => {
  const text = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8')
  const bill: { components: { group?: string; name: string; version: string; licenses: object[] }[] } =
    JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'))
  const components = bill.components.map(({ group, name, version, licenses }) => {
    return { name: group === undefined ? name : `${group}/${name}`, version, licenses }
  })

  test('name every package of the bundle with its licence', () => {
    const notices = new Map(text.split(/\n\n-{79}\n\n/).map((notice) => [notice.split('\n')[0], notice]))
    expect(components.map(({ name, version }) => `${name} ${version}`).sort()).toEqual(
      [...notices.keys()].sort(),
    )
    for (const [name, notice] of notices) expect(notice, name).toMatch(/copyright|author/i)
  })

  test('name no package under a licence that asks for more than a notice', () => {
    const simple = /^\{"license":\{"id":"(MIT|ISC|BSD-2-Clause|BSD-3-Clause|0BSD|Apache-2.0|BlueOak-1.0.0)"/
    const others = components.filter(
      ({ licenses }) => !licenses.every((each) => simple.test(JSON.stringify(each))),
    )
    expect(others).toEqual([])
  })

  test('name the packages that the library contains as well', () => {
    expect(components.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['undici', 'zod', 'commander', 'pg']),
    )
  })
})

describe('installed without a network, without scripts, in an empty home', () => {
  test('quickstart, the server and an export work', async () => {
    expect(await learnctl('quickstart')).toMatchObject({ code: 0, stderr: '' })
    const exec = ['server', 'exec', '--', join(prefix, 'bin/learnctl'), 'courses', 'list', '-q']
    expect(await learnctl(...exec)).toMatchObject({ code: 0 })
    expect(await learnctl('analytics', 'export', '--file', 'again.csv')).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'again.csv'), 'utf8')).toMatch(/^learnerId,email,/)
  })

  test('man finds the manual', () => {
    expect(existsSync(join(prefix, 'share/man/man1/learnctl.1'))).toBe(true)
  })

  test('a program imports the library', async () => {
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      `import { createClient } from ${JSON.stringify(join(installed, manifest.exports['./client'].default))}
       await using client = createClient({ baseUrl: 'http://127.0.0.1:1', attempts: 1 })
       await client.courses.list().catch((error) => console.log(error.name, error.code))`,
    )
    const ended = await run(process.execPath, [program], { cwd: folder, env: { ...process.env, HOME: home } })
    expect(ended).toMatchObject({ code: 0, stdout: 'ConnectionError refused\n', stderr: '' })
  })

  test('npx runs the packed file without installing it, and quickstart shows how to go on', async () => {
    const empty = join(folder, 'empty')
    const words = ['--yes', '--package', archive, 'learnctl']
    const start = { cwd: folder, env: { ...env, HOME: empty } }
    const { code, stdout } = await run('npx', [...words, 'quickstart', '--database', 'tried.db'], start)
    expect(code).toBe(0)
    expect(stdout).toContain(`\n  npx --package ${archive} learnctl --database tried.db courses list\n`)
  })

  test('the examples for tests compile in a strict project, and pass with vitest and node:test', async () => {
    const project = join(folder, 'project')
    const modules = join(project, 'node_modules')
    mkdirSync(join(modules, '@types'), { recursive: true })
    mkdirSync(join(project, 'tmp'))
    symlinkSync(installed, join(modules, 'learnctl'))
    for (const name of ['vitest', '@types/node'])
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
    const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
    const files = [...page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)]
    expect(files.map(([, name]) => name)).toEqual(['completion.test.ts', 'seed.test.ts'])
    for (const [, name = '', text = ''] of files) writeFileSync(join(project, name), text)
    for (const [name, text] of shownFiles()) writeFileSync(join(project, name), text)
    const compilerOptions = {
      ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', noEmit: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      // The types of vitest need those of its own packages.
      ...{ types: ['node'], skipLibCheck: true },
    }
    writeFileSync(join(project, 'package.json'), '{"type": "module"}')
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.test.ts'] }))
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const options = {
      cwd: project,
      env: { ...process.env, HOME: home, TMPDIR: join(project, 'tmp'), NO_COLOR: '1' },
    }
    const [compiled, ran, tested] = await Promise.all([
      run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], options),
      run(
        process.execPath,
        [vitest, 'run', '--testTimeout=180000', '--hookTimeout=180000', 'completion.test.ts'],
        options,
      ),
      run(process.execPath, ['--test', 'seed.test.ts'], options),
    ])
    expect(compiled).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('2 passed') })
    expect(tested, tested.stdout).toMatchObject({ code: 0 })
    const left = readdirSync(join(project, 'tmp')).filter((name) => name.startsWith('learnctl-'))
    expect(left).toEqual([])
  })

  test('an academy of a test ends with its process, and tells an older Node what it needs', async () => {
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const program = join(folder, 'academy.mjs')
    writeFileSync(
      program,
      `import { startAcademy } from ${JSON.stringify(join(installed, manifest.exports['./testing'].default))}
       const academy = await startAcademy().catch((error) => error)
       console.log(academy.url?.replace(/\\d+$/, 'port') ?? String(academy))
       process.exit(3)`,
    )
    const start = { cwd: folder, env: { ...process.env, HOME: home, TMPDIR: temporary } }
    const old = "Object.defineProperty(process.versions, 'node', { value: '20.1.0' })"
    const [ended, refused] = await Promise.all([
      run(process.execPath, [program], start),
      run(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(old)}`, program], start),
    ])
    expect(ended).toMatchObject({ code: 3, stdout: 'http://127.0.0.1:port\n', stderr: '' })
    expect(refused.stdout).toMatch(
      /^AcademyError: learnctl\/testing requires Node 24\.15 or newer, except 25/,
    )
    expect(readdirSync(temporary).filter((name) => name.startsWith('learnctl-'))).toEqual([])
  })

  test('to remove it leaves the data of the user, and nothing else', async () => {
    expect(await npm('uninstall', '-g', 'learnctl', '--prefix', prefix)).toMatchObject({ code: 0 })
    expect(readdirSync(join(prefix, 'bin'))).toEqual([])
    expect(existsSync(installed)).toBe(false)
    expect(readdirSync(home).sort()).toEqual(['.config', '.local'])
    const found = readdirSync(home, { recursive: true, encoding: 'utf8' })
    const removal = readFileSync(join(root, 'docs/installing.md'), 'utf8').split('## Remove')[1]
    for (const path of found.filter((path) => path.endsWith('/learnctl'))) {
      expect(removal).toContain(`| \`~/${path}\` |`)
    }
  })
})
