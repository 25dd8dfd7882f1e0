import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatReaders } from '../../../src/cli/roster/open-roster.ts'
import type { Roster, RosterFormat } from '../../../src/cli/roster/roster.ts'
import { CommandError } from '../../../src/cli/terminal/errors.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'
import { oneRosterPackage } from '../../helpers/oneroster-package.ts'
import { randomRuns } from '../../helpers/random.ts'
import { openAt } from './read-roster.ts'

type Files = Readonly<Record<string, string>>

const generated: Files = Object.fromEntries(
  [...oneRosterPackage({ users: 12, enrollments: 20 })].map(([name, text]) => [name, [...text()].join('')]),
)
/** Ids of a class and a user of the generated package. */
const [klass = '', user = ''] = ['classes.csv', 'users.csv'].map(
  (name) => parse(generated[name] ?? '')[1]?.[0],
)

/** Small rosters of each format, without faults. */
const sound: Readonly<Record<string, Files>> = {
  oneroster: {
    ...generated,
    'categories.csv': 'sourcedId,status,dateLastModified,title,weight\r\ng1,,,Tests,60\r\n',
    'lineItems.csv': `sourcedId,status,dateLastModified,title,classSourcedId,categorySourcedId,resultValueMin,resultValueMax\r\nl1,,,Test,${klass},g1,0,20\r\n`,
    'results.csv': `sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate\r\nr1,,,l1,${user},fully graded,12,2026-01-09\r\nr2,,,l1,${user},exempt,,\r\n`,
  },
  canvas: {
    'users.csv':
      'user_id,login_id,first_name,last_name,email,status\nU1,ada,Ada,L,ada@example.org,active\nU2,bert,B,B,b@example.org,deleted\n',
    'terms.csv': 'term_id,name,status,start_date,end_date\nT1,Autumn,active,2026-09-01,2026-12-18\n',
    'courses.csv': 'course_id,short_name,long_name,term_id,status\nC1,A,Algebra,T1,active\n',
    'sections.csv': 'section_id,course_id,name,status\nS1,C1,One,active\n',
    'enrollments.csv':
      'course_id,user_id,role,section_id,status\nC1,U1,student,S1,active\nC1,U2,teacher,,completed\n,U1,observer,S1,active\n',
  },
  moodle: {
    'users.csv':
      'username,firstname,lastname,email,suspended,course1,role1,group1,enrolstatus1,course2,type2,cohort1\nada,Ada,L,ada@example.org,0,bio,student,5b,,art,2,year 3\nbert,B,B,b@example.org,1,bio,teacher,,1,,,\n',
    'courses.csv': 'shortname,fullname,category,visible,delete\nbio,Biology,1,1,\nart,Art,1,0,\n',
  },
  kolibri: {
    'users.csv':
      'UUID,USERNAME,PASSWORD,FULL_NAME,USER_TYPE,IDENTIFIER,BIRTH_YEAR,GENDER,ENROLLED_IN,ASSIGNED_TO\n,ada,*,Ada,LEARNER,,,,"one,two",\n,bert,,Bert,CLASS_COACH,,,,,one\n',
  },
}

/** A change of one cell or line of a file. */
const change = fc.record({
  file: fc.nat(),
  line: fc.nat(),
  cell: fc.nat(),
  kind: fc.constantFrom('cell', 'cell', 'cell', 'repeat', 'remove', 'cut'),
  text: fc.oneof(
    fc.constantFrom(
      ...[
        '',
        ' ',
        'active',
        'deleted',
        'tobedeleted',
        'ACTIVE',
        '2026-13-01',
        '-1',
        '1e9',
        'NaN',
        '=1+1',
        '1',
        'true',
      ],
      ...[
        'ada',
        'ada@example.org',
        'a,b',
        'a"b',
        'a\nb',
        '\u0000',
        '\uD800',
        'x'.repeat(300),
        '学校',
        'student',
        'C1',
      ],
    ),
    fc.string({ maxLength: 12 }),
  ),
})

function changed(
  files: Files,
  changes: readonly (typeof change extends fc.Arbitrary<infer One> ? One : never)[],
): Files {
  const copy: Record<string, string[][]> = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, parse(text)]),
  )
  for (const { file, line, cell, kind, text } of changes) {
    const table = Object.values(copy)[file % Object.keys(copy).length] ?? []
    const at = line % Math.max(1, table.length)
    const row = table[at]
    if (!row) continue
    if (kind === 'cell') row[cell % row.length] = text
    else if (kind === 'repeat') table.push([...row])
    else if (kind === 'remove') table.splice(at, 1)
    else row.pop()
  }
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return Object.fromEntries(
    Object.entries(copy).map(([name, rows]) => [
      name,
      rows.map((row) => row.map(quoted).join(',')).join('\r\n'),
    ]),
  )
}

/** Number of rows of a file that notes name. */
function countIn(notes: readonly string[], file: string): number {
  const counting = /left out|not kept|read through|several rows|not assigned|removed/
  return notes
    .filter((note) => note.startsWith(`${file}: `) && counting.test(note))
    .reduce((sum, note) => sum + Number(/\((\d+) times/.exec(note)?.[1] ?? 1), 0)
}

async function requireAccounted(source: Roster): Promise<void> {
  const { records, findings } = source
  const found = [...records.values()].flat()
  const places = new Set([
    ...found.map(({ place }) => `${place.file}:${place.line}`),
    ...findings.problems().map(({ file, line }) => `${file}:${line}`),
  ])
  for (const { name, table } of source.files) {
    const form = formatReaders[source.format as RosterFormat].tables.find((each) => each.name === table)
    if (!form?.part) continue
    const own = [...places].filter((place) => place.startsWith(`${name}:`)).length
    const rest = (findings.rowCounts.get(name) ?? 0) - own
    expect(rest, `${name}: ${findings.notes().join('\n')}`).toBeLessThanOrEqual(
      countIn(findings.notes(), name),
    )
  }
  for (const { record, isRemoved = false } of found) {
    if (!isRemoved) expect(Object.values(record)).not.toContain(undefined)
  }
}

test('whatever is wrong with a roster, each row is a record, a problem or counted', async () => {
  const { path, remove } = freshDirectory()
  const runs = fc.asyncProperty(
    fc.constantFrom(...Object.keys(sound)),
    fc.array(change, { maxLength: 12 }),
    fc.nat(),
    async (format, changes, number) => {
      const folder = join(path, String(number), format)
      mkdirSync(folder, { recursive: true })
      for (const [name, text] of Object.entries(changed(sound[format] ?? {}, changes))) {
        writeFileSync(join(folder, name), text)
      }
      try {
        await requireAccounted(
          await openAt(folder, { emailDomain: number % 2 === 0 ? 'school.example' : null }),
        )
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
  try {
    await fc.assert(runs, { numRuns: randomRuns(5, 100) })
  } finally {
    remove()
  }
})

test('a roster without faults has no problems', { tags: ['slow'] }, async () => {
  const { path, remove } = freshDirectory()
  for (const [format, files] of Object.entries(sound)) {
    mkdirSync(join(path, format))
    for (const [name, text] of Object.entries(changed(files, [])))
      writeFileSync(join(path, format, name), text)
    const source = await openAt(join(path, format), { emailDomain: 'school.example' })
    expect(source.format).toBe(format)
    const { findings } = source
    expect(
      findings.problems().filter(({ file }) => file !== 'results.csv' && file !== 'lineItems.csv'),
    ).toEqual([])
  }
  remove()
})
