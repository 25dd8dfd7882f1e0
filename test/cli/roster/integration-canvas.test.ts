import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { type CanvasOptions, type CanvasSchool, canvasToken, fakeCanvas } from '../../helpers/fake-canvas.ts'
import { type FakeRequest, json } from '../../helpers/fake-system.ts'
import { connectTo } from '../../helpers/integration-source.ts'
import { ran } from '../../helpers/result.ts'
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
  token = canvasToken,
): Promise<TestCli> {
  await connectTo(cli, 'canvas', fakeCanvas(given, options), token)
  return cli
}

const validate = 'roster validate integration:canvas'

describe('an integration', () => {
  test('that is missing is to be set up first', async ({ local }) => {
    expect((await ran(local, 'roster validate integration:moodle', 3)).stderr).toContain(
      'hint: Set it up: learnctl integrations set moodle',
    )
  })

  test('of a system without records is no roster and has no grades', async ({ local }) => {
    expect((await ran(local, 'roster validate integration:thinkific', 2)).stderr).toContain(
      'hint: Name one of integration:canvas, integration:moodle, integration:openedx, integration:classroom, integration:oneroster\n',
    )
    expect((await ran(local, 'grades import --from thinkific', 2)).stderr).toContain(
      '--from must be one of canvas, moodle, openedx, classroom, oneroster, not "thinkific"',
    )
  })
})

describe('a Canvas', () => {
  test('is the same as the SIS package of the school, page by page', { tags: ['slow'] }, async ({
    local,
  }) => {
    await connected(local, school, { pageSize: 1 })
    put(local, 'package', files)
    expect((await ran(local, 'roster diff package integration:canvas')).stdout).toMatch(
      /^No changes; 13 as declared/,
    )
    expect((await ran(local, 'roster diff integration:canvas package')).stdout).toMatch(
      /^No changes; 13 as declared/,
    )
  })

  test('is applied to an academy, which then is equal', { tags: ['slow'] }, async ({ local }) => {
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

describe('--course', () => {
  test('asks only these courses for their people', { tags: ['slow'] }, async ({ local }) => {
    const asked = new Set<string>()
    const before = ({ url }: FakeRequest) => void asked.add(url.pathname)
    await connected(local, school, { before })
    await ran(local, 'roster apply integration:canvas --course Biology --yes')
    expect([...asked].filter((path) => path.includes('/courses/22'))).toEqual([])
    expect((await ran(local, 'roster diff integration:canvas --course bio')).stdout).toMatch(/^No changes/)
    expect((await ran(local, 'courses list -q')).stdout.trim().split('\n')).toHaveLength(1)
  })
})

describe('what a token does not see', () => {
  test('is said with its count, and nothing is removed for it', { tags: ['slow'] }, async ({ local }) => {
    await connected(local)
    await ran(local, 'roster apply integration:canvas --yes')
    const enrollments = school.enrollments.map((one) =>
      one.user === 1 ? { ...one, isHidden: true as const } : one,
    )
    await connected(local, { ...school, enrollments })
    const { stderr } = await ran(local, 'roster diff integration:canvas --prune')
    expect(stderr).toContain('Canvas: 1 student is not visible to this token')
    const { stdout } = await ran(local, 'roster apply integration:canvas --yes --prune')
    expect(stdout).not.toMatch(/[1-9] removed/)
    expect((await ran(local, 'enrollments list --user ext:ada -o json')).stdout).toContain('"active"')
  })

  test('is read by course if the token is that of a teacher', { tags: ['slow'] }, async ({ local }) => {
    await connected(local, school, { isTeacher: true, pageSize: 2 })
    const { stderr } = await ran(local, validate)
    expect(stderr).toContain('with 3 users, 2 courses, 1 group, 4 enrolments')
    expect(stderr).toContain(
      'for want of the permission “Users - view list”: people without a course are missing',
    )
    expect(stderr).toContain('the list of terms is not visible to this token')
  })

  test('is kept when its courses are those of a teacher from today on, or their dates are over', {
    tags: ['slow'],
  }, async ({ local }) => {
    await connected(local)
    await ran(local, 'roster apply integration:canvas --yes')
    const courses = ({ url }: FakeRequest) =>
      url.pathname === '/api/v1/courses'
        ? json([{ id: 21, sis_course_id: 'bio', name: 'Biology' }])
        : undefined
    const restricted = ({ url }: FakeRequest) =>
      url.pathname.endsWith('/accounts/self/courses')
        ? json([{ id: 21, access_restricted_by_date: true }])
        : undefined
    for (const [options, note] of [
      [{ isTeacher: true, before: courses }, 'the list of courses is not visible to this token'],
      [{ before: restricted }, 'courses are not visible to this token, because their dates are over'],
    ] as const) {
      await connected(local, school, options)
      const { stderr } = await ran(local, 'roster apply integration:canvas --prune --yes')
      expect(stderr).toContain(note)
      expect((await ran(local, 'courses list --status published -q')).stdout.trim().split('\n')).toHaveLength(
        2,
      )
    }
  })

  test('is an id of the SIS: then those of Canvas take its place', { tags: ['slow'] }, async ({ local }) => {
    await connected(local, school, { hidesSis: true })
    const { stderr } = await ran(local, validate)
    expect(stderr).toContain('users do not show their SIS ids to this token')
    await ran(local, 'roster apply integration:canvas --yes')
    expect((await ran(local, 'users get email:ada@school.example -o json')).stdout).toContain(
      '"externalId": "1"',
    )
  })
})

describe('integrations test', () => {
  test('says what the token may read, and names the permissions that it lacks', { tags: ['slow'] }, async ({
    local,
  }) => {
    await connected(local)
    await local.run('integrations set canvas --body -', { stdin: 'rootAccountUuid: school' })
    const all = await ran(local, 'integrations test canvas -o json')
    expect(checkOf(all)).toEqual({
      ...{ name: 'records', status: 'ok' },
      detail: 'courses, terms, users, groups, enrolments, grades can be read',
    })
    await connected(local, school, { isTeacher: true })
    const some = checkOf(await ran(local, 'integrations test canvas -o json'))
    expect(some).toMatchObject({ status: 'skipped' })
    expect(some?.detail).toContain('permission “Users - view list”')
    expect(some?.detail).toContain('permission “Groups - view all student groups”')
  })
})

function checkOf({ stdout }: { readonly stdout: string }) {
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] }
  return checks.find(({ name }) => name === 'records')
}

describe('a Canvas that answers wrong', () => {
  test('with a token that has expired is named, and no secret is shown', { tags: ['slow'] }, async ({
    local,
  }) => {
    await connected(local, school, {}, 'expired-token-4711')
    const { stderr, stdout } = await ran(local, `${validate} --debug`, 6)
    expect(stderr).toContain('Canvas: the access token is not accepted; it may have expired or been deleted')
    expect(stderr).toContain('hint: Check it: learnctl integrations test canvas')
    expect(stdout + stderr).not.toContain('expired-token-4711')
  })

  test('with its login page is told by its base URL', { tags: ['slow'] }, async ({ local }) => {
    const page = {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<!DOCTYPE html><title>Log in</title>',
    }
    await connected(local, school, { before: () => page })
    expect((await ran(local, validate, 6)).stderr).toContain('it answers with a web page (HTTP 200)')
    await connected(local, school, {
      before: () => ({ status: 302, headers: { location: '/login' }, body: '' }),
    })
    expect((await ran(local, validate, 6)).stderr).toContain('it redirects to another page')
  })

  test('with half pages, a broken connection, 500 and its quota is asked again, and nothing is lost', {
    tags: ['slow'],
  }, async ({ local }) => {
    let asked = 0
    const quota = {
      status: 403,
      headers: { 'x-rate-limit-remaining': '0.0' },
      body: '403 Forbidden (Rate Limit Exceeded)\n',
    }
    const before = () => {
      asked += 1
      if (asked % 7 === 1) return { status: 200, body: '[{"id":21,"name":"Bio' }
      if (asked % 7 === 3) return { ...json([{ id: 1 }]), breaksAfter: 5 }
      if (asked % 7 === 5) return { status: 500, body: 'Internal Server Error' }
      return asked % 7 === 6 ? quota : undefined
    }
    await connected(local, school, { pageSize: 1, before })
    put(local, 'package', files)
    expect((await ran(local, 'roster diff package integration:canvas')).stdout).toMatch(
      /^No changes; 13 as declared/,
    )
  })

  test('with a quota that is nearly used up is asked one page at a time', async ({ local }) => {
    let [running, most] = [0, 0]
    const before = async ({ url }: FakeRequest) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      const headers = { 'x-rate-limit-remaining': '60.0' }
      return url.pathname.endsWith('/users') ? undefined : json([], 200, headers)
    }
    await connected(local, school, { before })
    await ran(local, validate)
    expect(most).toBe(1)
  })

  test('with a next page elsewhere is asked at its own address only', async ({ local }) => {
    const link = '<https://evil.example/api/v1/steal?page=2>; rel="next"'
    let asked = 0
    const before = ({ url }: FakeRequest) => {
      if (!url.pathname.endsWith('/accounts/self/users')) return undefined
      asked += 1
      return asked === 1 ? json([], 200, { link }) : json([])
    }
    await connected(local, school, { before })
    await ran(local, validate)
    expect(asked).toBe(2)
  })

  test('with a full page that does not say where the next one is, is not taken for whole', {
    tags: ['slow'],
  }, async ({ local }) => {
    const users = Array.from({ length: 100 }, (_, index) => ({ id: 9000 + index, name: `U ${index}` }))
    for (const [headers, why] of [
      [{}, 'a full page has no header Link, so that the next one is unknown'],
      [{ link: '<https://canvas.example/next>; rel="next"' }, 'its header Link names no next page'],
    ] as const) {
      const before = ({ url }: FakeRequest) =>
        url.pathname.endsWith('/accounts/self/users') ? json(users, 200, headers) : undefined
      await connected(local, school, { before })
      expect((await ran(local, validate, 6)).stderr).toContain(`Canvas: ${why}`)
    }
  })

  test('with the same page again is stopped', { tags: ['slow'] }, async ({ local }) => {
    const before = ({ url }: FakeRequest) => {
      if (!url.pathname.endsWith('/accounts/self/users')) return undefined
      return json([], 200, { link: `<${url.origin}${url.pathname}?page=bookmark:same>; rel="next"` })
    }
    await connected(local, school, { before })
    expect((await ran(local, validate, 6)).stderr).toContain('Canvas names the same page of users again')
  })

  test('with a course that is gone in the middle says so, and removes nothing for it', {
    tags: ['slow'],
  }, async ({ local }) => {
    await connected(local)
    await ran(local, 'roster apply integration:canvas --yes')
    const before = ({ url }: FakeRequest) =>
      url.pathname.endsWith('/courses/22/enrollments')
        ? json({ errors: [{ message: 'gone' }] }, 404)
        : undefined
    await connected(local, school, { before })
    const { stderr } = await ran(local, 'roster diff integration:canvas --prune')
    expect(stderr).toContain('a course does not show its enrollments to this token')
  })

  test.for(['--delimiter ;', '--encoding latin1', '--format canvas', '--date-format DD.MM.YYYY'])(
    'is not read with %s, which is about files',
    async (flag, { local }) => {
      const [name = ''] = flag.split(' ')
      for (const line of ['validate', 'diff', 'apply --yes']) {
        expect((await ran(local, `roster ${line} integration:canvas ${flag}`, 2)).stderr).toBe(
          `error: ${name} is about files; integration:canvas has none\n`,
        )
      }
    },
  )
})
