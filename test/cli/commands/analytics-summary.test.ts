import { parse } from 'csv-parse/sync'
import stringWidth from 'string-width'
import { beforeEach, describe, expect } from 'vitest'
import { typeColumns } from '../../../src/cli/output/formats/format.ts'
import { figureColumns } from '../../../src/cli/output/summary-view.ts'
import { labelColumns } from '../../../src/tables/column.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { expectClearError, resultOf, rowsOf } from '../../helpers/result.ts'

const plain = { tty: 80, env: { NO_COLOR: '1' } }

async function fill(cli: TestCli): Promise<void> {
  const titles = ['Sea', 'A course whose title is much longer than half of the line of a narrow terminal']
  for (const [index, title] of titles.entries()) {
    await cli.run(`courses create --title "${title}" --external-id C-${index} --status published`)
  }
  for (const [name, percentage] of Object.entries({ ada: 100, bob: 45, eve: 5 })) {
    await cli.run(`users create --email ${name}@school.example`)
    await cli.run(`progress set email:${name}@school.example --course ext:C-0 --completion ${percentage}`)
  }
  await cli.run('enrollments create --course ext:C-1 --user email:ada@school.example')
}

describe('on a terminal', () => {
  beforeEach<{ local: TestCli }>(({ local }) => fill(local))

  test('draws the distribution and the courses beside numbers', { tags: ['slow'] }, async ({ local }) => {
    const { code, stdout, stderr } = await local.run('analytics summary', plain)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      `Learners 3   Enrolments 4   Completed 1   In progress 2   Not started 1
Average completion 37.5%   Median completion 25.0%   Average grade –

Enrolments by percentage completed
Not started  1 ${'█'.repeat(60)}
       0–9%  1 ${'█'.repeat(60)}
     10–19%  0
     20–29%  0
     30–39%  0
     40–49%  1 ${'█'.repeat(60)}
     50–59%  0
     60–69%  0
     70–79%  0
     80–89%  0
    90–100%  1 ${'█'.repeat(60)}

Course                          Enrolled  Completed    Grade  Average completion
A course whose title is much …         1          0        –     0.0%
Sea                                    3          1        –    50.0% █████
`,
    )
    for (const tty of [66, 80, 200]) {
      const { stdout } = await local.run('analytics summary', { ...plain, tty })
      for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(tty)
    }
  })

  test('draws grades, and rounds nearly all not up to all', { tags: ['slow'] }, async ({ local }) => {
    for (const [name, score] of Object.entries({ ada: 95, bob: 50, eve: '104 --extra-credit' })) {
      await local.run(`grades set email:${name}@school.example --course ext:C-0 --score ${score}`)
    }
    for (const name of ['bob', 'eve']) {
      await local.run(`progress set email:${name}@school.example --course ext:C-0 --completion 99.98`)
    }
    const { stdout } = await local.run('analytics summary --course ext:C-0', plain)
    expect(stdout).toContain('Average completion 99.9%')
    expect(stdout).toContain('Median grade 95.0%   Graded 3   Passed 2 (66.7%)\n')
    expect(stdout).toMatch(
      /Graded enrolments by grade\n +0–9% +0\n(.+ 0\n){4} +50–59% +1 █+\n(.+ 0\n){3} +90–100% +1 █+\n +>100% +1 █+\n/,
    )
  })

  test('shows the escape codes in a title instead of obeying them', { tags: ['slow'] }, async ({ local }) => {
    await local.run(['courses', 'update', 'ext:C-0', '--title', '\u001b[31mRed'])
    const { stdout } = await local.run('analytics summary', plain)
    expect(stdout).toContain('\\x1b[31mRed')
    expect(stdout).not.toContain('\u001b')
  })
})

test('of an academy without learners is two lines, and no bars of nothing', async ({ local }) => {
  expect((await local.run('analytics summary', plain)).stdout).toBe(
    'Learners 0   Enrolments 0   Completed 0   In progress 0   Not started 0\n' +
      'Average completion –   Median completion –   Average grade –\n',
  )
})

describe('in a pipe', () => {
  beforeEach<{ local: TestCli }>(({ local }) => fill(local))

  test('is plain rows: section, name, measure, value', { tags: ['slow'] }, async ({ local }) => {
    const rows = await rowsOf(local, 'analytics summary')
    expect(rows).toContainEqual(['all', '', 'learners', '3'])
    expect(rows).toContainEqual(['distribution', '90–100', 'enrollments', '1'])
    // Learners who have not started do not count as started with less than 10%.
    expect(rows).toContainEqual(['distribution', 'Not started', 'enrollments', '1'])
    expect(rows).toContainEqual(['distribution', '0–9', 'enrollments', '1'])
    const sea = await resultOf(local, 'courses get ext:C-0')
    expect(rows).toContainEqual(['course', `Sea (${sea.id})`, 'averageCompletionPercentage', '50'])
    const [header = [], ...records]: string[][] = parse((await local.run('analytics summary -o csv')).stdout)
    expect(header).toEqual(['section', 'name', 'measure', 'value'])
    expect(records).toEqual(rows)
    const columns = await typeColumns(labelColumns(header, header), undefined, figureColumns)
    expect(columns.map(({ name, type, meaning }) => [name, type, typeof meaning])).toEqual(
      header.map((name) => [name, name === 'value' ? 'number' : 'string', 'string']),
    )
    expect(await rowsOf(local, 'analytics summary --columns value')).toHaveLength(rows.length)
    expectClearError(await local.run('analytics summary --columns valeu'), 2, 'Did you mean value?')
    expect(rows.map(([section]) => section)).not.toContain('gradeDistribution')
  })

  test('has grades as shares of 100, and their ranges', { tags: ['slow'] }, async ({ local }) => {
    for (const [name, score] of Object.entries({ ada: 95, bob: 50 })) {
      await local.run(`grades set email:${name}@school.example --course ext:C-0 --score ${score}`)
    }
    const rows = await rowsOf(local, 'analytics summary')
    expect(rows).toContainEqual(['all', '', 'passRate', '50'])
    expect(rows).toContainEqual(['all', '', 'completionPercentage', '25'])
    expect(rows).toContainEqual(['all', '', 'completionRate', '0.25'])
    expect(rows).toContainEqual(['gradeDistribution', '90–100', 'enrollments', '1'])
    expect(rows.filter(([section]) => section === 'gradeDistribution')).toHaveLength(10)
  })
})

test.for(['summary', 'export'])(
  '%s names the flag that is refused',
  { tags: ['slow'] },
  async (verb, { local }) => {
    await fill(local)
    const told = async (flags: string) => (await local.run(`analytics ${verb} ${flags}`)).stderr
    expect(await told('--course ext:C-0 --course C-1')).not.toContain('error:')
    expect(await told('--course C-0,ext:C-1')).not.toContain('error:')
    expect(await told('--course ,')).toContain(
      'error: --course "," must be references of 1 to 512 characters',
    )
    expect(await told('--course a --course ,')).toContain('--course: Course , not found.')
  },
)
