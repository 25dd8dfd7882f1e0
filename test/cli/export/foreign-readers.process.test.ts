import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { openTestAcademy } from '../../helpers/academy.ts'
import { test as base, testCli, transportTo } from '../../helpers/cli.ts'
import { run } from '../../helpers/process.ts'

/** Texts that often break spreadsheets, shells and parsers. */
const odd = [
  ...[
    'Zoë',
    'Ζωή',
    '祖母',
    'زوي',
    '👩🏽‍🏫',
    'שָׁלוֹם',
    'ज़ोया',
    '-5',
    '+1',
    '007',
    '1e3',
    'null',
    'NULL',
    'yes',
    '2026-01-01',
  ],
  ...[
    '=1+1',
    '@x',
    "O'Neil",
    '"quoted"',
    'a,b;c\td|e',
    'two\nlines',
    'two\r\nlines',
    '# x',
    '- x',
    '\\n',
    ' {a: 1}',
    '[]',
  ],
]
const nouns = ['users', 'courses', 'lessons', 'enrollments', 'progress', 'grades'] as const

/** An academy with such texts, exported in every format to a directory. */
const test = base
  .extend('file', { scope: 'file' }, '')
  .extend('files', { scope: 'file' }, async ({ file: _ }, { onCleanup }) => {
    const academy = await openTestAcademy()
    const cli = testCli({ transport: transportTo(academy) })
    onCleanup(async () => {
      cli.remove()
      await academy.close()
    })
    const { key, post } = await academy.person('admin')
    const items = odd.map((name, n) => ({
      email: `u${n}@b.example`,
      externalId: `0${n}`,
      profile: { firstName: name },
    }))
    await post('/v1/users/batch', { items })
    for (const [n, title] of odd.entries()) {
      await post('/v1/courses', {
        title,
        externalId: `C${n}`,
        description: title,
        tags: [title],
        status: 'published',
      })
      await post('/v1/lessons', {
        courseId: `ext:C${n}`,
        title,
        contentBlocks: [{ type: 'markdown', body: title }],
      })
    }
    const places = odd.map((_, n) => ({ courseId: `ext:C${n}`, userId: `ext:0${n}` }))
    await post('/v1/enrollments/batch', { items: places })
    const learners = places.map(({ courseId, userId: learnerId }) => ({ courseId, learnerId }))
    await post('/v1/progress/batch', {
      items: learners.map((each, n) => ({ ...each, completionPercentage: n + 0.5 })),
    })
    await post('/v1/grades/batch', {
      items: learners.map((each, n) => ({ ...each, scoreGiven: n, label: odd[n] })),
    })
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const texts: Record<string, string> = {}
    for (const noun of nouns) {
      for (const ending of ['csv', 'json', 'jsonl', 'yaml', 'csv.gz']) {
        const ran = await cli.run(
          `${noun} export ${ending.startsWith('csv') ? '--raw' : ''} --all-columns --file ${noun}.${ending}`,
          { env },
        )
        expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('Exported') })
      }
      texts[noun] = readFileSync(join(cli.cwd, `${noun}.json`), 'utf8')
    }
    return { cwd: cli.cwd, texts }
  })

/** Returns the cells of a record in CSV, except lists and objects. */
function cellsOf(value: unknown, path = ''): Record<string, string> {
  if (value === null) return { [path]: '' }
  if (Array.isArray(value)) return {}
  if (typeof value !== 'object') return { [path]: String(value) }
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, member]) => cellsOf(member, path ? `${path}.${name}` : name)),
  )
}

/** Returns a record with the column names of CSV: the last part of each path, if that is unique. */
function isSame(record: unknown, row: Record<string, string>): boolean {
  return Object.entries(cellsOf(record)).every(([path, cell]) => {
    const found = row[path] ?? row[path.split('.').at(-1) ?? '']
    return found === cell
  })
}

const has = (program: string, ...words: string[]) => spawnSync(program, words).status === 0
const env = { HOME: process.env['HOME'] ?? '/' }

describe.skipIf(!has('python3', '--version'))('python', () => {
  const script = `
import csv, gzip, json, sys
try:
    import yaml
except ImportError:
    yaml = None
csv.field_size_limit(10_000_000)
found = {}
for noun in sys.argv[1:]:
    read = {}
    with open(noun + '.csv', newline='', encoding='utf-8') as file: read['csv'] = list(csv.DictReader(file, strict=True))
    with gzip.open(noun + '.csv.gz', 'rt', newline='', encoding='utf-8') as file: read['csv.gz'] = list(csv.DictReader(file, strict=True))
    with open(noun + '.json', encoding='utf-8') as file: read['json'] = json.load(file)
    with open(noun + '.jsonl', encoding='utf-8') as file: read['jsonl'] = [json.loads(line) for line in file]
    if yaml:
        with open(noun + '.yaml', encoding='utf-8') as file: read['yaml'] = yaml.safe_load(file)
    found[noun] = read
json.dump(found, sys.stdout, default=lambda value: 'not of JSON: ' + repr(value))
`
  test('reads the same from CSV, JSON, JSON lines and YAML', async ({ files: { cwd, texts } }) => {
    writeFileSync(join(cwd, 'read.py'), script)
    const { stdout, stderr } = await run('python3', ['read.py', ...nouns], { cwd, env })
    expect(stderr).toBe('')
    const found = JSON.parse(stdout)
    for (const noun of nouns) {
      const records: unknown[] = JSON.parse(texts[noun] ?? '')
      expect(records.length, noun).toBeGreaterThanOrEqual(odd.length)
      const { csv, json, jsonl, yaml } = found[noun]
      expect(json).toEqual(records)
      expect(jsonl).toEqual(records)
      if (yaml) expect(yaml).toEqual(records)
      expect(csv).toHaveLength(records.length)
      for (const [index, record] of records.entries()) {
        expect(isSame(record, csv[index]), JSON.stringify([record, csv[index]])).toBe(true)
      }
      expect(found[noun]['csv.gz']).toEqual(csv)
    }
  })
})
