import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../../src/client/errors.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import { resultOf } from '../../../helpers/result.ts'

const before = 'externalId,email,firstName\n1,a@b.example,Ada\n2,b@b.example,Grace\n3,c@b.example,Jean\n'
const after = 'externalId,email,firstName\n1,a@b.example,Augusta\n2,b@b.example,Grace\n4,d@b.example,Edith\n'

describe('the saved plan of an import', () => {
  test('is imported as it was saved', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    const saved = await local.run('users import - --plan-out plan.jsonl', { stdin: after })
    expect(saved).toMatchObject({ code: 0, stdout: '' })
    expect(saved.stderr).toBe('Saved the plan to plan.jsonl: 1 create, 1 update, 1 unchanged\n')
    expect(statSync(join(local.cwd, 'plan.jsonl')).mode & 0o777).toBe(0o600)
    expect((await resultOf(local, 'users get ext:1')).profile.firstName).toBe('Ada')
    const shown = await local.run('users import --plan plan.jsonl --dry-run -o csv --columns line,action')
    expect(shown.stdout).toBe('line,action\r\n2,update\r\n4,create\r\n')
    const ran = await local.run('users import --plan plan.jsonl')
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toBe('Imported 2 rows of 2 from plan.jsonl: 1 created, 1 updated\n')
    const again = await local.run('users import - --dry-run', { stdin: after })
    expect(again.stderr).toContain('3 unchanged')
  })

  test('that is imported again says so and changes nothing', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    await local.run('users import - --plan-out plan.jsonl', { stdin: after })
    await local.run('users import --plan plan.jsonl')
    const again = await local.run('users import --plan plan.jsonl')
    expect(again).toMatchObject({ code: 0 })
    expect(again.stderr).toBe(
      'note: The plan plan.jsonl has been applied already\nImported 2 rows of 2 from plan.jsonl: 2 unchanged\n',
    )
    await local.run('users update ext:4 --first-name Other')
    expect(await local.run('users import --plan plan.jsonl')).toMatchObject({ code: 6 })
  })

  test('is refused when a record has changed since, and nothing is sent', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    await local.run('users import - --plan-out plan.jsonl', { stdin: after })
    await local.run('users create --email d@b.example --external-id 4')
    const ran = await local.run('users import --plan plan.jsonl')
    expect(ran.code).toBe(6)
    expect(ran.stderr).toContain('plan.jsonl: the user of line 4 exists already; nothing was changed')
    expect((await resultOf(local, 'users get ext:1')).profile.firstName).toBe('Ada')
    await local.run('users delete ext:4 --yes --erase')
    await local.run('users update ext:1 --first-name Other')
    expect((await local.run('users import --plan plan.jsonl')).stderr).toContain(
      'the user of line 2 has changed',
    )
  })

  test('is refused on a platform without versions when a field that it changes has changed', {
    tags: ['slow'],
  }, async ({ academy }) => {
    const { key } = await academy.person('admin')
    const transport = transportTo(academy)
    const cli = testCli({
      transport: async (request) => {
        const response = await transport(request)
        const text = await new Response(response.body as BodyInit | null).text()
        return { ...response, body: text.replace(/"version":\d+,?/g, '') }
      },
      env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key },
    })
    onTestFinished(cli.remove)
    await cli.run('courses import -', { stdin: 'externalId,title\nA,Sea\nB,Sky\n' })
    await cli.run('courses import - --plan-out plan.jsonl', { stdin: 'externalId,title\nA,Ocean\nB,Air\n' })
    await cli.run('courses update ext:A --language en')
    await cli.run('courses update ext:B --title Elsewhere')
    const ran = await cli.run('courses import --plan plan.jsonl')
    expect(ran.code).toBe(6)
    expect(ran.stderr).toContain('plan.jsonl: the course of line 3 has changed; nothing was changed')
    expect(ran.stderr).toContain('hint: Make a new plan with learnctl courses import --plan-out\n')
    expect((await resultOf(cli, 'courses get ext:A')).title).toBe('Sea')
    await cli.run('courses update ext:B --title Sky')
    const done = await cli.run('courses import --plan plan.jsonl')
    expect(done.stderr).toBe('Imported 2 rows of 2 from plan.jsonl: 2 updated\n')
  })

  test('knows the mode and the switches that it was made with', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    await local.run('users import - --on-exists skip --plan-out plan.jsonl', { stdin: after })
    const ran = await local.run('users import --plan plan.jsonl')
    expect(ran.stderr).toBe('Imported 1 row of 1 from plan.jsonl: 1 created\n')
  })

  test('of progress and grades compares each record once, whatever its steps', { tags: ['slow'] }, async ({
    local,
  }) => {
    await local.run('users import -', { stdin: before })
    await local.run('courses create --title Sea --external-id C --status published')
    await local.run('enrollments create --course ext:C --user ext:1')
    const files: Record<string, string> = {
      progress: `courseId,learnerId,completionPercentage,lastAccessed\n${[10, 40].map((n) => `ext:C,ext:1,${n},2026-02-0${n / 10}\n`).join('')}`,
      grades: 'courseId,learnerId,scoreGiven\next:C,ext:1,5\n',
    }
    for (const [noun, stdin] of Object.entries(files)) {
      const saved = await local.run(`${noun} import - --plan-out plan.jsonl`, { stdin })
      expect(saved, saved.stderr).toMatchObject({ code: 0 })
      const ran = await local.run(`${noun} import --plan plan.jsonl`)
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      expect(ran.stderr).toMatch(/^Imported (\d) rows? of \1 from plan.jsonl: /)
    }
  })

  test('holds no password, and is for its command and platform only', async ({ local }) => {
    const stdin = 'email,password\na@b.example,correct horse battery\n'
    const secret = await local.run('users import - --plan-out plan.jsonl', { stdin })
    expect(secret.code).toBe(2)
    expect(secret.stderr).toContain('A plan file cannot hold a password')
    await local.run('users import - --plan-out plan.jsonl', { stdin: before })
    const refused = async (line: string) => {
      const ran = await local.run(line)
      return [ran.code, ran.stderr.split('\n')[0]]
    }
    expect(await refused('courses import --plan plan.jsonl')).toEqual([
      2,
      'error: plan.jsonl is a plan for learnctl users import',
    ])
    expect(await refused('users import --plan plan.jsonl --database other.db')).toEqual([
      6,
      expect.stringContaining('error: The plan was made for '),
    ])
    expect(await refused('users import users.csv --plan plan.jsonl')).toEqual([
      2,
      'error: --plan and files cannot be used together',
    ])
    expect(await refused('users import --plan plan.jsonl --map a=email')).toEqual([
      2,
      'error: --plan and --map cannot be used together',
    ])
    const lines = readFileSync(join(local.cwd, 'plan.jsonl'), 'utf8').split('\n')
    writeFileSync(join(local.cwd, 'plan.jsonl'), lines.toSpliced(2, 1).join('\n'))
    expect(await refused('users import --plan plan.jsonl')).toEqual([2, 'error: plan.jsonl is incomplete'])
  })

  test('is run again after an interruption, for what is left', { tags: ['slow'] }, async ({ academy }) => {
    const { key, get } = await academy.person('admin')
    const transport = transportTo(academy)
    let left = Number.POSITIVE_INFINITY
    const cli = testCli({
      transport: async (request) => {
        if (request.method === 'POST' && !request.url.includes('/v1/changes')) left -= 1
        if (left < 0) throw new ConnectionError(request, 'reset', 'Connection lost')
        return transport(request)
      },
    })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const rows = Array.from({ length: 60 }, (_, n) => `${n},u${n}@b.example\n`).join('')
    const stdin = `externalId,email\n${rows}`
    await cli.run('users import - --plan-out plan.jsonl', { stdin, env })
    left = 2
    const line = 'users import --plan plan.jsonl --batch-size 10'
    const stopped = await cli.run(line, { env })
    expect(stopped.code).toBe(7)
    expect(stopped.stderr).toContain('Stopped after 20 of 60 rows; run the same command again')
    left = Number.POSITIVE_INFINITY
    const ran = await cli.run(line, { env })
    expect(ran.stderr).toContain('Imported 60 rows of 60 from plan.jsonl: 40 created, 20 unchanged')
    expect((await get('/v1/users/ext:59')).body.email).toBe('u59@b.example')
  })
})
