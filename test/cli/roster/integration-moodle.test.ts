import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { fakeMoodle, type MoodleSchool, moodleToken } from '../../helpers/fake-moodle.ts'
import { connectTo } from '../../helpers/integration-source.ts'
import { connect } from '../../helpers/lms.ts'
import { ran } from '../../helpers/result.ts'
import { put } from './write-rosters.ts'

const school: MoodleSchool = {
  users: [
    { id: 11, idnumber: 'S-1', username: 'ada', first: 'Ada', last: 'Lovelace' },
    { id: 12, username: 'bob', first: 'Bob', last: 'Smith' },
    { id: 13, idnumber: 'T-1', username: 'cleo', first: 'Cleo', last: 'Jones' },
  ],
  courses: [
    { id: 4, shortname: 'BIO-101', fullname: 'Biology & Life' },
    { id: 5, shortname: 'CHE-101', fullname: 'Chemistry' },
  ],
  enrollments: [
    { course: 4, user: 11, groups: [31] },
    { course: 4, user: 12, isSuspended: true },
    { course: 4, user: 13, roles: ['editingteacher'] },
    { course: 5, user: 12 },
  ],
  groups: [{ id: 31, course: 4, name: 'Monday' }],
  cohorts: [{ id: 4, name: 'Year 1', users: [11, 12] }],
  grades: [
    {
      ...{ course: 4, user: 11, item: { id: 91, name: 'Quiz 1', type: 'mod' } },
      ...{ raw: 17, max: 20, gradedAt: 1_767_225_600 },
    },
    { course: 4, user: 11, item: { id: 92, name: '', type: 'course' }, raw: 85, max: 100, gradedAt: null },
    { course: 4, user: 11, item: { id: 93, name: '', type: 'category' }, raw: 85, max: 100, gradedAt: null },
    {
      course: 5,
      user: 12,
      item: { id: 94, name: 'Quiz 1', type: 'mod' },
      raw: null,
      max: 10,
      gradedAt: null,
    },
  ],
}

/** The same school as files for the uploads of Moodle. */
const files = {
  'courses.csv': 'shortname,fullname,visible\nBIO-101,Biology & Life,1\nCHE-101,Chemistry,1\n',
  'users.csv': [
    'username,firstname,lastname,email,idnumber,course1,role1,enrolstatus1,group1,course2,cohort1',
    'ada,Ada,Lovelace,ada@school.example,S-1,BIO-101,student,0,Monday,,Year 1',
    'bob,Bob,Smith,bob@school.example,,BIO-101,student,1,,CHE-101,Year 1',
    'cleo,Cleo,Jones,cleo@school.example,T-1,BIO-101,editingteacher,0,,,\n',
  ].join('\n'),
}

describe('a Moodle', () => {
  test('is the same as the files of its uploads', { tags: ['slow'] }, async ({ local }) => {
    await connectTo(local, 'moodle', fakeMoodle(school), moodleToken)
    put(local, 'uploads', files)
    expect((await ran(local, 'roster diff uploads integration:moodle')).stdout).toMatch(
      /^No changes; 14 as declared/,
    )
    expect((await ran(local, 'roster diff integration:moodle uploads')).stdout).toMatch(
      /^No changes; 14 as declared/,
    )
  })

  test('is read to the end although pages are short of people who are hidden from the token', async ({
    local,
  }) => {
    const users = Array.from({ length: 450 }, (_, index) => ({
      ...{ id: 100 + index, username: `u${index}`, first: `First${index}`, last: 'Last' },
    }))
    const enrollments = users.map(({ id }, index) => ({ course: 4, user: id, isHidden: index % 3 === 0 }))
    const given = { ...school, users, enrollments, groups: [], cohorts: [] }
    await connectTo(local, 'moodle', fakeMoodle(given), moodleToken)
    const { stderr } = await ran(local, 'roster validate integration:moodle')
    expect(stderr).toContain('is valid: Moodle with 300 users, 2 courses, 300 enrolments')
  })

  test('leaves out members of a cohort who are in no course, and refuses two people with one ID number', {
    tags: ['slow'],
  }, async ({ local }) => {
    const eve = { id: 14, username: 'eve', first: 'Eve', last: 'Moss' }
    const cohorts = [{ id: 4, name: 'Year 1', users: [11, 14] }]
    const given = { ...school, users: [...school.users, eve], cohorts }
    await connectTo(local, 'moodle', fakeMoodle(given), moodleToken)
    const { stderr } = await ran(local, 'roster apply integration:moodle --yes')
    expect(stderr).toContain(
      'Left out 1 group member of people whom neither the source nor the academy shows',
    )
    expect(stderr).toContain('Moodle: people without a course are not read')
    expect((await ran(local, 'roster diff integration:moodle')).stdout).toMatch(/^No changes/)
    await ran(local, 'users create --email eve@school.example --external-id 14')
    expect((await ran(local, 'roster diff integration:moodle', 9)).stdout).toContain('ext:Year 1, ext:14')

    const users = school.users.map((user) => ({ ...user, idnumber: 'S-1' }))
    await connectTo(local, 'moodle', fakeMoodle({ ...school, users }), moodleToken)
    const refused = await ran(local, 'roster diff integration:moodle', 2)
    expect(refused.stderr).toContain(
      'Moodle user S-1 (Bob Smith): externalId "S-1" is the external id of Moodle user S-1 (Ada Lovelace) as well',
    )
  })

  test('suspends nobody for people without a course', { tags: ['slow'] }, async ({ local }) => {
    await connectTo(local, 'moodle', fakeMoodle(school), moodleToken)
    await ran(local, 'roster apply integration:moodle --yes')
    const enrollments = school.enrollments.filter(({ user }) => user !== 11)
    await connectTo(local, 'moodle', fakeMoodle({ ...school, enrollments, cohorts: [] }), moodleToken)
    await ran(local, 'roster apply integration:moodle --prune --yes')
    expect((await ran(local, 'users get ext:S-1 -o json')).stdout).toContain('"status": "active"')
    expect((await ran(local, 'enrollments list --user ext:S-1 -q')).stdout).toBe('')
  })

  test('says which function its web service lacks, and which lists are not visible', async ({ local }) => {
    const lacks = ['core_cohort_get_cohorts', 'core_group_get_course_groups']
    await connectTo(local, 'moodle', fakeMoodle(school, { lacks }), moodleToken)
    const { stderr } = await ran(local, 'roster validate integration:moodle')
    expect(stderr).toContain('core_cohort_get_cohorts is not allowed (accessexception)')
    expect(stderr).toContain('Moodle: a list is not visible to this token: core_group_get_course_groups')
    await connectTo(
      local,
      'moodle',
      fakeMoodle(school, { lacks: ['core_enrol_get_enrolled_users'] }),
      moodleToken,
    )
    const refused = await ran(local, 'roster validate integration:moodle', 6)
    expect(refused.stderr).toContain(
      'the web service of the token lacks the function core_enrol_get_enrolled_users',
    )
  })

  test('counts all enrolments as active, and says so, if the token may not know which are', async ({
    local,
  }) => {
    const options = { withoutCapability: ['moodle/course:enrolreview'] }
    await connectTo(local, 'moodle', fakeMoodle(school, options), moodleToken)
    put(local, 'uploads', files)
    const { stdout, stderr } = await ran(local, 'roster diff uploads integration:moodle', 9)
    expect(stdout).toContain('status: "inactive" → "active"')
    expect(stderr).toContain(
      'a course does not show which enrolments are suspended, for want of moodle/course:enrolreview',
    )
  })

  test('has an error with status 200 for a token that has expired', async ({ local }) => {
    await connectTo(local, 'moodle', fakeMoodle(school), 'another-token')
    const { stderr } = await ran(local, 'roster validate integration:moodle', 6)
    expect(stderr).toContain('Moodle: the access token is not accepted (invalidtoken)')
  })

  test('is asked by integrations test for each function that a roster needs', async ({ local }) => {
    const lacks = ['gradereport_user_get_grade_items', 'core_cohort_get_cohorts']
    await connectTo(local, 'moodle', fakeMoodle(school, { lacks }), moodleToken)
    const { stdout } = await ran(local, 'integrations test moodle -o json')
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] }
    expect(checks.find(({ name }) => name === 'records')).toEqual({
      ...{ name: 'records', status: 'skipped' },
      detail:
        'the list of cohorts is not visible to this token: core_cohort_get_cohorts is not allowed (accessexception); Moodle: the web service of the token lacks the function gradereport_user_get_grade_items',
    })
  })

  test('is read through a platform, which keeps the token to itself', async ({ remote, academy, admin }) => {
    await connect(academy, admin, 'moodle', {
      baseUrl: 'https://moodle.example.org',
      accessToken: moodleToken,
    })
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    const { stdout, stderr } = await ran(remote, 'roster validate integration:moodle --debug', 0, { env })
    expect(stderr).toContain('integration:moodle is valid: Moodle with 1 course')
    expect(stderr).toContain('/v1/integrations/moodle/records')
    expect(stdout + stderr).not.toContain(moodleToken)
  })
})
