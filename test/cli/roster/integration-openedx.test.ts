import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { fakeOpenedx, type OpenedxSchool, openedxToken } from '../../helpers/fake-openedx.ts'
import { type FakeRequest, json } from '../../helpers/fake-system.ts'
import { connectTo } from '../../helpers/integration-source.ts'
import { ran } from '../../helpers/result.ts'

const bio = 'course-v1:School+BIO+2026'
const school: OpenedxSchool = {
  courses: [
    { key: bio, name: 'Biology' },
    { key: 'course-v1:School+CHE+2026', name: 'Chemistry' },
  ],
  enrollments: [
    { course: bio, user: 'ada', percent: 0.9 },
    { course: bio, user: 'bob', isActive: false },
    { course: 'course-v1:School+CHE+2026', user: 'bob', percent: 0.25 },
  ],
}

describe('an Open edX', () => {
  test('is applied to an academy page by page, which then is equal', { tags: ['slow'] }, async ({
    local,
  }) => {
    await connectTo(local, 'openedx', fakeOpenedx(school, { pageSize: 1 }), openedxToken)
    await ran(local, 'roster apply integration:openedx --only users,courses,enrollments,grades --yes')
    expect((await ran(local, 'roster diff integration:openedx')).stdout).toMatch(/^No changes; 7 as declared/)
    const { stdout } = await ran(local, 'grades list -o json')
    expect(JSON.parse(stdout)).toMatchObject([{ percent: 25 }, { percent: 90 }])
    const { stdout: enrolled } = await ran(
      local,
      `enrollments list --course ext:${bio} --status inactive -o json`,
    )
    expect(JSON.parse(enrolled)).toMatchObject([{ enrolledAt: '2026-01-10T00:00:00.000Z' }])
  })

  test('names what the user of the token must be, and a token that has expired', async ({ local }) => {
    await connectTo(local, 'openedx', fakeOpenedx(school, { isNoStaff: true }), openedxToken)
    const refused = await ran(local, 'roster validate integration:openedx', 6)
    expect(refused.stderr).toContain('the token may not list enrolments: its user must be global staff')
    await connectTo(local, 'openedx', fakeOpenedx(school), 'eyJh.eyJl.eHBpcmVk')
    const expired = await ran(local, 'roster validate integration:openedx', 6)
    expect(expired.stderr).toContain('Open edX: the access token is not accepted; JSON Web Tokens expire')
  })

  test('leaves out people who are not shown, and is not taken for whole without the end of a list', {
    tags: ['slow'],
  }, async ({ local }) => {
    const left = { course: bio, user: 'dan', isActive: false }
    const given = { ...school, enrollments: [...school.enrollments, left] }
    await connectTo(local, 'openedx', fakeOpenedx(given), openedxToken)
    const { stderr } = await ran(local, 'roster apply integration:openedx --yes')
    expect(stderr).toContain('Left out 1 enrolment of people whom neither the source nor the academy shows')
    for (const next of [undefined, 'https://lms.example/more']) {
      const before = ({ url }: FakeRequest) =>
        url.pathname.startsWith('/api/enrollment') ? json({ results: [], next }) : undefined
      await connectTo(local, 'openedx', fakeOpenedx(school, { before }), openedxToken)
      const refused = await ran(local, 'roster validate integration:openedx', 6)
      expect(refused.stderr).toContain('Open edX: it does not say where the next page is')
    }
  })

  test('is waited for as long as it asks', async ({ local }) => {
    let asked = 0
    const before = () => {
      asked += 1
      return asked % 3 === 0
        ? json({ detail: 'Request was throttled. Expected available in 38 seconds.' }, 429, {
            'retry-after': '38',
          })
        : undefined
    }
    await connectTo(local, 'openedx', fakeOpenedx(school, { before }), openedxToken)
    const { stderr } = await ran(local, 'roster validate integration:openedx')
    expect(stderr).toContain('is valid: Open edX with 2 users, 2 courses, 3 enrolments')
  })
})
