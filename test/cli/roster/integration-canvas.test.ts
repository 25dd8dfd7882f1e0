import { describe, expect, onTestFinished } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { type CanvasOptions, type CanvasSchool, canvasToken, fakeCanvas } from '../../helpers/fake-canvas.ts'
import { serveFake } from '../../helpers/fake-system.ts'
import { put } from './write-rosters.ts'

const school: CanvasSchool = {
  terms: [{ id: 7, sis: 'S26', name: 'Spring 2026' }],
  users: [
    { id: 1, sis: 'ada', first: 'Ada', last: 'Lovelace' },
    { id: 2, sis: 'bob', first: 'Bob', last: 'Smith' },
    { id: 3, sis: 'cleo', first: 'Cleo', last: 'Jones' },
  ],
  courses: [
    {
      ...{ id: 21, sis: 'bio', name: 'Biology', term: 7 },
      sections: [{ id: 51, sis: 'bio-1', name: 'Section 1' }],
    },
    { id: 22, sis: 'che', name: 'Chemistry' },
  ],
  enrollments: [
    { course: 21, user: 1, section: 51 },
    { course: 21, user: 2, section: 51, state: 'completed' },
    { course: 21, user: 3, type: 'TeacherEnrollment' },
    { course: 22, user: 2 },
  ],
}

/** The same school as a Canvas SIS package. */
const files = {
  'terms.csv': 'term_id,name,status,start_date,end_date\nS26,Spring 2026,active,2026-01-01,2026-06-30\n',
  'users.csv': [
    'user_id,login_id,first_name,last_name,full_name,short_name,email,status',
    'ada,ada,Ada,Lovelace,Ada Lovelace,Ada Lovelace,ada@school.example,active',
    'bob,bob,Bob,Smith,Bob Smith,Bob Smith,bob@school.example,active',
    'cleo,cleo,Cleo,Jones,Cleo Jones,Cleo Jones,cleo@school.example,active\n',
  ].join('\n'),
  'courses.csv':
    'course_id,short_name,long_name,term_id,status\nbio,bio,Biology,S26,published\nche,che,Chemistry,,published\n',
  'sections.csv': 'section_id,course_id,name,status\nbio-1,bio,Section 1,active\n',
  'enrollments.csv': [
    'course_id,user_id,role,section_id,status',
    'bio,ada,student,bio-1,active',
    'bio,bob,student,bio-1,completed',
    'bio,cleo,teacher,,active',
    'che,bob,student,,active\n',
  ].join('\n'),
}

async function connected(
  cli: TestCli,
  given: CanvasSchool = school,
  options: CanvasOptions = {},
): Promise<TestCli> {
  const { url, close } = await serveFake(fakeCanvas(given, options))
  onTestFinished(close)
  const set = await cli.run(`integrations set canvas --base-url ${url} --access-token-env CANVAS`, {
    env: { CANVAS: canvasToken },
  })
  expect(set.code, set.stderr).toBe(0)
  return cli
}

async function ran(cli: TestCli, line: string, code = 0) {
  const result = await cli.run(line)
  expect(result.code, result.stdout + result.stderr).toBe(code)
  return result
}

describe('a Canvas', () => {
  test('is validated as a roster', async ({ local }) => {
    await connected(local)
    const { stderr, stdout } = await ran(local, 'roster validate integration:canvas')
    expect(stdout + stderr).toContain(
      'integration:canvas is valid: Canvas with 1 term, 3 users, 2 courses, 1 group, 4 enrolments',
    )
  })

  test('is the same as the SIS package of the school, page by page', async ({ local }) => {
    await connected(local, school, { pageSize: 1 })
    put(local, 'package', files)
    expect((await ran(local, 'roster diff package integration:canvas')).stdout).toMatch(
      /^No changes; 13 as declared/,
    )
    expect((await ran(local, 'roster diff integration:canvas package')).stdout).toMatch(
      /^No changes; 13 as declared/,
    )
  })

  test('is applied to an academy, which then is equal', async ({ local }) => {
    await connected(local)
    await ran(local, 'roster apply integration:canvas --yes')
    expect((await ran(local, 'roster diff integration:canvas')).stdout).toMatch(/^No changes/)
    const { stdout } = await ran(local, 'users get email:cleo@school.example -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      externalId: 'cleo',
      role: 'instructor',
      managedBy: 'roster:canvas',
    })
  })
})
