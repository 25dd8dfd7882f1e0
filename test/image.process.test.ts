import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { makeDatabase, withoutPostgres } from './helpers/postgres.ts'
import { type Ended, programOnPath, root, run, type Started, startProcess } from './helpers/process.ts'

// Builds packaging/Dockerfile on a base of this machine's own programs, because no image can be pulled, and runs it.

/** Reason to skip the tests; undefined if images can be built and run here. */
const trouble = troubleHere()
if (trouble !== undefined && process.env['LEARNCTL_IMAGE_TESTS'] === 'required') {
  throw new Error(`the tests of the image are required: ${trouble}`)
}

function troubleHere(): string | undefined {
  if (process.platform !== 'linux') return 'a container of Linux needs Linux'
  if (programOnPath('podman') === undefined) return 'podman is not on the PATH'
  return process.getuid?.() === 0 ? undefined : 'podman without the privileges of root needs users of its own'
}

const folder = mkdtempSync(join(tmpdir(), 'learnctl-image-'))
const context = join(folder, 'context')
const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
/** Options of a container that needs nothing but what docs/serving.md gives it. */
const confined = [
  '--read-only',
  '--tmpfs',
  '/tmp',
  '--cap-drop',
  'all',
  '--security-opt',
  'no-new-privileges',
]

/** Starts podman with its own storage. crun refuses a mixture of both versions of cgroups, of which it needs none here. */
function startPodman(...words: readonly string[]): Started {
  const script = 'umount -q /sys/fs/cgroup/unified; exec podman "$@"'
  return startProcess('unshare', ['--mount', 'sh', '-c', script, 'podman', ...storage, ...words], {
    env: { CONTAINERS_CONF: join(folder, 'containers.conf'), HOME: folder },
  })
}

async function podman(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await startPodman(...words).ended
  if (code !== 0) throw new Error(`podman ${words.join(' ')}: ${code}\n${stdout}${stderr}`)
  return stdout
}

/** Builds the image in `context`. */
function build(...options: readonly string[]): Promise<Ended> {
  const words = [
    'build',
    '--isolation',
    'chroot',
    '--network',
    'host',
    '--format',
    'docker',
    '--layers=false',
  ]
  const files = ['--file', join(root, 'packaging/Dockerfile'), '--build-arg', 'BASE=localhost/base']
  return startPodman(...words, ...files, '--tag', 'learnctl', ...options, context).ended
}

/** Starts the image. The test removes the container. */
function startContainer(name: string, options: readonly string[], words: readonly string[] = []): Started {
  onTestFinished(async () => void (await podman('rm', '--force', '--ignore', '--time', '0', name)))
  return startPodman('run', '--name', name, ...confined, ...options, 'localhost/learnctl', ...words)
}

/** Makes an image of Node and the few programs that the Dockerfile runs, with their libraries. */
async function importBase(): Promise<void> {
  const base = join(folder, 'base')
  const programs = ['sh', 'env', 'tar', 'gzip', 'mkdir', 'chmod', 'chown', 'ln']
  const found = programs.map((name) => [programOnPath(name) ?? '', `/usr/bin/${name}`] as const)
  for (const [from, to] of [[process.execPath, '/usr/local/bin/node'] as const, ...found]) {
    put(from, to)
    const { stdout } = await run('ldd', [from])
    for (const [library] of stdout.matchAll(/\/\S+/g)) put(library, library)
  }
  put('/usr/bin/sh', '/bin/sh')
  mkdirSync(join(base, 'tmp'), { mode: 0o1777 })
  const archive = join(folder, 'base.tar')
  expect(await run('tar', ['-C', base, '-cf', archive, '.'])).toMatchObject({ code: 0 })
  await podman('import', '--change', 'ENV=PATH=/usr/local/bin:/usr/bin:/bin', archive, 'base')

  function put(from: string, to: string): void {
    mkdirSync(dirname(join(base, to)), { recursive: true })
    copyFileSync(from, join(base, to))
  }
}

describe.skipIf(trouble !== undefined)(`the image${trouble === undefined ? '' : ` (${trouble})`}`, () => {
  beforeAll(async () => {
    mkdirSync(context)
    writeFileSync(join(context, 'learnctl-0.0.1.tgz'), 'a packed file of another version')
    writeFileSync(
      join(folder, 'containers.conf'),
      `[containers]
       cgroups = "disabled"
       default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
       [engine]
       events_logger = "none"`,
    )
    const pack = ['pack', '--ignore-scripts', '--pack-destination', context]
    const [packed] = await Promise.all([run('npm', pack, { cwd: root, env: process.env }), importBase()])
    expect(packed).toMatchObject({ code: 0 })
    expect(await build('--build-arg', `VERSION=${manifest.version}`)).toMatchObject({ code: 0 })
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('names its version, user, port and volume', async () => {
    const [image] = JSON.parse(await podman('image', 'inspect', 'localhost/learnctl'))
    expect(image.Config).toMatchObject({
      User: '1000:1000',
      ExposedPorts: { '4700/tcp': {} },
      Volumes: { '/data': {} },
      Labels: {
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': manifest.version,
        'org.opencontainers.image.base.name': 'localhost/base',
      },
    })
  })

  test('is not built from two packed files', async () => {
    const { code, stdout, stderr } = await build()
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain('The context holds 2 packed files')
  })

  test('serves an academy that outlasts the container, without anything but its volume', async () => {
    const first = startContainer('first', ['--network', 'none', '--volume', 'academy:/data'])
    await first.printed(/^Password for admin@academy\.local at .*\/dashboard/m)
    // It is unhealthy after several failures; on a busy machine a check may take longer than its timeout.
    await expect.poll(async () => (await startPodman('healthcheck', 'run', 'first').ended).code).toBe(0)
    const users = await podman('exec', 'first', 'learnctl', 'users', 'list', '-q')
    expect(users).toMatch(/^usr_\w+\n$/)
    await podman('stop', '--time', '35', 'first')
    const { code, stdout, stderr } = await first.ended
    expect(code).toBe(143)
    expect(stdout + stderr).toMatch(/^\{"level":"info",.*"path":"\/ready","status":200/m)

    const words = ['users', 'list', '-q']
    const again = startContainer('again', ['--network', 'none', '--volume', 'academy:/data'], words)
    expect(await again.ended).toMatchObject({ code: 0, stdout: users })
  })

  test('finishes an open request before it stops', async () => {
    const words = ['server', 'start', '--port', '0', '-o', 'json']
    const server = startContainer('stopped', ['--network', 'host'], words)
    const [line] = await server.printed(/^\{"url".*\}$/m)
    const { url, key } = JSON.parse(line)
    const body = JSON.stringify({ title: 'Tides' })
    const request = `POST /v1/courses HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\n`
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const reply = text(socket)
    const head = `${request}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    await new Promise((resolve) => socket.write(head + body[0], resolve))
    // The server has read the head once it answers a later request.
    expect((await fetch(`${url}/health`)).status).toBe(200)
    const stop = podman('stop', '--time', '35', 'stopped')
    await expect
      .poll(() =>
        fetch(`${url}/ready`).then(
          ({ status }) => status,
          () => 'refused',
        ),
      )
      .not.toBe(200)
    socket.write(body.slice(1))
    expect(await reply).toMatch(/^HTTP\/1\.1 201 /)
    await stop
    expect(await server.ended).toMatchObject({ code: 143 })
  })

  test.skipIf(withoutPostgres !== false)('serves a PostgreSQL database that a variable names', async () => {
    const database = await makeDatabase()
    onTestFinished(database.remove)
    const options = ['--network', 'host', '--env', `LEARNCTL_DATABASE=${database.url}`]
    const server = startContainer('postgres', options, ['server', 'start', '--port', '0', '-o', 'json'])
    const [line] = await server.printed(/^\{"url".*\}$/m)
    const { url, database: served } = JSON.parse(line)
    expect(served).toContain(database.name)
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    await podman('stop', '--time', '35', 'postgres')
    expect(await server.ended).toMatchObject({ code: 143 })
  })
})
