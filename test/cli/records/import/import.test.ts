import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished } from 'vitest'
import { type TestCli, test, testCli, transportTo } from '../../../helpers/cli.ts'
import type { TestAcademy } from '../../../helpers/test-academy.ts'

function file(cli: TestCli, name: string, content: string | Uint8Array): string {
  writeFileSync(join(cli.cwd, name), content)
  return name
}

async function records(cli: TestCli, noun: string): Promise<Record<string, unknown>[]> {
  const ran = await cli.run(`${noun} list --all -o json`)
  expect(ran.code, ran.stderr).toBe(0)
  return JSON.parse(ran.stdout)
}

describe('a file', () => {
  test('has its columns in any order, under the names that people use', async ({ local }) => {
    const csv = 'Role,E-Mail,FIRST NAME,External ID\nteacher,ada@b.example,Ada,1\n'
    expect(await local.run(`users import ${file(local, 'u.csv', csv)}`)).toMatchObject({ code: 0 })
    const users = await records(local, 'users')
    expect(users.find(({ externalId }) => externalId === '1')).toMatchObject({
      email: 'ada@b.example',
      role: 'instructor',
      profile: { firstName: 'Ada' },
    })
    await local.run('courses create --title Sea --external-id SEA --status published')
    const places = 'Course,user,enrolled at\nSEA,ada@b.example,2026-01-01\n'
    expect(await local.run('enrollments import -', { stdin: places })).toMatchObject({ code: 0 })
    const grades = 'course,learner,item,scoreGiven\nSEA,1,exam,90\n'
    expect(await local.run('grades import -', { stdin: grades })).toMatchObject({ code: 0 })
  })

  test('in another encoding, with semicolons or tabs, quoted line ends or compressed, says the same', {
    tags: ['slow'],
  }, async ({ local }) => {
    const text = 'externalId;email;bio\r\n"1";zoe@b.example;"Größe\n""42"""\r\n'
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    const forms: Record<string, string | Uint8Array> = {
      'a.csv': `\ufeff${text}`,
      'b.csv': Buffer.from(text, 'latin1'),
      'c.csv': utf16,
      'd.csv.gz': gzipSync(text),
      'e.tsv': text.replaceAll(';', '\t'),
      'f.csv': `sep=;\r\n${text}`,
      'g.csv': text.replaceAll(';', ','),
      'h.csv': Buffer.from(text, 'utf16le'),
    }
    for (const [name, content] of Object.entries(forms)) {
      const ran = await local.run(`users import ${file(local, name, content)}`)
      expect(ran, `${name}: ${ran.stderr}`).toMatchObject({ code: 0 })
      expect(ran.stderr).toContain(name === 'a.csv' ? '1 created' : '1 unchanged')
    }
    expect((await records(local, 'users')).find(({ externalId }) => externalId === '1')).toMatchObject({
      profile: { bio: 'Größe\n"42"' },
    })
  })

  test('is JSON or JSONL, flat or as the API has it, also from standard input', { tags: ['slow'] }, async ({
    local,
  }) => {
    const nested = { externalId: '1', email: 'a@b.example', profile: { firstName: 'Ada' } }
    const flat = { externalId: '2', email: 'b@b.example', firstName: 'Grace' }
    for (const stdin of [
      JSON.stringify([nested, flat]),
      `${JSON.stringify(flat)}\n\n${JSON.stringify(nested)}`,
    ]) {
      const ran = await local.run('users import -', { stdin })
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      expect(ran.stderr).toContain('Imported 2 rows of 2 from standard input')
    }
    expect((await records(local, 'users')).map(({ profile }) => profile)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ firstName: 'Ada' }),
        expect.objectContaining({ firstName: 'Grace' }),
      ]),
    )
  })

  test('tells the same problem of many rows once, and guesses only what is near', async ({ local }) => {
    const row = (n: number) => `${n},u${n}@b.example,${n % 2 === 0 ? 'Lehrer' : 'Schueler'}\n`
    const csv = `externalId,email,role\n${Array.from({ length: 64 }, (_, n) => row(n)).join('')}`
    const ran = await local.run(`users import ${file(local, 'u.csv', csv)}`)
    expect(ran.code).toBe(2)
    const roles = 'admin, instructor, learner, analyst, student, teacher, observer'
    expect(ran.stderr.split('\n').slice(0, 3)).toEqual([
      'error: 64 problems found in u.csv; nothing was imported',
      `  u.csv:2: role "Lehrer" ×32: must be one of ${roles} (lines 2, 4, 6, 8, 10 and 27 more)`,
      `  u.csv:3: role "Schueler" ×32: must be one of ${roles} (lines 3, 5, 7, 9, 11 and 27 more)`,
    ])
  })

  test('is checked as a whole before anything is sent, and every problem has its line', async ({ local }) => {
    const csv =
      'externalId,email,role\n1,ada,learner\n2,b@b.example,lerner\n3,c@b.example\n2,d@b.example,learner\n'
    const ran = await local.run(`users import ${file(local, 'u.csv', csv)}`)
    expect(ran.code).toBe(2)
    expect(ran.stderr.split('\n')).toEqual([
      'error: 4 problems found in u.csv; nothing was imported',
      '  u.csv:2: email: must be an e-mail address, such as ada@example.org, not "ada"',
      '  u.csv:3: role: must be one of admin, instructor, learner, analyst, student, teacher, observer, not "lerner"; did you mean learner?',
      '  u.csv:4: has 2 cells, but the header has 3',
      '  u.csv:5: is the same user as line 3',
      '  hint: Correct the file, or import the other rows alone: --skip-invalid',
      '',
    ])
    expect(await records(local, 'users')).toHaveLength(1)
  })

  test.for([
    ['an unknown column', 'email,Klasse\na@b.example,9b\n', 'u.csv has an unknown column: "Klasse"'],
    ['two columns for one field', 'email,E-Mail\na@b.example,b@b.example\n', 'more than one column for'],
    ['no column for what is required', 'role\nlearner\n', 'u.csv has no column email'],
    ['a quote that is not closed', 'email\n"a@b.example\n', 'a quoted cell has no closing quote'],
    ['nothing in it', '', 'u.csv is empty'],
  ] as const)('with %s is refused', async ([, csv, told], { local }) => {
    const ran = await local.run(`users import ${file(local, 'u.csv', csv)}`)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(told)
  })

  test('that has nothing but its header is imported: there is nothing to do', async ({ local }) => {
    const ran = await local.run(`users import ${file(local, 'u.csv', 'email,role\n')}`)
    expect(ran).toMatchObject({ code: 0, stderr: 'Imported 0 rows of 0 from u.csv: nothing to do\n' })
  })
})

describe('rows that are rejected', () => {
  test('are written with their own cells and the reason, to be corrected and imported again', {
    tags: ['slow'],
  }, async ({ local }) => {
    await local.run('users create --email taken@b.example --external-id 9')
    const csv = 'Kennung,email\n1,taken@b.example\n2,b@b.example\n'
    const map = ['--map', 'Kennung=externalId']
    const ran = await local.run(['users', 'import', file(local, 'u.csv', csv), ...map])
    expect(ran.code).toBe(8)
    expect(ran.stderr).toContain('Imported 1 row of 2 from u.csv: 1 created, 1 failed')
    const path = join(local.cwd, 'u.errors.csv')
    const errors = readFileSync(path, 'utf8')
    expect(errors).toMatch(
      /^Kennung,email,"mapping: \{.*\}",line,code,message\r\n1,taken@b\.example,,2,duplicate,email: /,
    )
    writeFileSync(path, errors.replace('taken@', 'free@'))
    for (const flags of [[], map]) {
      const again = await local.run(['users', 'import', 'u.errors.csv', ...flags])
      expect(again, again.stderr).toMatchObject({ code: 0 })
      expect(again.stderr).toMatch(/1 (created|unchanged)/)
    }
  })

  test('never replace an errors file that may have been corrected', { tags: ['slow'] }, async ({ local }) => {
    const write = (csv: string) => file(local, 'u.csv', `email,role\n${csv}`)
    const read = (name: string) => readFileSync(join(local.cwd, name), 'utf8')
    const command = `users import ${write('ada,learner\n')} --skip-invalid`
    expect((await local.run(command)).stderr).toContain('Rejected rows are in u.errors.csv')
    expect((await local.run(command)).stderr).toContain('Rejected rows are in u.errors.csv')
    expect(existsSync(join(local.cwd, 'u.errors-2.csv'))).toBe(false)
    const corrected = read('u.errors.csv').replace('ada,', 'ada@b.example,')
    writeFileSync(join(local.cwd, 'u.errors.csv'), corrected)
    expect((await local.run(command)).stderr).toContain('Rejected rows are in u.errors-2.csv')
    expect(read('u.errors.csv')).toBe(corrected)
    await local.run(`${command} --errors u.errors.csv`)
    expect(read('u.errors.csv')).toBe(read('u.errors-2.csv'))
  })

  test('are those that are invalid, too, with --skip-invalid', async ({ local }) => {
    const csv = 'email,role\nada,learner\nb@b.example,learner\n'
    const ran = await local.run(`users import ${file(local, 'u.csv', csv)} --skip-invalid -o json`)
    expect(ran.code).toBe(8)
    expect(JSON.parse(ran.stdout)).toEqual({
      ...{ file: 'u.csv', rows: 2, created: 1, updated: 0, unchanged: 0, skipped: 0, failed: 1 },
      errorsFile: 'u.errors.csv',
    })
    expect(readFileSync(join(local.cwd, 'u.errors.csv'), 'utf8')).toContain('ada,learner,2,')
  })
})

describe('a record that exists', () => {
  const before = 'externalId,email,firstName\n1,a@b.example,Ada\n'
  const after = 'externalId,email,firstName\n1,a@b.example,Augusta\n'

  test.for([
    ['update', '1 updated', 'Augusta', 0],
    ['skip', '1 skipped', 'Ada', 0],
    ['fail', '1 failed', 'Ada', 8],
  ] as const)('with --on-exists %s: %s', async ([mode, told, name, code], { local }) => {
    await local.run(`users import ${file(local, 'u.csv', before)}`)
    const ran = await local.run(`users import ${file(local, 'v.csv', after)} --on-exists ${mode}`)
    expect(ran.code).toBe(code)
    expect(ran.stderr).toContain(told)
    const users = await records(local, 'users')
    expect(users.find(({ externalId }) => externalId === '1')).toMatchObject({ profile: { firstName: name } })
  })

  test('is changed by a file that has its key and the changed column alone', async ({ local }) => {
    await local.run(`users import ${file(local, 'u.csv', before)}`)
    const ran = await local.run(`users import ${file(local, 'v.csv', 'externalId,username\n1,countess\n')}`)
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect((await records(local, 'users')).find(({ externalId }) => externalId === '1')).toMatchObject({
      username: 'countess',
      profile: { firstName: 'Ada' },
    })
  })

  test('keeps the lessons of its modules when it is imported again', { tags: ['slow'] }, async ({
    local,
  }) => {
    const course = { externalId: 'SEA', title: 'Sea', modules: [{ title: 'Tides' }, { title: 'Reefs' }] }
    const lesson = { externalId: 'L1', courseId: 'ext:SEA', module: 'Reefs', title: 'Corals' }
    await local.run('courses import -', { stdin: JSON.stringify([course]) })
    const made = await local.run('lessons import -', { stdin: JSON.stringify([lesson]) })
    expect(made, made.stderr).toMatchObject({ code: 0 })
    const turned = { ...course, modules: [{ title: 'Reefs' }, { title: 'Currents' }] }
    expect(await local.run('courses import -', { stdin: JSON.stringify([turned]) })).toMatchObject({
      code: 0,
    })
    const [{ moduleId } = {}] = await records(local, 'lessons')
    const [{ modules } = {}] = await records(local, 'courses')
    expect(moduleId).toBe((modules as { id: string }[])[0]?.id)
    const again = await local.run('lessons import -', { stdin: JSON.stringify([lesson]) })
    expect(again.stderr).toContain('1 unchanged')
  })
})

describe('an import that was interrupted', () => {
  const csv = `externalId,email\n${Array.from({ length: 1200 }, (_, row) => `${row},u${row}@b.example\n`).join('')}`

  test('is run again, and recognises what it made', { tags: ['slow'] }, async ({ local }) => {
    file(local, 'u.csv', csv)
    const controller = new AbortController()
    const stopped = await local.run('users import u.csv --debug', {
      signal: controller.signal,
      // After the first response.
      onStderr: (printed) => printed.includes('/v1/users/batch') && controller.abort(new Error('stop')),
    })
    expect(stopped.code).not.toBe(0)
    expect(stopped.stderr).toContain(
      'note: Stopped after 500 of 1200 rows; run the same command again, which recognises what was imported\n',
    )
    const again = await local.run('users import u.csv')
    expect(again.stderr).toBe('Imported 1200 rows of 1200 from u.csv: 700 created, 500 unchanged\n')
    expect(await records(local, 'users')).toHaveLength(1201)
  })
})

test('rows without an external id get one made of the file and the line, and are recognised by it', async ({
  local,
}) => {
  const courses = file(local, 'c.csv', 'title\nSea\nLake\n')
  const dry = await local.run(`courses import ${courses} --dry-run -o json`)
  const keys = (JSON.parse(dry.stdout) as { key: string }[]).map(({ key }) => key)
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{12}-2$/), expect.stringMatching(/^[0-9a-f]{12}-3$/)])
  expect((await local.run(`courses import ${courses}`)).stderr).toBe(
    'note: 2 rows have no externalId, and theirs is made of the file and the line: the same file makes no second record\nImported 2 rows of 2 from c.csv: 2 created\n',
  )
  expect((await local.run(`courses import ${courses}`)).stderr).toContain(': 2 unchanged')
  file(local, 'c.csv', 'title\nPond\n')
  expect((await local.run(`courses import ${courses}`)).stderr).toContain(': 1 created')
  expect((await records(local, 'courses')).map(({ externalId }) => externalId)).toEqual(
    expect.arrayContaining(keys),
  )
})

describe('an import that cannot go on', () => {
  const people = `email\n${Array.from({ length: 40 }, (_, row) => `u${row}@b.example\n`).join('')}`

  /** A platform that refuses all requests after the first ones. */
  async function refusing(academy: TestAcademy, status: number, detail: string) {
    const { key } = await academy.person('admin')
    const transport = transportTo(academy)
    const answers = { left: Number.POSITIVE_INFINITY }
    const remote = testCli({
      transport: async (request) => {
        // The change that the import makes is not imported content.
        if (!/\/(health|changes)/.test(request.url)) answers.left -= 1
        const headers = { 'content-type': 'application/problem+json' }
        if (answers.left >= 0) return transport(request)
        return { status, headers, body: JSON.stringify({ status, code: 'refused', detail }) }
      },
    })
    onTestFinished(() => remote.remove())
    file(remote, 'u v.csv', people)
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    return { answers, remote, env }
  }

  test('says what was done, and that the same command recognises it', { tags: ['slow'] }, async ({
    academy,
  }) => {
    const { answers, remote, env } = await refusing(academy, 401, 'Unknown key')
    answers.left = 2
    const line = ['users', 'import', 'u v.csv', '--batch-size', '10']
    const stopped = await remote.run(line, { env })
    expect(stopped.code).toBe(4)
    expect(stopped.stderr.split('\n').slice(0, 2)).toEqual([
      'note: Stopped after 20 of 40 rows; run the same command again, which recognises what was imported',
      'error: Unknown key',
    ])
    answers.left = Number.POSITIVE_INFINITY
    expect((await remote.run(line, { env })).stderr).toContain('20 created, 20 unchanged')
  })

  test('because the file of rejected rows cannot be written is run again', async ({ local }) => {
    await local.run('users create --email a@b.example --external-id 1')
    file(local, 'u.csv', 'externalId,email\n2,a@b.example\n3,c@b.example\n')
    const full = await local.run('users import u.csv --errors /dev/full')
    expect(full.code).toBe(1)
    expect(full.stderr).toContain('error: Cannot write /dev/full: the disk is full')
    expect(full.stderr).toContain('note: Stopped after 2 of 2 rows; run the same command again')
    expect(await local.run('users import u.csv')).toMatchObject({ code: 8 })
    expect(readFileSync(join(local.cwd, 'u.errors.csv'), 'utf8')).toContain('2,a@b.example,2,duplicate')
  })
})

test('spaces around names are left out, with a note', async ({ local }) => {
  const stdin =
    'externalId,email,firstName,lastName\n1,a@b.example," Ada",Lovelace\n2,b@b.example,Bo,"Bell "\n'
  const ran = await local.run('users import -', { stdin })
  expect(ran.stderr).toContain(
    'note: 2 rows have spaces around a value, which are left out: firstName, lastName\n',
  )
  const clean = await local.run('users import -', { stdin: 'externalId,email\n3,c@b.example\n' })
  expect(clean.stderr).not.toContain('spaces')
})

test.for([
  ['users', 'ext:1', 'externalId,email,firstName,status\n1,a@b.example,Ada,', 'suspended'],
  ['lessons', 'ext:L', 'externalId,courseId,title,status\nL,ext:C,Ebb,', 'draft'],
] as const)(
  'a deleted record of %s that keeps its external id is restored',
  { tags: ['slow'] },
  async ([noun, name, csv, status], { local }) => {
    const shown = async () => JSON.parse((await local.run(`${noun} get ${name} -o json`)).stdout)
    await local.run('courses create --title Sea --external-id C')
    await local.run(`${noun} import -`, { stdin: `${csv}\n` })
    const before = await shown()
    await local.run(`${noun} delete ${name} --yes`)
    if (noun === 'users') {
      const dry = await local.run('users import - --dry-run -o json', { stdin: `${csv}\n` })
      expect(JSON.parse(dry.stdout)).toMatchObject([{ action: 'update', changes: ['status'] }])
    }
    const skipped = await local.run(`${noun} import - --on-exists skip`, { stdin: `${csv}\n` })
    expect(skipped.code).toBe(noun === 'users' ? 0 : 8)
    const ran = await local.run(`${noun} import -`, { stdin: `${csv}\n` })
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('1 updated') })
    expect(await shown()).toMatchObject({ id: before.id, status: before.status })
    await local.run(`${noun} delete ${name} --yes`)
    const other = await local.run(`${noun} import -`, { stdin: `${csv}${status}\n` })
    expect(other.stderr).toContain('1 updated')
    expect((await shown()).status).toBe(status)
  },
)

describe('addresses that move from one user to another', () => {
  const people = (shift: (row: number) => number) =>
    `externalId,email\n${[0, 1, 2, 3, 4, 5].map((row) => `${row},u${shift(row)}@b.example\n`).join('')}`

  test.for(['', '--batch-size 1', '--batch-size 2'])(
    'in a chain are free in time %s',
    async (flags, { local }) => {
      await local.run('users import -', { stdin: people((row) => row) })
      // The last row of the file must be sent before the first one.
      for (const shift of [(row: number) => row + 1, (row: number) => row]) {
        const ran = await local.run(`users import - ${flags}`, { stdin: people(shift) })
        expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining(': 6 updated\n') })
      }
    },
  )

  test('are refused where two users exchange them, each once', async ({ local }) => {
    await local.run('users import -', { stdin: people((row) => row) })
    const exchange = people((row) => [1, 0, 6, 3, 4, 5][row] ?? 0)
    const ran = await local.run('users import - --errors e.csv', { stdin: exchange })
    expect(ran.code).toBe(8)
    expect(ran.stderr).toContain('4 rows of 6 from standard input: 1 updated, 3 unchanged, 2 failed')
    expect(readFileSync(join(local.cwd, 'e.csv'), 'utf8').split('\r\n')).toHaveLength(4)
  })
})
