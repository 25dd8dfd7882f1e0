import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test as base, expect, vi } from 'vitest'
import { createProgram } from '../src/cli/program/program.ts'
import { createClient } from '../src/client/client.ts'
import { type RunningServer, serve } from '../src/server/socket/serve.ts'
import { manual, textOf, withReference } from './docs.ts'
import { testCli, words } from './helpers/cli.ts'
import { bin, root, run } from './helpers/process.ts'

const text = manual.map(textOf).join('\n')
// Whole processes take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** The fenced blocks of the manual in one language, without their fences. */
function blocks(language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = '']) =>
    name === language ? [block] : [],
  )
}

interface Place {
  /** A fresh directory. */
  readonly directory: string
  readonly server: RunningServer
  /** Makes the program, and the library's example, use that server as its admin. */
  readonly env: Readonly<Record<string, string>>
}

const test = base
  .extend('perMinute', 600)
  .extend('place', async ({ perMinute }, { onCleanup }): Promise<Place> => {
    const directory = mkdtempSync(join(tmpdir(), 'learnctl-readme-'))
    const server = await serve({
      path: join(directory, 'academy.db'),
      host: '127.0.0.1',
      port: 0,
      allowHosts: [],
      publicUrl: undefined,
      corsOrigins: [],
      perMinute,
      writeLog: () => {},
      now: () => new Date('2026-11-20T12:00:00Z'),
    })
    onCleanup(async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    })
    const env = { HOME: directory, LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.firstKey ?? '' }
    return { directory, server, env }
  })

test.for(manual)('the reference in %s is the one that the commands make: npm run docs', async (file) => {
  expect(textOf(file)).toBe(await withReference(file))
})

test('every command line in it is one that the program understands', async () => {
  const lines = [...blocks('sh'), ...blocks('console')].flatMap((block) =>
    [
      ...block
        .replaceAll('\\\n', ' ')
        .replace(/ "\$\(learnctl [^)]*\)"/g, ' id')
        .matchAll(/(?<=^|\$ |\$\(|\|\| |&& )(?:npx )?learnctl ([^\n|#)>]*)/gm),
    ].map(([, line = '']) => line.replace(/ <.*/, '').trim()),
  )
  expect(lines.length).toBeGreaterThan(100)
  const understood: string[] = []
  for (const line of lines.filter((line) => line !== 'courses lst')) {
    const program = createProgram(80, async ({ name }) => {
      understood.push(name)
    })
    await program.parse(words(line.replace(/;.*| \|\|.*/, '')))
  }
  expect(understood).toHaveLength(lines.length - 1)
})

test('what stands in it as output is what the program prints', async () => {
  let time = Date.parse('2026-11-20T12:00:00Z')
  const now = () => {
    time += 1
    return time
  }
  const cli = testCli({ env: { NO_COLOR: '1' }, now })
  try {
    await cli.run('quickstart')
    for (const block of blocks('console')) {
      let code = 0
      let printed = ''
      for (const line of block.split('\n').filter((line) => line.startsWith('$ '))) {
        printed += `${line}\n`
        if (line === '$ echo $?') printed += `${code}\n`
        if (!line.startsWith('$ learnctl ')) continue
        const [command = '', piped] = line.slice('$ learnctl '.length).split(' | ')
        const ended = await cli.run(command, piped === undefined ? { tty: 100 } : {})
        code = ended.code
        printed += `${ended.stdout}${ended.stderr}`
      }
      expect(comparable(printed.replaceAll(cli.home, '/home/user'))).toBe(comparable(block))
    }
  } finally {
    cli.remove()
  }
})

/** Without what is new in every run: ids and times, and what cannot be seen at the end of a line. */
function comparable(text: string): string {
  return text
    .replace(/\b(crs|usr|req)_[0-9a-z]+/g, '$1_')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replace(/[ \r]+$/gm, '')
}

test('the answer to the request in it is what the server answers', async ({ place: { server } }) => {
  const [head = '', body = ''] = (blocks('http')[0] ?? '').split('\n\n')
  const answer = await fetch(`${server.url}/v1/courses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.firstKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'seed-bio-101',
    },
    body: JSON.stringify({ title: 'Marine Biology', externalId: 'BIO-101' }),
  })
  const [status, ...lines] = head.split('\n')
  expect(status).toBe(`HTTP/1.1 ${answer.status} ${answer.statusText}`)
  const names = lines.map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  expect(names.sort()).toEqual([...answer.headers.keys()].sort())
  expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(await answer.json()))
})

test('the example of the library compiles in a strict project of its own, and prints what it says', async ({
  place: { directory, env },
}) => {
  const project = join(directory, 'project')
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  symlinkSync(root, join(project, 'node_modules/learnctl'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'))
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
  }
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['example.ts'] }))
  writeFileSync(join(project, 'example.ts'), blocks('ts')[0] ?? '')

  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const [compiled, ran] = await Promise.all([
    run(process.execPath, [tsc, '-p', '.'], { cwd: project }),
    run(process.execPath, ['example.ts'], { cwd: project, env }),
  ])
  expect(compiled).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(ran).toMatchObject({ code: 0, stdout: blocks('text')[0], stderr: '' })
})

test('its scripts do what they say, on a platform elsewhere', async ({
  place: { directory, server, env },
}) => {
  const cwd = join(directory, 'scripts')
  const path = join(directory, 'path')
  for (const made of [cwd, path]) mkdirSync(made)
  writeFileSync(join(path, 'learnctl'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
  chmodSync(join(path, 'learnctl'), 0o755)
  writeFileSync(join(cwd, 'bio-101.yaml'), blocks('yaml')[0] ?? '')
  const { users, close } = createClient({ baseUrl: server.url, apiKey: server.firstKey ?? '' })
  await users.create({ email: 'ada@example.org' })
  await users.create({ email: 's17@example.org', externalId: 'S-17' })

  const scripts = blocks('sh').filter((block) => block.startsWith('# script: '))
  expect(scripts).toHaveLength(3)
  const [job = '', analyst = '', admin = ''] = scripts.map((block) =>
    block.replaceAll('https://academy.example.org', server.url),
  )
  const shell = (script: string) =>
    run('sh', ['-eu', '-c', script], {
      cwd,
      env: { ...env, PATH: `${path}${delimiter}${process.env['PATH']}` },
    })
  const first = await shell(job)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toMatch(/^crs_\w+\ncrs_\w+\nusr_\w+\n$/)
  const again = await shell(job)
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^crs_\w+\n$/) })
  expect(again.stderr).toMatch(/^error: .* grace@example.org is taken/)

  expect(await shell(admin)).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(readFileSync(join(cwd, 'key.json'), 'utf8')).key).toMatch(/^lpk_/)
  expect(await shell(analyst)).toMatchObject({ code: 0, stdout: expect.stringContaining('learners') })
  expect(readFileSync(join(cwd, 'completed.ndjson'), 'utf8')).toContain('"s17@example.org"')
  expect(readdirSync(cwd).sort()).toEqual(
    ['bio-101.yaml', 'completed.ndjson', 'january.csv', 'key.json', 'learners.csv'].sort(),
  )
  await close()
})
