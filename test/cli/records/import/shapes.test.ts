import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Command } from '../../../../src/cli/command/command.ts'
import { cellOf } from '../../../../src/cli/dataset/cell.ts'
import type { Dataset } from '../../../../src/cli/dataset/dataset.ts'
import { loadDataset } from '../../../../src/cli/dataset/load-dataset.ts'
import { users } from '../../../../src/cli/dataset/people.ts'
import { csvRows } from '../../../../src/cli/records/sources/csv.ts'
import { meantColumn } from '../../../../src/cli/records/sources/header.ts'
import { csvRecord } from '../../../../src/codec/csv.ts'
import { valueAt } from '../../../../src/tables/column.ts'
import { type TestCli, test } from '../../../helpers/cli.ts'

const reading = { map: new Map(), delimiter: undefined, clearEmpty: false, now: 0 }

/** Reads the records of a CSV that arrives in pieces of this size. */
async function recordsOf(dataset: Dataset, csv: string, size: number): Promise<unknown[]> {
  async function* text() {
    // Like a decoder's output, no piece divides a character.
    const characters = [...csv]
    for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('')
  }
  const name = 'a.csv'
  const file = {
    name,
    path: name,
    hash: '',
    bytes: csv.length,
    lines: 0,
    charset: 'utf-8',
    isMarked: false,
    format: 'csv',
    text,
  } as const
  const { rows } = await csvRows(file, dataset, reading)
  const records: unknown[] = []
  for await (const some of rows) {
    expect(some.flatMap(({ problems }) => problems)).toEqual([])
    records.push(...some.map(({ record }) => record))
  }
  return records
}

function csvOf({ columns }: Dataset, records: readonly object[]): string {
  const cells = (record: object) => columns.map((column) => cellOf(column, valueAt(record, column.path)))
  const header = columns.map(({ name }) => name)
  return [header, ...records.map(cells)].map((cells) => csvRecord(cells, false)).join('')
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.string({
    unit: fc.constantFrom(
      "'",
      '"',
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\r',
      '\n',
      ',',
      ';',
      ' ',
      '１',
      '＝',
      '\ufeff',
      'é',
    ),
    minLength: 1,
  }),
  fc.constantFrom(
    '=1+1',
    '-5',
    "'=1+1",
    "''",
    '12',
    'true',
    'null',
    '2026-01-01',
    '[]',
    '{}',
    'Zoë',
    'Ζωή',
    '祖母',
    'زوي',
    '👩🏽‍🏫',
  ),
)
describe('whatever records hold', () => {
  test('it is the same once it has been written as CSV and read again, in pieces of any size', {
    tags: ['slow'],
  }, async () => {
    const user = fc.record({ externalId: text, profile: fc.record({ firstName: text, bio: text }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(user, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 60 }),
        async (records, size) => {
          expect(await recordsOf(users, csvOf(users, records), size)).toEqual(records)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('names from every script, and cells that a spreadsheet would take for formulas, stay as they are', async ({
    local,
  }) => {
    const names = ['Zoë', 'Ζωή', '祖母', 'زوي', '👩🏽‍🏫', '-5', "O'Neil", '"Ada"', 'a,b;c\td', '１２']
    const rows = names.map((name, row) => csvRecord([`n${row}@b.example`, name], false))
    const stdin = `email,firstName\r\n${rows.join('')}formula@b.example,'=1+1\r\nraw@b.example,=2+2\r\n`
    expect(await local.run('users import -', { stdin })).toMatchObject({ code: 0 })
    const { stdout } = await local.run('users list --all -o json --sort email')
    const found = new Map(
      JSON.parse(stdout).map(({ email, profile }: { email: string; profile: { firstName: string } }) => [
        email,
        profile.firstName,
      ]),
    )
    for (const [row, name] of names.entries()) expect(found.get(`n${row}@b.example`)).toBe(name)
    expect(found.get('formula@b.example')).toBe('=1+1')
    expect(found.get('raw@b.example')).toBe('=2+2')
  })
})

describe('a file of a shape that cannot be right', () => {
  const refused: Record<string, [name: string, content: string | Uint8Array, told: string]> = {
    'an address that stands twice, in another case': [
      'a.csv',
      'email\na@b.example\n\nA@B.example\n',
      'a.csv:4: is the same user as line 2',
    ],
    'text after a closing quote': ['a.csv', 'email\n"a@b.example"x\n', 'text follows the closing quote'],
    'half a character': [
      'a.jsonl',
      '{"email":"a@b.example","firstName":"\\ud800"}\n',
      'a.jsonl:1: firstName: ',
    ],
    'a line that is not JSON': ['a.jsonl', '{"email":"a@b.example"}\n{"email"\n', 'a.jsonl:2: is not JSON'],
    'something else than objects': ['a.json', '[1]', 'a.json:1: must be an object'],
    'bytes that are not in its encoding': [
      'a.csv --encoding utf-8',
      Buffer.from('email\nü@b.example\n', 'latin1'),
      'it is not utf-8',
    ],
    'Shift_JIS that nothing declares': [
      'a.csv',
      // 表計算 in Shift_JIS.
      Buffer.from('email,firstName\na@b.example,\x95\x5c\x8c\x76\x8e\x5a\n', 'latin1'),
      'Cannot tell the encoding of a.csv: it is not UTF-8\n  Line 2 has the byte 0x95, ',
    ],
    'an encoding that does not exist': [
      'a.csv --encoding klingon',
      'email\n',
      '--encoding is not a known encoding: klingon',
    ],
    'another spreadsheet': ['a.ods', 'PK', 'spreadsheets are not supported'],
    'a workbook that is none': ['a.xlsx', 'PK', 'it is no zip file, or is cut short'],
    'nothing but a byte order mark': ['a.csv', '\ufeff', 'has no header'],
  }
  test.for(Object.entries(refused))('%s is refused', async ([, [name, content, told]], { local }) => {
    write(local, name.split(' ')[0] ?? '', content)
    const ran = await local.run(`users import ${name}`)
    expect(ran.code, ran.stderr).toBe(2)
    expect(ran.stderr).toContain(told)
  })

  test('has its lines counted as an editor counts them', async ({ local }) => {
    write(local, 'a.csv', 'email,bio\n\na@b.example,"two\nlines"\n\n\nb\n')
    const { stderr } = await local.run('users import a.csv')
    expect(stderr).toContain('a.csv:7: has 1 cells')
  })
})

test.for([
  // José in Mac Roman, and 表計算 in Shift_JIS and EUC-JP.
  ['macintosh', 'Jos\x8e', 'José'],
  ['sjis', '\x95\x5c\x8c\x76\x8e\x5a', '表計算'],
  ['EUC-JP', '\xc9\xbd\xb7\xd7\xbb\xbb', '表計算'],
  ['latin1', 'Jos\xe9', 'José'],
] as const)('a file may be in %s', async ([encoding, bytes, text], { local }) => {
  const stdin = Buffer.from(`email,firstName\na@b.example,${bytes}\n`, 'latin1')
  const ran = await local.run(`users import - --encoding ${encoding}`, { stdin })
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  const { stdout } = await local.run('users get a@b.example -o json')
  expect(JSON.parse(stdout)).toMatchObject({ profile: { firstName: text } })
})

test('a file is Windows-1252 without a word where its bytes are those of Western European text', async ({
  local,
}) => {
  const stdin = Buffer.from('email,firstName\na@b.example,\x93Zo\xeb\x94 \x96 5 \x80\n', 'latin1')
  const ran = await local.run('users import -', { stdin })
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  const { stdout } = await local.run('users get a@b.example -o json')
  expect(JSON.parse(stdout)).toMatchObject({ profile: { firstName: '“Zoë” – 5 €' } })
})

test('a time may be a day or a duration, as in a flag', async ({ local }) => {
  await local.run('courses create --title A --external-id A --status published')
  for (const n of [1, 2, 3]) await local.run(`users create --email u${n}@b.example --external-id ${n}`)
  const csv =
    'courseId,learnerId,completionPercentage,lastAccessed\next:A,ext:1,5,90d\next:A,ext:2,5,2026-02-01\n'
  const json = '{"courseId":"ext:A","learnerId":"ext:3","completionPercentage":5,"lastAccessed":"2h"}\n'
  for (const stdin of [csv, json]) {
    const ran = await local.run('progress import -', { stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
  }
  const { stdout } = await local.run('progress export --columns learnerId,lastAccessed')
  expect(stdout.split('\r\n').slice(1, -1).sort()).toEqual([
    'ext:1,2025-12-01T12:00:00.000Z',
    'ext:2,2026-02-01T00:00:00.000Z',
    'ext:3,2026-03-01T10:00:00.000Z',
  ])
  for (const time of ['90x', '99999y', 'yesterday']) {
    const stdin = `courseId,learnerId,completionPercentage,lastAccessed\next:A,ext:1,5,${time}\n`
    const ran = await local.run('progress import -', { stdin })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(`2: lastAccessed`)
  }
})

describe('an empty cell', () => {
  const before = 'externalId,email,firstName,bio,role\n1,a@b.example,Ada,Counts,instructor\n'
  const after = 'externalId,email,firstName,bio,role\n,a@b.example,Augusta,,\n'
  const userAfter = async (local: TestCli, flags: string) => {
    await local.run('users import -', { stdin: before })
    const ran = await local.run(`users import - ${flags}`, { stdin: after })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    return JSON.parse((await local.run('users get email:a@b.example -o json')).stdout)
  }

  test('changes nothing', async ({ local }) => {
    const profile = { firstName: 'Augusta', bio: 'Counts' }
    expect(await userAfter(local, '')).toMatchObject({ externalId: '1', role: 'instructor', profile })
  })

  test('resets its field with --clear-empty, unless it is a key', async ({ local }) => {
    const profile = { firstName: 'Augusta', bio: null }
    expect(await userAfter(local, '--clear-empty')).toMatchObject({
      externalId: '1',
      role: 'learner',
      profile,
    })
  })

  test('is as null in JSON, which resets what has another default than nothing, too', async ({ local }) => {
    await local.run('users import -', { stdin: before })
    const stdin = '[{"email": "a@b.example", "role": null, "profile": {"bio": null}}]'
    const dry = await local.run('users import - --dry-run -o csv --columns changes', { stdin })
    expect(dry.stdout).toBe('changes\r\n"[""role"",""bio""]"\r\n')
    expect(await local.run('users import -', { stdin })).toMatchObject({ code: 0 })
    const { stdout } = await local.run('users get email:a@b.example -o json')
    expect(JSON.parse(stdout)).toMatchObject({ role: 'learner', profile: { bio: null, firstName: 'Ada' } })
  })
})

test('a column of the file that is called as one of those that an import adds is its own', async ({
  local,
}) => {
  await local.run('users create --email taken@b.example --external-id 9')
  write(local, 'a.csv', 'code,email\n=7,taken@b.example\n')
  const ran = await local.run('users import a.csv --map code=externalId')
  expect(ran.code).toBe(8)
  const again = await local.run('users import a.errors.csv --map code=externalId')
  expect(again.stderr).toContain('0 rows of 1')
})

function write(cli: TestCli, name: string, content: string | Uint8Array): void {
  writeFileSync(join(cli.cwd, name), content)
}

describe('a file from a spreadsheet', () => {
  const german = ['Kennung;Email;Notiz', 'S-1;s1@b.example;x', ';;'].join('\n')

  test('has empty rows below the last one, which are no rows', async ({ local }) => {
    const flags = ['--map', 'Kennung=externalId', '--map', 'Notiz=']
    const ran = await local.run(['users', 'import', '-', ...flags], { stdin: `${german}\n;;\n` })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain('Imported 1 row of 1')
  })

  test('has decimal commas where the comma does not end a cell', async ({ local }) => {
    await local.run('courses create --title Sea --external-id SEA --status published')
    await local.run('users create --email ada@b.example --external-id 1')
    await local.run('enrollments create --course ext:SEA --user ext:1')
    const semicolons =
      'Learner;Course;Item;--score;maximum\next:1;ext:SEA;a;12,5;20\next:1;ext:SEA;b;7.5;20\n'
    const ran = await local.run('grades import -', { stdin: semicolons })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const grades = JSON.parse((await local.run('grades list -o json --sort createdAt')).stdout)
    expect(grades.map(({ scoreGiven }: { scoreGiven: number }) => scoreGiven)).toEqual([12.5, 7.5])
    const commas = 'learner,course,item,score\next:1,ext:SEA,a,"12,5"\n'
    const refused = await local.run('grades import -', { stdin: commas })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('scoreGiven: must be a number, not "12,5"')
  })

  test.for([
    ['DD.MM.YYYY', '31.08.2025', '2025-08-31T00:00:00.000Z'],
    ['DD.MM.YYYY', '1.2.2025 9:30', '2025-02-01T09:30:00.000Z'],
    ['DD/MM/YYYY', '03/04/2025', '2025-04-03T00:00:00.000Z'],
    ['MM/DD/YYYY', '03/04/2025', '2025-03-04T00:00:00.000Z'],
    ['excel', '45900', '2025-08-31T00:00:00.000Z'],
    ['excel', '45900.4166666667', '2025-08-31T10:00:00.000Z'],
    ['excel', '2025-08-31', '2025-08-31T00:00:00.000Z'],
  ])('has days as %s: %s', async ([format = '', day, time], { local }) => {
    await local.run('courses create --title Sea --external-id SEA --status published')
    await local.run('users create --email ada@b.example --external-id 1')
    const stdin = `course,user,enrolled-at\next:SEA,ext:1,${day}\n`
    const ran = await local.run(`enrollments import - --date-format ${format}`, { stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const [enrollment] = JSON.parse((await local.run('enrollments list -o json')).stdout)
    expect(enrollment.enrolledAt).toBe(time)
    const json = await local.run(`enrollments import - --date-format ${format}`, {
      stdin: JSON.stringify([{ courseId: 'ext:SEA', userId: 'ext:1', enrolledAt: day }]),
    })
    expect(json.stderr).toContain('1 unchanged')
  })

  test.for([
    ['31.08.2025', 'DD.MM.YYYY'],
    ['03/04/2025', 'DD/MM/YYYY or MM/DD/YYYY'],
    ['12/31/2025', 'MM/DD/YYYY'],
    ['45900', 'excel'],
  ])('is refused with a day such as %s that no flag explains', async ([day, formats], { local }) => {
    const ran = await local.run('enrollments import -', { stdin: `course,user,enrolledAt\nA,1,${day}\n` })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(
      `:2: enrolledAt: must be a date such as 2026-08-31, not "${day}"; use --date-format ${formats}\n`,
    )
  })

  test.for([
    ['users', 'create'],
    ['courses', 'create'],
    ['lessons', 'create'],
    ['enrollments', 'create'],
    ['progress', 'set'],
    ['grades', 'set'],
  ] as const)('may have the flags of %s %s as names of its columns', async ([name, verb]) => {
    const dataset = await loadDataset(name)
    const { commands } = (await import(`../../../../src/cli/commands/${name}.ts`)) as {
      commands: readonly Command[]
    }
    const flags = commands.find((command) => command.name === verb)?.flags ?? []
    const others =
      /^(body|password-stdin|if-not-exists|upsert|ids|group|timezone|extra-credit|user|if-version)$/
    const names = flags.map((flag) => flag.name).filter((flag) => !others.test(flag))
    expect(names.length).toBeGreaterThan(2)
    expect(names.filter((flag) => !meantColumn(dataset, `--${flag}`))).toEqual([])
  })
})
