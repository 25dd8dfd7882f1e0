import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { startProcess } from '../../helpers/process.ts'
import { serve } from './serving.ts'

/** Adds a course; returns the titles of all. */
const add = (cli: TestCli, title: string) => cli.run(['courses', 'create', '--title', title, '-q'])
async function titles(cli: TestCli): Promise<string[]> {
  const { stdout } = await cli.run('courses list --columns title -o csv --sort title')
  return stdout.trim().split(/\r?\n/).slice(1)
}

/** Starts a process that keeps the academy open. */
async function holder(path: string): Promise<number> {
  const text = `
    const { DatabaseSync } = require('node:sqlite')
    const database = new DatabaseSync(process.argv[1])
    database.prepare('select count(*) from users').get()
    console.log('open')
    setInterval(() => {}, 1000)`
  const { child, printed, kill, ended } = startProcess(process.execPath, ['--eval', text, path])
  onTestFinished(async () => {
    kill()
    await ended
  })
  await printed(/open/)
  return child.pid ?? 0
}

describe('a snapshot', () => {
  test('brings back the academy as it was, as often as one likes', { tags: ['slow'] }, async ({ local }) => {
    await add(local, 'Before')
    expect(await local.run('server snapshot save seeded')).toEqual({
      code: 0,
      stdout: '',
      stderr: `Saved snapshot seeded of ${join(local.cwd, 'academy.db')}\n`,
    })
    for (const title of ['One', 'Two']) {
      await add(local, title)
      expect(await titles(local)).toEqual(['Before', title].sort())
      expect(await local.run('server snapshot restore seeded --yes')).toEqual({
        code: 0,
        stdout: '',
        stderr: `Restored ${join(local.cwd, 'academy.db')} to snapshot seeded\n`,
      })
      expect(await titles(local)).toEqual(['Before'])
    }
    expect(readdirSync(local.cwd).sort()).toEqual(['academy.db', 'academy.db.snapshots'])
  })

  test('without a name is called by its time, restored as newest, and private', async ({ local }) => {
    await add(local, 'Old')
    await local.run('server snapshot save')
    expect(JSON.parse((await local.run('server snapshot list -o json')).stdout)).toEqual([
      {
        name: '2026-03-01T120000Z',
        createdAt: '2026-03-01T12:00:00.000Z',
        bytes: expect.any(Number),
        path: join(local.cwd, 'academy.db.snapshots/2026-03-01T120000Z.db'),
      },
    ])
    await add(local, 'New')
    expect(await local.run('server snapshot restore --yes')).toMatchObject({ code: 0 })
    expect(await titles(local)).toEqual(['Old'])
    await local.run('server snapshot save one')
    expect(statSync(join(local.cwd, 'academy.db.snapshots')).mode & 0o777).toBe(0o700)
    expect(statSync(join(local.cwd, 'academy.db.snapshots/one.db')).mode & 0o777).toBe(0o600)
    await local.run('server snapshot restore --yes')
    expect(statSync(join(local.cwd, 'academy.db')).mode & 0o777).toBe(0o600)
  })

  test('of a name that is taken is refused without --force', { tags: ['slow'] }, async ({ local }) => {
    await local.run('server snapshot save one')
    await add(local, 'Later')
    expect(await local.run('server snapshot save one')).toMatchObject({
      code: 6,
      stderr: 'error: Snapshot one already exists\n  hint: Use --force to replace it\n',
    })
    expect(await local.run('server snapshot save one --force -o json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"name": "one"'),
    })
    await local.run('server snapshot restore one --yes')
    expect(await titles(local)).toEqual(['Later'])
  })

  test('is deleted when that is confirmed', async ({ local }) => {
    await local.run('server snapshot save one')
    const refused = await local.run('server snapshot delete one')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Confirm with --yes') })
    const asked = await local.run('server snapshot delete one', { tty: 200, typed: ['n\r'] })
    expect(asked.stderr).toContain(
      `Delete snapshot one of ${join(local.cwd, 'academy.db')}? This cannot be undone.`,
    )
    expect(asked.code).toBe(1)
    expect(await local.run('server snapshot delete one --yes')).toMatchObject({ code: 0 })
    expect(JSON.parse((await local.run('server snapshot list -o json')).stdout)).toEqual([])
  })

  test.for([
    ['server snapshot restore', 3, 'No snapshots of '],
    ['server snapshot restore none --yes', 3, 'Snapshot not found: none'],
    ['server snapshot delete none', 3, 'Snapshot not found: none'],
    ['server snapshot save ../one', 2, 'not "../one"'],
    ['server snapshot delete ../academy', 2, 'not "../academy"'],
    ['server snapshot save --database none.db', 3, 'Database not found: '],
    ['server snapshot save --database postgres://db.example.org/academy', 2, 'is a PostgreSQL database'],
  ] as const)('"%s" is refused', async ([line, code, words], { local }) => {
    const ran = await local.run(line)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain(words)
    expect(existsSync(join(local.cwd, 'none.db'))).toBe(false)
  })

  test('in a dry run nothing is saved, restored or deleted', { tags: ['slow'] }, async ({ local }) => {
    expect(await local.run('server snapshot save one --dry-run')).toMatchObject({ code: 0 })
    expect(readdirSync(local.cwd)).toEqual(['academy.db'])
    await local.run('server snapshot save one')
    await add(local, 'Later')
    for (const verb of ['restore', 'delete']) {
      expect(await local.run(`server snapshot ${verb} one --dry-run`)).toMatchObject({ code: 0 })
    }
    expect(await titles(local)).toEqual(['Later'])
    expect(existsSync(join(local.cwd, 'academy.db.snapshots/one.db'))).toBe(true)
  })
})

describe('while the academy is in use', () => {
  const lines = [
    ['server snapshot save two', 'save a snapshot'],
    ['server snapshot restore one --yes', 'restore a snapshot'],
    ['server restore backup.db --yes', 'restore a backup'],
    ['server reset --yes', 'reset the academy'],
  ] as const

  test('by a server, nothing is replaced, and it is named', { tags: ['slow'] }, async ({ local }) => {
    await local.run('server snapshot save one')
    await local.run('server backup backup.db')
    await add(local, 'Kept')
    const database = join(local.cwd, 'academy.db')
    const { printed, stop } = await serve(local)
    const [url] = printed.split('\n')
    for (const [line, action] of lines) {
      expect(await local.run(line)).toEqual({
        code: 6,
        stdout: '',
        stderr: `error: Cannot ${action} while a server is running for ${database} (${url}, process ${process.pid})\n  hint: Stop it first: learnctl server stop --database ${database}\n`,
      })
    }
    await stop()
    expect(await titles(local)).toEqual(['Kept'])
    expect(readdirSync(join(local.cwd, 'academy.db.snapshots'))).toEqual(['one.db'])
  })

  test('by any other process, nothing is replaced either', { tags: ['slow'] }, async ({ local }) => {
    await local.run('server snapshot save one')
    await local.run('server backup backup.db')
    await add(local, 'Kept')
    const pid = await holder(join(local.cwd, 'academy.db'))
    const who = existsSync('/proc/locks') ? `process ${pid} uses` : 'another process uses'
    for (const [line, action] of lines) {
      const ran = await local.run(line)
      expect(ran.stderr).toContain(
        `error: Cannot ${action} while ${who} ${join(local.cwd, 'academy.db')}\n  hint: `,
      )
      expect(ran.code).toBe(6)
    }
    expect(await titles(local)).toEqual(['Kept'])
    expect(readdirSync(local.cwd).filter((name) => name.includes('.part'))).toEqual([])
  })
})

test('reset leaves a new academy, whose server prints a key', { tags: ['slow'] }, async ({ local }) => {
  await add(local, 'Gone')
  const first = await serve(local)
  await first.stop()
  expect((await local.run('server reset')).code).toBe(2)
  expect(await titles(local)).toEqual(['Gone'])
  expect(await local.run('server reset --yes')).toEqual({
    code: 0,
    stdout: '',
    stderr: `Reset ${join(local.cwd, 'academy.db')}\n`,
  })
  expect(await titles(local)).toEqual([])
  const { printed } = await serve(local)
  expect(printed).toMatch(/\nAdmin API key .*\nPassword for /)
})

describe('backup', () => {
  test('of an academy that is served holds all that was answered', { tags: ['slow'] }, async ({ local }) => {
    const { printed } = await serve(local, '--database served.db --rate-limit 0 -o json')
    const { url, key } = JSON.parse(printed)
    const post = (title: string) =>
      fetch(`${url}/v1/courses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title }),
      })
    let ended = false
    let written = 0
    const some = Promise.withResolvers<void>()
    const writing = (async () => {
      while (!ended) {
        expect((await post('Go')).status).toBe(201)
        written += 1
        if (written === 3) some.resolve()
      }
    })()
    await Promise.race([some.promise, writing])
    for (const name of ['one.db', 'two.db', 'three.db']) {
      const before = written
      const ran = await local.run(`server backup ${name} --database served.db`)
      expect(ran).toMatchObject({ code: 0, stdout: '' })
      expect(ran.stderr).toMatch(/^Backed up \S+served\.db to \w+\.db \([\d.]+ [KM]iB, checked\)\n$/)
      expect(statSync(join(local.cwd, name)).mode & 0o777).toBe(0o600)
      const { stdout } = await local.run(`courses list --database ${name} --all -q`)
      const copied = stdout.trim().split('\n').length
      expect(copied).toBeGreaterThanOrEqual(before)
      // One more may have been written without its response.
      expect(copied).toBeLessThanOrEqual(written + 1)
    }
    ended = true
    await writing
    expect(
      readdirSync(local.cwd)
        .filter((name) => /^(one|two|three)|part/.test(name))
        .sort(),
    ).toEqual(['one.db', 'three.db', 'two.db'])
  })

  test('writes to a file that is there only with --force', async ({ local }) => {
    writeFileSync(join(local.cwd, 'copy.db'), 'precious')
    expect(await local.run('server backup copy.db')).toMatchObject({
      code: 2,
      stderr: 'error: copy.db already exists\n  hint: Use --force to overwrite it\n',
    })
    expect(statSync(join(local.cwd, 'copy.db')).size).toBe(8)
    expect(await local.run('server backup copy.db --force -o json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"bytes":'),
    })
    expect(statSync(join(local.cwd, 'copy.db')).size).toBeGreaterThan(8)
  })

  test.for([
    ['server backup academy.db --force', 2, 'academy.db is the academy itself'],
    ['server backup none/copy.db', 2, 'Directory none not found'],
    ['server backup . --force', 2, '. is not a file'],
    ['server backup copy.db --database none.db', 3, 'Database not found: '],
    [
      'server backup copy.db --database postgres://db.example.org/academy',
      2,
      'hint: Use pg_dump: pg_dump --format=custom',
    ],
    ['server restore copy.db --database postgres://db.example.org/academy', 2, 'hint: Use pg_restore: '],
    ['server backup copy.db --database damaged.db', 1, 'is not a SQLite database'],
  ] as const)('"%s" is refused, and nothing is written', async ([line, code, words], { local }) => {
    writeFileSync(
      join(local.cwd, 'damaged.db'),
      'no database at all, but long enough to have a head'.repeat(99),
    )
    const ran = await local.run(line)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain(words)
    expect(readdirSync(local.cwd).sort()).toEqual(['academy.db', 'damaged.db'])
  })
})

describe('restore', () => {
  test('replaces the academy, and keeps the old one as snapshot', { tags: ['slow'] }, async ({ local }) => {
    await add(local, 'Saved')
    await local.run('server backup copy.db')
    await add(local, 'Later')
    const asked = await local.run('server restore copy.db', { tty: 200, typed: ['y\r'] })
    expect(asked.stderr).toContain(
      `Restore backup copy.db to ${join(local.cwd, 'academy.db')}? The academy that is there is kept as snapshot before-restore-2026-03-01T120000Z.`,
    )
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain(
      'note: The academy that was there is kept: learnctl server snapshot restore before-restore-2026-03-01T120000Z',
    )
    expect(await titles(local)).toEqual(['Saved'])
    await local.run('server snapshot restore before-restore-2026-03-01T120000Z --yes')
    expect(await titles(local)).toEqual(['Later', 'Saved'])
  })

  test('brings back an academy that is damaged', async ({ local }) => {
    await add(local, 'Saved')
    await local.run('server backup copy.db')
    writeFileSync(join(local.cwd, 'academy.db'), 'a sector of something else'.repeat(1000))
    expect(await local.run('server restore copy.db --yes')).toMatchObject({ code: 0 })
    expect(await titles(local)).toEqual(['Saved'])
  })

  test('refuses what is no academy or a newer one, before any change', async ({ local }) => {
    await add(local, 'Kept')
    const { DatabaseSync } = await import('node:sqlite')
    await local.run('server backup newer.db')
    for (const [name, change] of [
      ['newer.db', 'pragma user_version = 9999'],
      ['other.db', 'create table notes (text)'],
    ] as const) {
      const database = new DatabaseSync(join(local.cwd, name))
      database.exec(change)
      database.close()
    }
    writeFileSync(join(local.cwd, 'text.db'), 'not a database, and long enough to be read as one'.repeat(99))
    for (const [name, words] of [
      ['newer.db', 'newer.db was written by a newer version of learnctl'],
      ['other.db', 'is a SQLite database of another program'],
      ['text.db', 'is not a SQLite database'],
    ] as const) {
      const ran = await local.run(`server restore ${name} --yes`)
      expect(ran.code, ran.stderr).toBe(1)
      expect(ran.stderr).toContain(words)
      expect(ran.stderr).not.toContain('.part')
    }
    expect(await local.run('server restore none.db --yes')).toMatchObject({
      code: 3,
      stderr: 'error: Backup not found: none.db\n',
    })
    expect(await titles(local)).toEqual(['Kept'])
    expect(JSON.parse((await local.run('server snapshot list -o json')).stdout)).toEqual([])
  })

  test('takes changes along from the write-ahead log beside a copied file', async ({ local }) => {
    const { DatabaseSync } = await import('node:sqlite')
    const path = join(local.cwd, 'academy.db')
    const open = new DatabaseSync(path)
    open.prepare('select count(*) from users').get()
    await add(local, 'In the log')
    mkdirSync(join(local.cwd, 'copied'))
    const { copyFileSync } = await import('node:fs')
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, join(local.cwd, `copied/a.db${suffix}`))
    open.close()
    renameSync(path, join(local.cwd, 'gone.db'))
    expect(await local.run('server restore copied/a.db')).toMatchObject({ code: 0 })
    expect(await titles(local)).toEqual(['In the log'])
  })
})
