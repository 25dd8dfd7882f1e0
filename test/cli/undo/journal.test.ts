import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { Transport } from '../../../src/contract/http.ts'
import { test as base, type RunOptions, type TestCli, testCli, transportTo } from '../../helpers/cli.ts'
import { startSeedServer } from '../../helpers/seed-server.ts'
import type { TestAcademy } from '../../helpers/test-academy.ts'

const test = base.extend('seed', async ({ task: _ }, { onCleanup }) => {
  const seed = await startSeedServer()
  onCleanup(() => seed.close())
  return seed
})

/** Returns the only files of journals, with their content. */
function journals({ home }: TestCli): { readonly mode: number; readonly text: string }[] {
  const folder = join(home, '.local/state/learnctl/changes')
  return readdirSync(folder).map((name) => {
    const path = join(folder, name)
    return { mode: statSync(path).mode & 0o777, text: readFileSync(path, 'utf8') }
  })
}

describe('on a platform of the eight published operations', () => {
  const at = ({ url, key }: { url: string; key: string }, stdin = ''): RunOptions => ({
    stdin,
    env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key },
  })

  test('an import is undone from a journal on this machine, as far as the platform can', {
    tags: ['slow'],
  }, async ({ cli, seed }) => {
    const csv = 'externalId,title\nA,Alps\nB,Bays\n'
    await cli.run('courses import -', at(seed, csv))
    const titles = () => cli.run('courses list --columns title', at(seed))
    const changed = csv.replace('Bays', 'Bights').replace('Alps', 'Andes')
    await cli.run('courses import -', at(seed, `${changed}C,Capes\n`))
    expect((await titles()).stdout).toBe('Andes\nBights\nCapes\n')
    const listed = await cli.run('undo list --columns command,source,done,canUndo', at(seed))
    expect(listed.stdout.split('\n').sort()).toEqual([
      '',
      'courses import\tstandard input\t2 courses created\ttrue',
      'courses import\tstandard input\t2 courses updated, 1 course created\ttrue',
    ])
    const [{ id }] = JSON.parse((await cli.run('undo list -o json', at(seed))).stdout).filter(
      ({ counts }: { counts: unknown[] }) => counts.length === 2,
    )
    const ran = await cli.run(`undo ${id} --yes`, at(seed))
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('note: Kept course Capes, which cannot be deleted on this platform')
    expect(ran.stderr).toContain('Undone: 0 removed, 0 restored, 2 changed back')
    expect((await titles()).stdout).toBe('Alps\nBays\nCapes\n')
    const [after] = JSON.parse((await cli.run('undo list -o json', at(seed))).stdout).filter(
      (change: { id: string }) => change.id === id,
    )
    expect(after).toMatchObject({ canUndo: false, why: expect.stringMatching(/^undone by chg_/) })
    const again = await cli.run(`undo ${id} --yes`, at(seed))
    expect(again.stderr).toContain('Nothing to undo; 1 kept, 2 as before already')
  })

  test('a verb on several courses is undone, but not what was changed since', async ({ cli, seed }) => {
    await cli.run(
      'courses import -',
      at(seed, 'externalId,title,difficulty\nA,Alps,beginner\nB,Bays,beginner\n'),
    )
    await cli.run('courses update 1 2 --difficulty expert', at(seed))
    await cli.run('courses update 2 --difficulty advanced', at(seed))
    const [{ id }] = JSON.parse((await cli.run('undo list -o json', at(seed))).stdout).filter(
      ({ command }: { command: string }) => command === 'courses update',
    )
    const ran = await cli.run(`undo ${id} --yes`, at(seed))
    expect(ran.stderr).toContain('note: Kept course Bays (difficulty), which was changed since')
    const shown = await cli.run('courses list --columns title,difficulty', at(seed))
    expect(shown.stdout).toBe('Alps\tbeginner\nBays\tadvanced\n')
  })
})

describe('on a server of an earlier version', () => {
  /** A command line whose platform has no changes. */
  async function earlier(academy: TestAcademy, now = () => Date.parse('2026-03-01T12:00:00Z')) {
    const { key } = await academy.person('admin')
    const transport = transportTo(academy)
    const without: Transport = async (request) => {
      if (!request.url.includes('/v1/changes')) return transport(request)
      const body = JSON.stringify({ status: 404, code: 'not_found', detail: 'Not found.' })
      return { status: 404, headers: { 'content-type': 'application/problem+json' }, body }
    }
    const cli = testCli({
      now,
      transport: without,
      env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key },
    })
    onTestFinished(() => cli.remove())
    return cli
  }

  test('the journal is readable by its owner only, and holds no secret', async ({ academy }) => {
    const cli = await earlier(academy)
    const stdin =
      'email,externalId,password\nada@b.example,1,correct horse 1\nbob@b.example,2,correct horse 2\n'
    expect((await cli.run('users import -', { stdin })).stderr).toContain('2 created')
    expect(journals(cli).map(({ mode }) => mode)).toEqual([0o600])
    expect(journals(cli)[0]?.text).not.toContain('correct horse')
    const ran = await cli.run('undo last --yes')
    expect(ran.stderr).toContain('Undone: 2 removed')
    expect((await cli.run('users list --columns email --q b.example')).stdout).toBe('')
  })

  test('what a batch has updated is listed, whose former values are not known', { tags: ['slow'] }, async ({
    academy,
  }) => {
    const cli = await earlier(academy)
    const csv = (name: string) =>
      `email,externalId,firstName\nada@b.example,1,${name}\nbob@b.example,2,${name}\n`
    await cli.run('users import -', { stdin: csv('Old') })
    await cli.run('users import -', { stdin: `${csv('New')}eve@b.example,3,New\n` })
    const [{ id }] = JSON.parse((await cli.run('undo list -o json')).stdout).filter(
      ({ counts }: { counts: unknown[] }) => counts.length === 2,
    )
    const ran = await cli.run(`undo ${id} --yes`)
    expect(ran.stderr).toMatch(
      /^Undone: 1 removed, .*\nnote: Not undone: 2 updated users: the former values were not recorded\n$/,
    )
    expect((await cli.run('users list --columns profile.firstName --q b.example')).stdout).toBe('New\nNew\n')
  })

  test('an erased user is gone from it, and listed as such', { tags: ['slow'] }, async ({ academy }) => {
    const cli = await earlier(academy)
    const stdin = 'email,externalId\nada@b.example,1\nbob@b.example,2\n'
    await cli.run('users import -', { stdin })
    await cli.run('users update ext:1 ext:2 --first-name Lovelace')
    expect(journals(cli).some(({ text }) => text.includes('ada@b.example'))).toBe(true)
    expect((await cli.run('users delete ext:1 --erase --yes')).code).toBe(0)
    expect(journals(cli).some(({ text }) => text.includes('ada@b.example'))).toBe(false)
    expect(journals(cli).some(({ text }) => text.includes('bob@b.example'))).toBe(true)
    const listed = JSON.parse((await cli.run('undo list -o json')).stdout) as {
      id: string
      command: string
    }[]
    const id = listed.find(({ command }) => command === 'users update')?.id
    const ran = await cli.run(`undo ${id} --yes`)
    expect(ran.stderr).toContain('note: Not undone: 1 action whose values were erased with a user')
    expect((await cli.run('users get ext:2 --columns profile.firstName')).stdout).toBe('\n')
  })

  test('a journal is deleted after 30 days', async ({ academy }) => {
    let day = '2026-03-01'
    const cli = await earlier(academy, () => Date.parse(`${day}T12:00:00Z`))
    await cli.run('users import -', { stdin: 'email\nada@b.example\nbob@b.example\n' })
    day = '2026-03-30'
    expect((await cli.run('undo list --columns command')).stdout).toBe('users import\n')
    day = '2026-04-01'
    expect((await cli.run('undo list --columns command')).stdout).toBe('')
    expect(journals(cli)).toEqual([])
  })
})
