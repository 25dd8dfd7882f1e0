import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, test as base, beforeEach, describe, expect } from 'vitest'
import { type RunningServer, serve } from '../src/server/socket/serve.ts'
import { manual, textOf } from './docs.ts'
import { openExamples, successOf } from './helpers/examples.ts'
import { freshDirectory } from './helpers/fresh-directory.ts'
import { bin, root, run, type Start } from './helpers/process.ts'

/** Page with the examples of help, which have their own test. */
const reference = 'docs/commands.md'
const platform = 'https://academy.example.org'
/** Returns the fenced blocks of a page, without their fences. */
function fences(file: string): { language: string; text: string }[] {
  return [...textOf(file).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

/** Returns the blocks in one language. */
function blocks(language: string, file: string): string[] {
  return fences(file).flatMap((one) => (one.language === language ? [one.text] : []))
}

interface Place {
  /** Directory of the page, new for each run. */
  readonly directory: string
  readonly server: RunningServer
  /** Environment in which the program and the example of the library are the admin of that server. */
  readonly env: Readonly<Record<string, string>>
}

const test = base
  .extend('perMinute', 600)
  .extend('openPlace', ({ perMinute }, { onCleanup }) => async (): Promise<Place> => {
    const { path: directory, remove } = freshDirectory()
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
      remove()
    })
    const env = { HOME: directory, LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.firstKey ?? '' }
    return { directory, server, env }
  })

const pages = manual.filter((file) => file !== reference)

/** A block of a page that a reader may run. */
interface Runnable {
  readonly file: string
  readonly kind: 'console' | 'script' | 'sh'
  readonly head: string
  readonly text: string
}

/** All blocks, in the order of the pages. */
const runnables = pages.flatMap((file): Runnable[] =>
  fences(file).flatMap(({ language, text }): Runnable[] => {
    const head = text.slice(0, text.indexOf('\n'))
    const kind = /^# [\w-]+\.sh$/.test(head) ? 'script' : language
    return kind === 'sh' || kind === 'script' || kind === 'console' ? [{ file, kind, head, text }] : []
  }),
)

describe('its commands, one after the other, on what quickstart leaves', async () => {
  const examples = await openExamples()
  const { cwd, home } = examples.cli
  let page = ''
  beforeEach(({ task }) => {
    const next = task.name.split(':', 1)[0] ?? ''
    if (next === page) return
    page = next
    examples.reset()
  })
  afterAll(() => examples.close())

  const run = {
    sh: async (text: string) => {
      for (const line of text.split('\n').filter((line) => line !== '' && !otherPrograms.test(line))) {
        expect(line).toMatch(/^learnctl /)
        const ran = await examples.follow(line)
        expect(ran, ran.stderr).toMatchObject({ code: successOf(line) })
      }
    },
    console: async (text: string) => {
      let code = 0
      let printed = ''
      for (const line of text.split('\n').filter((line) => line.startsWith('$ '))) {
        printed += `${line}\n`
        if (line === '$ echo $?') printed += `${code}\n`
        if (!line.startsWith('$ learnctl ')) continue
        const [command = '', piped] = line.slice('$ learnctl '.length).split(' | ')
        const plain = { env: { NO_COLOR: '1' } }
        const ended = await examples.cli.run(command, piped === undefined ? { ...plain, tty: 100 } : plain)
        code = ended.code
        printed += `${ended.stdout}${ended.stderr}`
      }
      expect(comparable(printed.replaceAll(home, '/home/user'))).toBe(comparable(text))
    },
    script: async (text: string, openPlace: () => Promise<Place>) => {
      const { server, env } = await openPlace()
      const path = join(home, 'bin')
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'learnctl'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
      chmodSync(join(path, 'learnctl'), 0o755)
      const elsewhere = text.includes(platform)
      const own = {
        HOME: home,
        PATH: `${path}${delimiter}${process.env['PATH']}`,
        ...(elsewhere && { LEARNCTL_API_KEY: env['LEARNCTL_API_KEY'] ?? '' }),
      }
      // The records to seed may exist already.
      for (let times = elsewhere ? 2 : 1; times > 0; times -= 1) {
        const ran = await shell(text.replaceAll(platform, server.url), { cwd, env: own })
        expect(ran, ran.stderr).toMatchObject({ code: 0 })
      }
    },
  }

  test.for(runnables.map((one) => [one.file, one.head, one] as const))(
    '%s: %s',
    async ([, , { kind, text }], { openPlace }) => run[kind](text, openPlace),
  )
})

test('a command in the text of README works right after quickstart', async () => {
  const examples = await openExamples()
  try {
    const text = textOf('README.md').replaceAll(/^```[\s\S]*?^```$/gm, '')
    const reads = [...text.matchAll(/`(?:learnctl )?(\w+ (?:get|list)\b[^`<]*)`/g)].map(
      ([, line = '']) => line,
    )
    expect(reads.length).toBeGreaterThan(1)
    for (const line of reads) {
      const ran = await examples.cli.run(line.split(' | ')[0] ?? '')
      expect(ran, `${line}: ${ran.stderr}`).toMatchObject({ code: 0 })
      expect(ran.stdout, line).not.toBe('')
    }
  } finally {
    examples.close()
  }
})

test('the webhook secret of a block in docs comes from the block itself', () => {
  for (const { file, kind, text } of runnables) {
    const sends = /^learnctl webhooks send (?!.*--signing-key)/m.test(text)
    if (sends)
      expect({ file, kind, own: text.includes('LEARNCTL_WEBHOOK_SECRET=') }).toEqual({
        file,
        kind: 'script',
        own: true,
      })
  }
})

/** Lines that run other programs: .ci/run installs, and the test of the response below runs curl. */
const otherPrograms = /^(npm |curl | {2}-[Hd] )/

const shell = (script: string, start: Start) => run('sh', ['-eu', '-c', script], start)

/** Removes what differs in each run: ids and times, and white space at the end of lines. */
function comparable(text: string): string {
  return text
    .replace(/\b(crs|usr|req)_[0-9a-z]+/g, '$1_')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replace(/[ \r]+$/gm, '')
}

test('the answer to the request in it is what the server answers', async ({ openPlace }) => {
  const { server } = await openPlace()
  const [head = '', body = ''] = (blocks('http', 'docs/api.md')[0] ?? '').split('\n\n')
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

test('the example of the library compiles strictly, and prints what it says', async ({ openPlace }) => {
  const { directory, env } = await openPlace()
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
  writeFileSync(join(project, 'example.ts'), blocks('ts', 'docs/client.md')[0] ?? '')

  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const [compiled, ran] = await Promise.all([
    run(process.execPath, [tsc, '-p', '.'], { cwd: project }),
    run(process.execPath, ['example.ts'], { cwd: project, env }),
  ])
  expect(compiled).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(ran).toMatchObject({ code: 0, stdout: blocks('text', 'docs/client.md')[0], stderr: '' })
})
